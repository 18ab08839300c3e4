"""The playground, driven without a browser: every widget, every preset, every kind of bad input."""

from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from app_test import (
    address_of,
    checked,
    choose_situation,
    components,
    open_page,
    press,
    read_address,
    settings_of,
    situation_shown,
    texts,
)
from grid_sent import expect_weights
from grid_sent import grid_of as grid
from streamlit.testing.v1 import AppTest

from attention import EncoderDecoder
from attention.checkpoints import find, load
from attention.inspection import inspect_word
from attention.inspection.batch import collect, held_out_batch
from attention.tasks import START, get_task
from pages.redundancy.address import PART
from pages.shared import models
from pages.shared.settings import Settings
from pages.shared.situations import SITUATIONS
from pages.shared.texts import catalogue, label

KNIGHT = tuple("knight")


def grid_maps(app: AppTest) -> np.ndarray:
    return grid(app)["weights"]


def opened(app: AppTest) -> AppTest:
    """With the box of exact numbers open."""
    app.session_state["boxes"] = {"more": True}
    return checked(app.run())


def test_the_first_visit_shows_eight_trained_heads_on_knight():
    app = open_page()
    data = grid(app)
    assert [tile["title"] for tile in data["sections"][0]["tiles"]] == [f"head {n}" for n in range(1, 9)]
    assert data["cols"] == [*"knight", "</s>"]
    assert data["rows"] == ["n", "aɪ", "t", "</s>"]
    said = texts(app)
    assert "the lexicon agrees" in said
    card = find("spelling", Settings().config)
    right = round(100 * card.scores.sequence_accuracy)
    assert f"trained {card.settings.num_steps:,} steps: {right}\u00a0% of test words right<" in said
    assert "Of 5,249 test words. A word is right where" in said
    assert "andom weights" not in said


def test_the_grid_shows_the_numbers_that_the_library_computes():
    app = open_page()
    model, _ = load("spelling", Settings().config)
    view = inspect_word(model, get_task("spelling"), KNIGHT)
    expect_weights(app, view.layers["cross"][1].weights)


def test_an_untrained_model_is_built_from_its_seed_and_says_so():
    app = open_page(enc_heads="2", dec_heads="4", seed="7")
    settings = settings_of(app)
    model = EncoderDecoder(settings.config, seed=7)
    view = inspect_word(model, get_task("spelling"), KNIGHT)
    expect_weights(app, view.layers["cross"][1].weights)
    assert texts(app).count("andom weights") >= 3  # at the top, at the large head, at the similarities
    assert "trained on this word" not in texts(app)


@pytest.mark.parametrize("name", SITUATIONS)
def test_every_preset_opens_and_lights_up(name):
    app = open_page()
    choose_situation(app, name)
    settings = settings_of(app)
    assert {field: getattr(settings, field) for field in SITUATIONS[name]} == SITUATIONS[name]
    assert situation_shown(app) == name
    assert all(part in texts(app) for part in catalogue()["situation_text"][name].split("{article}"))
    if name in ("mismatch", "problem_3"):
        assert "Cross-attention does not run" in texts(app)
    else:
        assert len(grid(app)["sections"][0]["tiles"]) == SITUATIONS[name]["dec_heads"]
        assert "badge shipped" in texts(app)


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_every_kind_and_layer_and_view_shows_its_own_heads(kind):
    app = press(open_page(enc_heads="2", dec_heads="4"), "kind", kind)
    for layer in (1, 2):
        press(app, "layer", layer)
        assert len(grid_maps(app)) == {"encoder": 2, "decoder": 4, "cross": 4}[kind]
        assert grid(app)["sections"][0]["layer"] == layer - 1
    as_squares = grid_maps(app)
    press(app, "view", "lines")
    assert grid(app)["lines"] and address_of(app)["view"] == "lines"
    np.testing.assert_array_equal(grid_maps(app), as_squares)
    press(app, "view", "layers")
    assert [len(section["tiles"]) for section in grid(app)["sections"]] == [grid_maps(app).shape[0] // 2] * 2


def test_decoder_maps_are_causal_and_begin_with_the_start_token():
    app = press(open_page(), "kind", "decoder")
    data = grid(app)
    assert data["cols"] == ["<s>", "n", "aɪ", "t"]
    assert data["rows"] == ["n", "aɪ", "t", "</s>"]
    np.testing.assert_array_equal(np.triu(grid_maps(app), 1), 0)


def test_more_heads_keep_the_total_width_or_the_head_size():
    app = press(open_page(), "dec_heads", 16)
    assert (settings_of(app).dec_heads, settings_of(app).dec_dim) == (16, 4)
    press(app, "keep", "size")
    press(app, "dec_heads", 32)
    assert (settings_of(app).dec_heads, settings_of(app).dec_dim) == (32, 4)


def test_a_total_width_that_does_not_divide_is_said_and_comes_back():
    app = open_page()
    opened(app)
    checked(app.number_input(key="exact_dec_heads").set_value(6).run())
    assert settings_of(app).dec_dim == 10
    assert "64 is not divisible by 6: head size 10 comes closest, 6 × 10 = 60" in texts(app)
    press(app, "dec_heads", 4)
    assert settings_of(app).dec_dim == 16


def test_every_number_can_be_set_exactly():
    app = open_page()
    wanted = {
        "enc_heads": 3, "enc_dim": 5, "enc_layers": 1, "enc_width": 48,
        "dec_heads": 7, "dec_dim": 11, "dec_layers": 3, "dec_width": 56, "seed": 4,
    }  # fmt: skip
    opened(app)
    for name, value in wanted.items():
        checked(app.number_input(key=f"exact_{name}").set_value(value).run())
    settings = settings_of(app)
    assert {name: getattr(settings, name) for name in wanted} == wanted
    assert grid_maps(app).shape[0] == 7


def test_the_address_follows_and_reproduces_the_page():
    app = press(press(open_page(), "dec_heads", 16), "kind", "encoder")
    address = dict(app.query_params)
    assert read_address(address) == (settings_of(app), [])
    again = open_page(**address)
    np.testing.assert_array_equal(grid_maps(again), grid_maps(app))


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    "text", ["", "   ", "123", "a b", "👩‍👩‍👧", "a" * 200, "<s>", "$x$", "é", "**x**", "a [SEP] b", "猫"]
)
def test_text_that_the_model_cannot_read_gives_a_sentence_and_a_picture(text):
    app = open_page()
    checked(app.text_input(key="text").set_value(text).run())
    (sentence,) = [element.proto.body for element in app.get("html") if 'class="notice"' in element.proto.body]
    assert "Shown instead: “" in sentence
    assert "<s>" not in sentence
    assert grid_maps(app).size
    assert app.text_input(key="text").value == text  # nothing is lost


@pytest.mark.parametrize(
    "address",
    [{"dec_heads": "0"}, {"dec_heads": "-3"}, {"dec_heads": "1e9"}, {"dec_heads": "abc"}, {"kv": "nothing"}],
)
def test_an_address_that_asks_for_the_impossible_gives_a_sentence_and_a_picture(address):
    app = open_page(**address)
    ((name, value),) = address.items()
    assert f"{name}={value} is not " in texts(app)
    assert grid_maps(app).size
    press(app, "kind", "encoder")
    assert f"{name}={value} is not " not in texts(app)  # said once


def test_direct_with_other_heads_shows_the_clash_and_the_suggestions_work():
    app = open_page(enc_heads="4", enc_dim="16", dec_heads="8", dec_dim="16", kv="direct")
    said = texts(app)
    assert ":red-background[:red[**heads 8** ✗]]" in said
    assert ":red-background[:red[**heads 4** ✗]]" in said
    assert "The size of tensor a (8) must match the size of tensor b (4) at non-singleton dimension 1" in said
    labels = {
        button.label.removesuffix("\u2009●"): button
        for button in app.button
        if button.key and button.key.startswith("suggestion_")
    }
    assert set(labels) == {
        "use 4 decoder heads", "use 8 encoder heads", "let the decoder project the memory itself",
        "map K and V with a learned projection", "let groups of 2 decoder heads share a K/V head",
        "give the surplus heads K/V of the decoder's own",
    }  # fmt: skip
    checked(labels["use 4 decoder heads"].click().run())
    assert settings_of(app).dec_heads == 4
    assert "Cross-attention does not run" not in texts(app)
    assert grid_maps(app).shape[0] == 4


@pytest.mark.parametrize(("sizes", "trained"), [((8, 8, 16, 8), True), ((4, 16, 8, 16), False)])
def test_suggestions_that_lead_to_a_trained_model_are_marked_and_no_others(sizes, trained):
    address = dict(zip(("enc_heads", "enc_dim", "dec_heads", "dec_dim"), sizes, strict=True), kv="direct")
    keys = [each.key for each in open_page(**address).button if (each.key or "").startswith("suggestion_")]
    marked = []
    for key in keys:
        app = open_page(**address)
        marked.append(app.button(key=key).label.endswith("●"))
        followed = checked(app.button(key=key).click().run())
        assert marked[-1] == ("random weights" not in texts(followed))
    assert any(marked) == trained == (label("failure", "trained_note") in texts(open_page(**address)))


def test_the_mark_is_explained_where_there_is_one():
    def legend(**address):
        return any(
            caption.value == label("sidebar", "trained_legend") for caption in open_page(**address).sidebar.caption
        )

    assert legend() and not legend(seed=7)


def test_both_clashes_are_marked_though_pytorch_names_one():
    app = open_page(enc_heads="8", enc_dim="8", dec_heads="16", dec_dim="4", kv="direct")
    said = texts(app)
    for mark in ("heads 16", "heads 8", "head size 4", "head size 8"):
        assert f"**{mark}** ✗" in said
    assert "PyTorch names only the first" in said


def test_what_runs_before_the_mismatch_is_still_shown():
    app = open_page(enc_heads="4", dec_heads="8", kv="direct", kind="encoder")
    healthy = open_page(enc_heads="4", dec_heads="8", kind="encoder", seed="1")
    assert grid_maps(app).shape == grid_maps(healthy).shape
    press(app, "kind", "decoder")
    assert "Not reached: cross-attention in decoder layer 1 fails, so layer 2 never runs." in texts(app)
    assert not components(app)
    press(app, "layer", 1)
    assert grid_maps(app).shape[0] == 8


def test_identical_pictures_do_not_collide():
    app = open_page(text="aa", enc_heads="2", dec_heads="2", enc_layers="1", dec_layers="1", kind="encoder")
    assert not app.get("plotly_chart")  # the maps of all pairs wait until somebody asks
    app.session_state["boxes"] = {"similarity": True}
    charts = [chart.proto.id for chart in app.run().get("plotly_chart")]
    assert len(set(charts)) == len(charts) == 3


def test_how_maps_are_drawn_changes_no_number_and_makes_no_model_anew(monkeypatch):
    """Any widget reruns everything (streamlit/streamlit#5827): what was made is found again."""
    app = open_page(text="queue", dec_heads=4)
    before = grid_maps(app)
    for name in ("load", "EncoderDecoder", "decode_source", "view_of"):
        monkeypatch.setattr(models, name, None)  # what calls it now fails
    for view in ("lines", "heads"):
        app = press(app, "view", view)
        np.testing.assert_array_equal(grid_maps(app), before)


def test_a_single_head_has_no_similarity():
    app = open_page(enc_heads="1", dec_heads="1")
    assert texts(app).count("One head has nothing to be compared with.") == 3


def test_the_task_can_be_switched_and_keeps_a_word_it_can_read():
    app = press(open_page(), "task", "reverse")
    assert settings_of(app).text == "knight"
    assert grid(app)["rows"] == [*"thgink", "</s>"]


def test_start_again_brings_the_first_visit_back():
    app = press(open_page(text="cat"), "dec_heads", 2)
    (button,) = [button for button in app.button if button.label == "Start again"]
    checked(button.click().run())
    assert settings_of(app) == read_address({})[0]
    assert dict(app.query_params) == {}


def test_the_size_of_a_contribution_and_the_weight_on_the_end_token_are_told_of_each_head():
    app = open_page(enc_heads=8, dec_heads=16, dec_dim=8, kv="extra", kv_variant="slots", layer=2)
    task, (model, _) = get_task("spelling"), load("spelling", settings_of(app).config)
    tgt_ids = torch.tensor([[START, *task.tgt_vocab.encode(("n", "aɪ", "t"))]])
    with torch.no_grad():
        memory = model.encode(torch.tensor([task.encode_source(KNIGHT)])).memory
        did = model.decoder(tgt_ids, memory)[2][1]  # cross-attention of layer 2
        added = did.weights[0] @ did.values[0]  # (heads, rows, head_dim), before W_O
        w_o = model.decoder.layers[1].cross.w_o.weight  # (d_model, heads · head_dim)
        lengths = [(added[head] @ w_o[:, 8 * head : 8 * head + 8].T).norm(dim=-1).mean() for head in range(16)]
    expected = [f"{100 * float(length / max(lengths)):.0f}" for length in lengths]
    assert [value.split("\u00a0")[0].split(" ")[0] for value in head_figures(app, "size")] == expected
    assert all(int(size) <= 5 for size in expected[9:])
    on_end = [f"{100 * float(share):.0f}" for share in did.weights[0, :8, :, 6].mean(-1)] + ["–"] * 8
    assert [value.split("\u00a0")[0].split(" ")[0] for value in head_figures(app, "on </s>")] == on_end
    assert head_figures(press(app, "kind", "decoder"), "on </s>") == []


def head_figures(app, name):
    """A column of the table of all heads, from top to bottom; [] where it has none of this name."""
    app.session_state["boxes"] = {"head_numbers": True}
    checked(app.run())
    (table,) = (body for body in (html.proto.body for html in app.get("html")) if "All numbers of these heads" in body)
    rows = [[cell.text or "" for cell in row] for row in ElementTree.fromstring(table).iter("tr")]
    return [row[rows[0].index(name)] for row in rows[1:]] if name in rows[0] else []


def titles(app):
    return [tile["title"] for section in grid(app)["sections"] for tile in section["tiles"]]


def test_under_a_head_of_a_trained_model_is_what_it_mostly_does_with_test_words():
    app = open_page()
    settings = settings_of(app)
    model, card = load("spelling", settings.config)
    test_words = held_out_batch(get_task("spelling"), 64)
    for kind, layer in (("cross", 2), ("encoder", 2), ("decoder", 1)):
        press(press(app, "kind", kind), "layer", layer)
        heads = getattr(collect(model, test_words.batch), kind)[layer - 1]
        for head, tile in enumerate(grid(app)["sections"][0]["tiles"]):
            shares = {"letter": card.scores.alignment[layer - 1][head] if kind == "cross" else 0.0}
            shares |= shares_by_hand(heads, head, kind)
            best = max(shares.values())
            told = [[name, f"{100 * share:.0f}\u00a0%"] for name, share in shares.items() if share == best >= 0.5]
            assert tile["captions"] in ([one] for one in told) if told else not tile["captions"]
    for section in grid(open_page(seed=3))["sections"]:  # random weights
        assert not any(tile["captions"] for tile in section["tiles"])


def shares_by_hand(heads, head, kind):
    """How many rows of a head look one back, at their own place and so on; written out row by row."""
    counts, total = dict.fromkeys(PLACES if kind != "cross" else (*PLACES, "diagonal"), 0), 0
    for row in range(len(heads.position)):
        allowed = heads.allowed[head, row]
        if allowed.sum() < 2:
            continue
        total += 1
        weights = heads.weights[head, row][allowed].astype(float)
        entropy = -sum(w * np.log(w) for w in weights / weights.sum() if w > 0) / np.log(allowed.sum())
        if entropy >= 0.9:
            counts["everywhere"] += 1
            continue
        at, place = int(heads.weights[head, row].argmax()), heads.position[row]
        for name, column in (("one back", place - 1), ("own place", place), ("one ahead", place + 1)):
            counts[name] += at == column
        counts["first place"] += at == 0
        counts["end token"] += at == heads.end[row]
        if kind == "cross":
            counts["diagonal"] += abs(at - heads.expected[row]) <= 0.5
    return {name: count / total for name, count in counts.items()}


PLACES = ("one back", "own place", "one ahead", "first place", "end token", "everywhere")


def test_grouped_heads_are_computed_and_named_as_such():
    address = {"enc_heads": "2", "dec_heads": "8", "dec_kv_heads": "2"}
    app = open_page(**address)
    settings = settings_of(app)
    assert settings.config.decoder.num_kv_heads == 2
    view = inspect_word(EncoderDecoder(settings.config, seed=0), get_task("spelling"), KNIGHT)
    expect_weights(app, view.layers["cross"][1].weights)
    for kind in ("cross", "decoder"):
        press(app, "kind", kind)
        assert head_figures(app, "K/V head") == ["1", "1", "1", "1", "2", "2", "2", "2"]
        assert titles(app) == [f"head {head} · K/V {1 + (head > 4)}" for head in range(1, 9)]
        assert "8 query heads read 2 K/V heads, 4 of them each (grouped-query attention)" in texts(app)
    press(app, "kind", "encoder")
    assert head_figures(app, "K/V head") == []
    assert titles(app) == ["head 1", "head 2"]


def test_kv_heads_can_be_chosen_among_those_that_divide_and_follow_the_heads():
    app = opened(open_page())
    chooser = app.selectbox(key="exact_dec_kv_heads")
    assert chooser.options == ["1", "2", "4", "8"]
    assert chooser.value == 8
    checked(chooser.set_value(2).run())
    assert settings_of(app).dec_kv_heads == 2
    assert "8 query heads share 2 K/V heads" in texts(app)
    assert read_address(dict(app.query_params))[0].dec_kv_heads == 2
    press(app, "dec_heads", 1)
    assert settings_of(app).dec_kv_heads is None
    assert "dec_kv_heads" not in dict(app.query_params)


def test_the_encoder_s_kv_heads_are_what_its_heads_hand_over():
    app = open_page(enc_heads="8", enc_dim="8", enc_kv_heads="4", dec_heads="4", dec_dim="8", kv="direct")
    assert "Cross-attention does not run" not in texts(app)
    assert len(grid_maps(app)) == 4
    press(app, "dec_heads", 8)
    assert "Cross-attention does not run" in texts(app)


def test_a_single_kv_head_that_meets_several_query_heads_is_pointed_out():
    app = open_page(enc_heads="2", enc_dim="8", enc_kv_heads="1", dec_heads="4", dec_dim="8", kv="direct")
    assert "PyTorch repeats it for all 4 decoder heads" in texts(app)


def test_a_row_of_buttons_reported_without_a_choice_changes_nothing():
    """As browsers do now and then when one acts while a page is still being drawn."""
    app = open_page(task="reverse", text="abc", dec_heads=16, keep="size")
    before = settings_of(app)
    for key in ("task", "keep", "enc_heads", "dec_dim", "kind", "layer", "view"):
        app.segmented_control(key=key).set_value(None)
    assert settings_of(checked(app.run())) == before
    assert app.segmented_control(key="task").value == "reverse"
    app = press(open_page("redundancy", part="twins"), "task", None)
    app = press(app, "page_part", None)
    assert settings_of(app)[PART] == app.segmented_control(key="page_part").value == "twins"
