"""The address bar is input like any other."""

from dataclasses import fields, replace
from itertools import chain
from unittest.mock import patch

import pytest
from app_test import open_page, read_address, settings_of
from few_examples import COSTLY
from hypothesis import given
from hypothesis import strategies as st

from attention.config import ATTENTION_KINDS, KV_VARIANTS
from attention.inspection.heads import Head
from attention.shapes import trace_shapes
from attention.tasks import get_task
from pages.anchors.address import EXPERIMENT, LINES, STEP
from pages.compare.address import COMPARED
from pages.lesson.hands import LETTERS
from pages.redundancy.address import PART
from pages.shapes.address import DEMO, FAULT
from pages.shared import settings as pages_settings
from pages.shared.every_page import all_declared
from pages.shared.parameters import END, Choice, Places, Several, Tenths, Whole
from pages.shared.settings import (
    KV_HEADS,
    MAX_HEAD_DIM,
    MAX_HEADS,
    RANGES,
    SHARED,
    Settings,
    head_dim_for,
)
from pages.shared.situations import GROUPS, SITUATIONS, apply_situation
from pages.shared.texts import say


def test_a_first_visit_is_knight_with_eight_heads_on_both_sides_at_the_last_cross_attention():
    settings, notices = read_address({})
    assert notices == []
    assert (settings.task, settings.text, settings.kind) == ("spelling", "knight", "cross")
    assert (settings.enc_heads, settings.enc_dim, settings.dec_heads, settings.dec_dim) == (8, 8, 8, 8)
    assert settings.layer == settings.dec_layers == 2
    assert settings.to_address() == {}


@pytest.mark.parametrize(
    ("given_value", "used"), [("0", 1), ("-3", 1), ("1e9", 32), ("33", 32), ("inf", 32), ("-inf", 1), ("2.5", 2)]
)
def test_an_impossible_head_count_is_named_and_the_nearest_possible_one_used(given_value, used):
    settings, notices = read_address({"dec_heads": given_value})
    assert settings.dec_heads == used
    assert notices == [f"dec_heads={given_value} is not possible: 1 to 32 are allowed; {used} is used."]


@pytest.mark.parametrize("value", ["abc", "", "nan", "4 heads", "０x"])
def test_a_head_count_that_is_no_number_is_named_and_the_usual_one_used(value):
    settings, notices = read_address({"dec_heads": value})
    assert settings.dec_heads == 8
    assert notices == [f"dec_heads={value} is not a number: 1 to 32 are allowed; the usual value is used."]


def test_an_unknown_word_is_named_with_the_known_ones():
    settings, notices = read_address({"kv": "nothing"})
    assert settings.kv == "reproject"
    assert notices == [f"kv=nothing is not known: {', '.join(KV_VARIANTS)}; reproject is used."]


def test_a_very_long_value_is_shortened_in_the_sentence():
    _, (notice,) = read_address({"dec_heads": "9" * 5000})
    assert len(notice) < 120


def test_names_of_somebody_else_are_ignored():
    assert read_address({"utm_source": "x", "fbclid": "y"}) == read_address({})


def test_width_sets_both_sides_and_a_side_of_its_own_wins():
    settings, _ = read_address({"width": "96", "dec_width": "48"})
    assert (settings.enc_width, settings.dec_width) == (96, 48)


def test_missing_head_sizes_follow_keep():
    heads = {"enc_heads": "8", "dec_heads": "16"}
    by_width, _ = read_address(heads | {"keep": "width"})
    by_size, _ = read_address(heads | {"keep": "size"})
    assert (by_width.enc_dim, by_width.dec_dim) == (8, 4)  # 64 / 8 and 64 / 16
    assert (by_size.enc_dim, by_size.dec_dim) == (8, 8)  # the article's problem 2


def test_layer_and_head_end_where_the_model_ends():
    settings, notices = read_address({"enc_heads": "4", "layer": "5", "head": "9", "kind": "encoder"})
    assert (settings.layer, settings.head) == (2, 4)
    assert notices == [
        "layer=5 is not possible: 1 to 2 are allowed; 2 is used.",
        "head=9 is not possible: 1 to 4 are allowed; 4 is used.",
    ]


def test_cross_attention_has_the_heads_of_the_decoder():
    settings = Settings(enc_heads=2, dec_heads=4, dec_dim=16)
    assert settings.heads_of("cross") == settings.heads_of("decoder") == 4
    assert settings.heads_of("encoder") == 2


def values_of(parameter):
    """What a parameter may be."""
    if isinstance(parameter, Choice):
        values = st.sampled_from(parameter.allowed)
    elif isinstance(parameter, Whole):
        values = st.integers(parameter.low, parameter.high)
    elif isinstance(parameter, Tenths):
        values = st.integers(round(10 * parameter.low), round(10 * parameter.high)).map(lambda tenths: tenths / 10)
    elif isinstance(parameter, Places):
        places = st.sets(st.integers(1, parameter.high)).map(sorted)
        values = st.tuples(places, st.booleans()).map(lambda made: (*made[0], *([END] if made[1] else [])))
    elif isinstance(parameter, Several):
        chosen = st.sets(st.sampled_from(parameter.allowed), min_size=1)
        values = chosen.map(lambda words: tuple(word for word in parameter.allowed if word in words))
    elif parameter.name == "class":
        values = st.sampled_from([LETTERS[:8], LETTERS[-9:]])
    else:
        values = st.sampled_from(["sweep-pinyin-4-10-5000", "fixes-dates-2-32-width-1-20"])
    return values if parameter.default is not None else st.none() | values


def in_order(head):
    """As the model has its heads."""
    return ATTENTION_KINDS.index(head.kind), head.layer, head.number


def with_room(task: str, text: str) -> str:
    """A text that is too long for its task is in no address."""
    return text[:2] if get_task(task).is_too_long(text) else text


shared = {parameter.name: values_of(parameter) for parameter in SHARED}
kv_heads = {name: st.none() | st.integers(1, MAX_HEADS) for name in KV_HEADS}
of_pages = st.tuples(*(st.tuples(st.just(parameter), values_of(parameter)) for parameter in all_declared()))
heads = st.builds(Head, st.sampled_from(ATTENTION_KINDS), st.integers(0, 2), st.integers(0, 9))
off = st.sets(heads, max_size=4).map(lambda heads: tuple(sorted(heads, key=in_order)))
any_settings = st.builds(Settings, **shared, **kv_heads, off=off, text=st.text(max_size=30), of_pages=of_pages).map(
    lambda settings: replace(settings, text=with_room(settings.task, settings.text)).fitted()
)


def test_a_head_size_follows_from_what_the_address_has():
    """The decoder's would be the encoder's, which is not the one that follows from its width."""
    settings = replace(read_address({})[0], enc_dim=4, dec_heads=16, dec_dim=8, keep="size")
    address = settings.to_address()
    assert (address["enc_dim"], address["dec_dim"]) == ("4", "8")
    assert read_address(address) == (settings, [])
    assert not {"enc_dim", "dec_dim"} & replace(settings, enc_dim=8).to_address().keys()


@COSTLY
@given(any_settings)
def test_every_address_reads_back_as_the_settings_that_wrote_it(settings):
    assert read_address(settings.to_address(all_declared())) == (settings, [])


@pytest.mark.parametrize(("enc_dim", "dec_dim"), [(8, 8), (4, 8), (8, 4), (4, 4)])
def test_a_head_size_is_left_out_where_it_follows_from_what_is_written(enc_dim, dec_dim):
    settings = replace(read_address({})[0], enc_dim=enc_dim, dec_heads=16, dec_dim=dec_dim, keep="size")
    assert read_address(settings.to_address()) == (settings, [])
    assert {"enc_dim", "dec_dim"} - settings.to_address().keys() == {
        *(["enc_dim"] if enc_dim == 8 else []),
        *(["dec_dim"] if dec_dim == enc_dim else []),
    }


@COSTLY
@given(any_settings)
def test_another_default_changes_no_address_that_was_written(settings):
    """But the bare one, which is the defaults. What is not written is nothing, or follows from the rest."""
    if not (address := settings.to_address(all_declared())):
        return
    unwritten = {field.name for field in fields(Settings) if field.name != "of_pages"} - address.keys()
    assert unwritten <= {*KV_HEADS, "kv_variant", "moment", "off", "enc_dim", "dec_dim"}
    assert all(value is None for parameter, value in settings.of_pages if parameter.name not in address)
    others = {"enc_heads": 3, "enc_dim": 5, "dec_heads": 2, "kv": "grouped", "keep": "size", "head": 2}
    defaults = Settings.__init__.__defaults__
    names = [field.name for field in fields(Settings)]
    changed = tuple(others.get(name, default) for name, default in zip(names, defaults, strict=True))
    with patch.object(Settings.__init__, "__defaults__", changed):
        assert Settings().dec_heads == 2
        assert read_address(address) == (settings, [])


NAMES = [*(field.name for field in fields(Settings) if field.name != "of_pages"), "width"]
NAMES += [parameter.name for parameter in all_declared()]


@given(st.dictionaries(st.sampled_from(NAMES), st.text(max_size=12)))
def test_any_address_gives_settings_within_the_limits_and_a_sentence_for_each_fault(params):
    settings, notices = read_address(params)
    for name, (low, high) in RANGES.items():
        value = getattr(settings, name)
        assert (value is None and name == "moment") or low <= value <= high
    assert 1 <= settings.layer <= settings.layers_of(settings.kind)
    assert 1 <= settings.head <= settings.heads_of(settings.kind)
    assert all(notice.endswith(".") for notice in notices)
    assert settings.config.decoder.num_heads == settings.dec_heads
    assert settings.enc_heads % settings.config.encoder.num_kv_heads == 0
    assert settings.dec_heads % settings.config.decoder.num_kv_heads == 0


@given(st.integers(1, 512), st.integers(1, MAX_HEADS))
def test_a_kept_total_width_is_never_exceeded_but_by_heads_of_size_one(total, heads):
    dim = head_dim_for(total, heads)
    assert 1 <= dim <= MAX_HEAD_DIM
    assert heads * dim <= total or dim == 1
    assert heads * (dim + 1) > total or dim == MAX_HEAD_DIM


@pytest.mark.parametrize("name", [name for name in SITUATIONS if name not in ("mismatch", "problem_3")])
def test_the_article_s_situations_work_in_a_textbook_decoder(name):
    assert trace_shapes(apply_situation(Settings(), name).config).ok


def test_the_mismatch_fails_in_the_heads_alone():
    failure = trace_shapes(apply_situation(Settings(), "mismatch").config).failure
    assert [(clash.dim, clash.sizes) for clash in failure.clashes] == [("heads", (16, 8))]


def test_a_preset_keeps_task_and_text():
    settings = apply_situation(replace(Settings(), task="reverse", text="abc"), "problem_1")
    assert (settings.task, settings.text) == ("reverse", "abc")


def test_kv_heads_left_out_are_as_many_as_heads():
    settings, notices = read_address({"enc_heads": "8", "dec_heads": "16"})
    assert (settings.enc_kv_heads, settings.dec_kv_heads, notices) == (None, None, [])
    assert (settings.config.encoder.num_kv_heads, settings.config.decoder.num_kv_heads) == (8, 16)
    assert not {"enc_kv_heads", "dec_kv_heads"} & settings.to_address().keys()


def test_kv_heads_of_each_side_are_its_own():
    settings, notices = read_address({"enc_heads": "6", "enc_kv_heads": "3", "dec_heads": "8", "dec_kv_heads": "2"})
    assert notices == []
    assert (settings.config.encoder.num_kv_heads, settings.config.decoder.num_kv_heads) == (3, 2)


def test_as_many_kv_heads_as_heads_is_the_same_as_none_given():
    assert read_address({"dec_heads": "16", "dec_kv_heads": "16"}) == read_address({"dec_heads": "16"})


@pytest.mark.parametrize(("given_value", "used"), [("5", 6), ("0", 1), ("-2", 1), ("7", 6), ("2.5", 2), ("inf", 12)])
def test_kv_heads_that_do_not_divide_are_named_with_those_that_do(given_value, used):
    settings, notices = read_address({"dec_heads": "12", "dec_kv_heads": given_value})
    assert settings.config.decoder.num_kv_heads == used
    assert notices == [
        f"dec_kv_heads={given_value} is not possible: with dec_heads=12 it can be 1, 2, 3, 4, 6, 12; {used} is used."
    ]


def test_kv_heads_that_are_no_number_are_named_and_every_head_has_its_own():
    settings, notices = read_address({"enc_heads": "4", "enc_kv_heads": "two"})
    assert settings.enc_kv_heads is None
    assert notices == ["enc_kv_heads=two is not a number: with enc_heads=4 the possible ones are 1, 2, 4; 4 is used."]


def test_heads_that_kv_heads_cannot_divide_bring_them_back_to_the_nearest_that_can():
    grouped = Settings(dec_heads=16, dec_kv_heads=8)
    assert replace(grouped, dec_heads=12).fitted().dec_kv_heads == 6
    assert replace(grouped, dec_heads=8).fitted().dec_kv_heads is None
    assert replace(grouped, dec_heads=1).fitted().dec_kv_heads is None
    assert replace(grouped, dec_heads=32).fitted().dec_kv_heads == 8


@COSTLY
@given(any_settings)
def test_settings_made_from_a_model_describe_that_model(settings):
    assert Settings().with_config(settings.config).fitted().config.encoder == settings.config.encoder
    assert Settings().with_config(settings.config).fitted().config.decoder == settings.config.decoder


@pytest.mark.parametrize("name", SITUATIONS)
def test_the_article_s_situations_have_a_kv_head_for_each_head_unless_they_say_so(name):
    shared = Settings(enc_heads=4, enc_kv_heads=2, dec_heads=8, dec_kv_heads=2)
    assert apply_situation(shared, name) == apply_situation(Settings(enc_heads=4, dec_heads=8), name)


def test_who_shares_kv_heads_with_whom():
    settings = Settings(enc_heads=8, enc_kv_heads=2, dec_heads=16, dec_kv_heads=4)
    assert {kind: settings.shared_by(kind) for kind in ("encoder", "decoder", "cross")} == {
        "encoder": 2, "decoder": 4, "cross": 4,
    }  # fmt: skip
    assert replace(settings, kv="grouped").shared_by("cross") == 2  # the encoder's
    assert replace(settings, kv="projection").shared_by("cross") == 16  # each decoder head is made its own


# ---- what pages declare ----


def test_the_app_knows_what_every_page_declares():
    assert [parameter for parameter, _ in settings_of(open_page()).of_pages] == list(all_declared())


def test_what_a_page_declares_is_written_while_it_is_shown_or_where_it_is_not_the_default():
    first, _ = read_address({})
    assert first[PART] == "removal" and first[EXPERIMENT] == "hidden" and first[STEP] is first[FAULT] is None
    assert first.put(PART, "removal").to_address() == {}
    address = first.put(PART, "twins").to_address()
    assert address["part"] == "twins" and not {"lines", "experiment"} & address.keys()
    address = first.put(PART, "twins").to_address([LINES])
    assert (address["part"], address["lines"]) == ("twins", "all") and "experiment" not in address
    assert not {"step", "fault", "demo", "compare"} & address.keys()  # of which there are none


@pytest.mark.parametrize(
    ("address", "parameter", "sentence"),
    [
        ({"lines": "some"}, LINES, "lines=some is not known: all, one; all is used."),
        ({"part": "none"}, PART, "part=none is not known: removal, pairs, layers, twins, shared; removal is used."),
        ({"demo": "x"}, DEMO, f"demo=x is not known: {', '.join(DEMO.allowed)}; none is used."),
        ({"step": "x"}, STEP, "step=x is not a number: 1 to 1000000 are allowed; the usual value is used."),
        ({"compare": "fixes"}, COMPARED, "compare=fixes has the form fixes-task-enc_heads-dec_heads-keep-num_seeds-"),
    ],
)
def test_a_value_that_a_page_does_not_have_is_told_as_all_others_are(address, parameter, sentence):
    settings, (told,) = read_address(address)
    assert settings[parameter] == parameter.default
    assert told.startswith(sentence)


@given(st.dictionaries(st.sampled_from(NAMES), st.text(max_size=40)))
def test_a_notice_reads_the_same_from_the_catalogue(params):
    """But for numbers that the language writes in its own way."""
    _, notices = pages_settings.read_address(params, all_declared())
    for notice in notices:
        assert say("address", notice).startswith(f"{notice.english.removesuffix('.')}")


def test_a_fault_goes_when_a_situation_is_chosen():
    broken = read_address({"fault": "indivisible"})[0]
    assert broken.sound()[FAULT] is apply_situation(broken, "equal")[FAULT] is None
    assert ("fault", "indivisible", None) in broken.differences(broken.sound())


def test_the_configuration_is_made_once():
    settings = Settings()
    assert settings.config is settings.config


def test_situations_stand_with_those_of_the_same_outcome():
    assert sorted(chain(*GROUPS.values())) == sorted(SITUATIONS)
    for name in SITUATIONS:
        settings = apply_situation(Settings(), name)
        runs, reuses = trace_shapes(settings.config).ok, settings.kv != "reproject"
        (group,) = (group for group, names in GROUPS.items() if name in names)
        assert group == ("breaks" if not runs else "suggestions" if reuses else "runs")
