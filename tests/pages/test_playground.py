"""The playground, driven without a browser: every widget, every preset, every kind of bad input."""

import json

import numpy as np
import pytest
from app_test import checked, open_page, press, settings_of, texts
from streamlit.testing.v1 import AppTest

from attention import EncoderDecoder
from attention.checkpoints import load
from attention.inspection import inspect_word
from attention.tasks import get_task
from pages.parts import heads
from pages.parts.head_grid import unpack
from pages.parts.settings import PRESETS, Settings, read_address
from pages.parts.words import catalogue

KNIGHT = tuple("knight")


def grid(app: AppTest) -> dict:
    """What the head grid was given."""
    (component,) = app.get("bidi_component")
    return json.loads(component.proto.json)


def grid_maps(app: AppTest) -> np.ndarray:
    data = grid(app)
    heads = sum(len(section["tiles"]) for section in data["sections"])
    return unpack(data["weights"], (heads, len(data["rows"]), len(data["cols"])))


def opened(app: AppTest) -> AppTest:
    """With the box of exact numbers open."""
    app.session_state["more"] = True
    return checked(app.run())


@pytest.fixture(autouse=True)
def no_browser_to_wait_for(monkeypatch):
    monkeypatch.setattr(heads, "SECONDS_TO_PAINT", 0)


def test_the_first_visit_shows_eight_trained_heads_on_knight():
    app = open_page()
    data = grid(app)
    assert [tile["title"] for tile in data["sections"][0]["tiles"]] == [f"head {n}" for n in range(1, 9)]
    assert data["cols"] == [*"knight", "</s>"]
    assert data["rows"] == ["n", "aɪ", "t", "</s>"]
    said = texts(app)
    assert "the lexicon agrees" in said
    assert "trained: " in said
    assert "andom weights" not in said


def test_the_grid_shows_the_numbers_that_the_library_computes():
    app = open_page()
    model, _ = load("spelling", Settings().config)
    view = inspect_word(model, get_task("spelling"), KNIGHT)
    np.testing.assert_array_equal(grid_maps(app), view.layers["cross"][1].weights)


def test_an_untrained_model_is_built_from_its_seed_and_says_so():
    app = open_page(enc_heads="2", dec_heads="4", seed="7")
    settings = settings_of(app)
    model = EncoderDecoder(settings.config, seed=7)
    view = inspect_word(model, get_task("spelling"), KNIGHT)
    np.testing.assert_array_equal(grid_maps(app), view.layers["cross"][1].weights)
    assert texts(app).count("andom weights") >= 3  # at the top, at the large head, at the similarities
    assert "trained on this word" not in texts(app)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_opens_and_lights_up(name):
    app = open_page()
    checked(app.pills(key="situation").set_value(name).run())
    settings = settings_of(app)
    assert {field: getattr(settings, field) for field in PRESETS[name]} == PRESETS[name]
    assert app.session_state["situation"] == name
    assert catalogue()["situation_text"][name] in texts(app)
    if name in ("mismatch", "problem_3"):
        assert "Cross-attention does not run" in texts(app)
    else:
        assert len(grid(app)["sections"][0]["tiles"]) == PRESETS[name]["dec_heads"]
        assert "trained: " in texts(app)


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_every_kind_and_layer_and_view_shows_its_own_heads(kind):
    app = press(open_page(enc_heads="2", dec_heads="4"), "kind", kind)
    for layer in (1, 2):
        press(app, "layer", layer)
        assert len(grid_maps(app)) == {"encoder": 2, "decoder": 4, "cross": 4}[kind]
        assert grid(app)["sections"][0]["layer"] == layer - 1
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


@pytest.mark.parametrize(
    "text", ["", "   ", "123", "a b", "👩‍👩‍👧", "a" * 200, "<s>", "$x$", "é", "**x**", "[SEP]", "猫"]
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


def test_direct_with_other_heads_shows_the_clash_and_the_mends_work():
    app = open_page(enc_heads="4", enc_dim="16", dec_heads="8", dec_dim="16", kv="direct")
    said = texts(app)
    assert ":red-background[:red[**heads 8** ✗]]" in said
    assert ":red-background[:red[**heads 4** ✗]]" in said
    assert "The size of tensor a (8) must match the size of tensor b (4) at non-singleton dimension 1" in said
    labels = {button.label: button for button in app.button if button.key and button.key.startswith("mend_")}
    assert set(labels) == {
        "use 4 decoder heads", "use 8 encoder heads", "let the decoder project the memory itself",
        "map K and V with a learned projection", "let groups of 2 decoder heads share a K/V head",
        "give the surplus heads K/V of the decoder's own",
    }  # fmt: skip
    checked(labels["use 4 decoder heads"].click().run())
    assert settings_of(app).dec_heads == 4
    assert "Cross-attention does not run" not in texts(app)
    assert grid_maps(app).shape[0] == 4


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
    assert not app.get("bidi_component")
    press(app, "layer", 1)
    assert grid_maps(app).shape[0] == 8


def test_identical_pictures_do_not_collide():
    app = open_page(text="aa", enc_heads="2", dec_heads="2", enc_layers="1", dec_layers="1", kind="encoder")
    charts = [chart.proto.id for chart in app.get("plotly_chart")]
    assert len(set(charts)) == len(charts) == 4


def test_a_single_head_has_no_similarity():
    app = open_page(enc_heads="1", dec_heads="1")
    assert len([element for element in app.markdown if element.value == "–"]) == 3


def test_the_task_can_be_switched_and_keeps_a_word_it_can_read():
    app = press(open_page(), "task", "reverse")
    assert settings_of(app).text == "knight"
    assert grid(app)["rows"] == [*"thgink", "</s>"]


def test_start_again_brings_the_first_visit_back():
    app = press(open_page(text="cat"), "dec_heads", 2)
    (button,) = [button for button in app.button if button.label == "Start again"]
    checked(button.click().run())
    assert settings_of(app) == Settings()
    assert dict(app.query_params) == {}


def tile_captions(app, name):
    tiles = [tile for section in grid(app)["sections"] for tile in section["tiles"]]
    return [value for tile in tiles for caption, value in tile["captions"] if caption == name]


def test_grouped_heads_are_computed_and_named_as_such():
    address = {"enc_heads": "2", "dec_heads": "8", "dec_kv_heads": "2"}
    app = open_page(**address)
    settings = settings_of(app)
    assert settings.config.decoder.num_kv_heads == 2
    view = inspect_word(EncoderDecoder(settings.config, seed=0), get_task("spelling"), KNIGHT)
    np.testing.assert_array_equal(grid_maps(app), view.layers["cross"][1].weights)
    for kind in ("cross", "decoder"):
        press(app, "kind", kind)
        assert tile_captions(app, "K/V head") == ["1", "1", "1", "1", "2", "2", "2", "2"]
        assert "8 query heads read 2 K/V heads, 4 of them each (grouped-query attention)" in texts(app)
    press(app, "kind", "encoder")
    assert tile_captions(app, "K/V head") == []


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
    assert settings_of(app).part == app.segmented_control(key="page_part").value == "twins"
