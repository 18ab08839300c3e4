"""The address bar is input like any other."""

from dataclasses import asdict, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.config import KV_VARIANTS
from attention.trace import trace_shapes
from pages.parts.settings import (
    CHOICES,
    KV_HEADS,
    MAX_HEAD_DIM,
    MAX_HEADS,
    PRESETS,
    RANGES,
    Settings,
    apply_preset,
    head_dim_for,
    read_address,
)


def test_a_first_visit_is_knight_with_four_and_eight_heads_at_the_last_cross_attention():
    settings, notices = read_address({})
    assert notices == []
    assert (settings.task, settings.text, settings.kind) == ("spelling", "knight", "cross")
    assert (settings.enc_heads, settings.enc_dim, settings.dec_heads, settings.dec_dim) == (4, 16, 8, 8)
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
    assert read_address({"utm_source": "x", "fbclid": "y"}) == (Settings(), [])


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
    settings, notices = read_address({"layer": "5", "head": "9", "kind": "encoder"})
    assert (settings.layer, settings.head) == (2, 4)
    assert notices == [
        "layer=5 is not possible: 1 to 2 are allowed; 2 is used.",
        "head=9 is not possible: 1 to 4 are allowed; 4 is used.",
    ]


def test_cross_attention_has_the_heads_of_the_decoder():
    settings = Settings(enc_heads=2, dec_heads=4, dec_dim=16)
    assert settings.heads_of("cross") == settings.heads_of("decoder") == 4
    assert settings.heads_of("encoder") == 2


numbers = {name: st.integers(*limits) for name, limits in RANGES.items()}
choices = {name: st.sampled_from(options) for name, options in CHOICES.items()}
kv_heads = {name: st.none() | st.integers(1, MAX_HEADS) for name in KV_HEADS}
any_settings = st.builds(Settings, **numbers, **choices, **kv_heads, text=st.text(max_size=30)).map(Settings.fitted)


@given(any_settings)
def test_every_address_reads_back_as_the_settings_that_wrote_it(settings):
    assert read_address(settings.to_address()) == (settings, [])


@given(st.dictionaries(st.sampled_from([*asdict(Settings()), "width"]), st.text(max_size=12)))
def test_any_address_gives_settings_within_the_limits_and_a_sentence_for_each_fault(params):
    settings, notices = read_address(params)
    for name, (low, high) in RANGES.items():
        value = getattr(settings, name)
        assert (value is None and name in ("step", "moment")) or low <= value <= high
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


@pytest.mark.parametrize("name", [name for name in PRESETS if name not in ("mismatch", "problem_3")])
def test_the_article_s_situations_work_in_a_textbook_decoder(name):
    assert trace_shapes(apply_preset(Settings(), name).config).ok


def test_the_mismatch_fails_in_the_heads_alone():
    failure = trace_shapes(apply_preset(Settings(), "mismatch").config).failure
    assert [(clash.dim, clash.sizes) for clash in failure.clashes] == [("heads", (16, 8))]


def test_a_preset_keeps_task_and_text():
    settings = apply_preset(replace(Settings(), task="reverse", text="abc"), "problem_1")
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
    settings, notices = read_address({"enc_kv_heads": "two"})
    assert settings.enc_kv_heads is None
    assert notices == ["enc_kv_heads=two is not a number: with enc_heads=4 the possible ones are 1, 2, 4; 4 is used."]


def test_heads_that_kv_heads_cannot_divide_bring_them_back_to_the_nearest_that_can():
    grouped = Settings(dec_heads=16, dec_kv_heads=8)
    assert replace(grouped, dec_heads=12).fitted().dec_kv_heads == 6
    assert replace(grouped, dec_heads=8).fitted().dec_kv_heads is None
    assert replace(grouped, dec_heads=1).fitted().dec_kv_heads is None
    assert replace(grouped, dec_heads=32).fitted().dec_kv_heads == 8


@given(any_settings)
def test_settings_made_from_a_model_describe_that_model(settings):
    assert Settings().with_config(settings.config).fitted().config.encoder == settings.config.encoder
    assert Settings().with_config(settings.config).fitted().config.decoder == settings.config.decoder


@pytest.mark.parametrize("name", PRESETS)
def test_the_article_s_situations_have_a_kv_head_for_each_head_unless_they_say_so(name):
    shared = Settings(enc_heads=4, enc_kv_heads=2, dec_heads=8, dec_kv_heads=2)
    assert apply_preset(shared, name) == apply_preset(Settings(enc_heads=4, dec_heads=8), name)


def test_who_shares_kv_heads_with_whom():
    settings = Settings(enc_heads=8, enc_kv_heads=2, dec_heads=16, dec_kv_heads=4)
    assert {kind: settings.shared_by(kind) for kind in ("encoder", "decoder", "cross")} == {
        "encoder": 2, "decoder": 4, "cross": 4,
    }  # fmt: skip
    assert replace(settings, kv="grouped").shared_by("cross") == 2  # the encoder's
    assert replace(settings, kv="projection").shared_by("cross") == 16  # each decoder head is made its own
