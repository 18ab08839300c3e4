"""The page Anchors, driven without a browser: the film it sends, the experiments, bad input."""

import json

import app_test
import numpy as np
import pytest
import torch
from app_test import checked, texts
from streamlit.testing.v1 import AppTest

from attention.anchors import Disturbance, compare, held_out_share, misload
from attention.checkpoints import load
from attention.stepping import decode_word
from attention.tasks import get_task
from pages.parts import experiment
from pages.parts.head_grid import unpack
from pages.parts.player import Film
from pages.parts.settings import Settings, read_address
from pages.parts.words import catalogue, percent

TASK = get_task("spelling")
KNIGHT = tuple("knight")
NUM_WORDS = 20


@pytest.fixture(autouse=True)
def few_words(monkeypatch):
    monkeypatch.setattr(experiment, "NUM_WORDS", NUM_WORDS)
    experiment._share.clear()


def open_page(**address) -> AppTest:
    return app_test.open_page("anchors", **address)


def film(app: AppTest) -> dict:
    (component,) = app.get("bidi_component")
    return json.loads(component.proto.json)


def shipped():
    return load("spelling", Settings().config)[0]


def knight():
    return decode_word(shipped(), torch.tensor([TASK.encode_source(KNIGHT)]), 11)


def test_the_first_visit_sends_the_decoding_that_the_library_gives():
    data, decoding = film(open_page()), knight()
    assert data["said"] == ["n", "aɪ", "t", "</s>"] and data["read"] == ["<s>", "n", "aɪ", "t"]
    assert data["source"] == [*KNIGHT, "</s>"] and data["own"] == []
    np.testing.assert_array_equal(unpack(data["weights"], (8, 4, 7)), decoding.cross[1])
    assert [row[0][0] for row in data["candidates"]] == data["said"]
    assert data["candidates"][0][0][1] == pytest.approx(decoding.probabilities[0].max(), abs=1e-5)
    assert (data["step"], data["head"]) == (1, 0)
    assert data["gold"][2] == [5] and data["gold"][3] == []  # t comes from the t; the end from no letter


def test_the_stores_by_hand():
    data = film(open_page())
    assert [(s["shape"], s["copies"], s["bytes"], s["grows"]) for s in data["stores"]] == [
        ([7, 64], 1, 7 * 64 * 4, False),
        ([8, 7, 8], 4, 4 * 8 * 7 * 8 * 4, False),
        ([8, 1, 8], 4, 4 * 8 * 8 * 4, True),
    ]
    memory = 7 * 64 * 4
    assert data["sharing"] == [
        ["MHA", 8, memory + 7168, 1024],
        ["GQA", 2, memory + 7168 // 4, 256],
        ["MQA", 1, memory + 7168 // 8, 128],
    ]


def test_an_address_opens_at_its_step_head_and_layer():
    data = film(open_page(step="3", lines="one", head="5", layer="1"))
    assert (data["step"], data["head"]) == (3, 5)
    np.testing.assert_array_equal(unpack(data["weights"], (8, 4, 7)), knight().cross[0])


def test_a_step_that_the_word_does_not_have_is_told_and_the_last_one_shown():
    app = open_page(step="9")
    assert film(app)["step"] == 4
    assert "Step 9 is not there: this word takes 4 steps" in texts(app)


def test_the_choice_of_lines_is_read_from_the_address():
    assert read_address({"step": "3"})[0].step == 3
    settings, notices = read_address({"lines": "some"})
    assert settings.lines == "all"
    assert any(notice.startswith("lines=some is not known: all, one") for notice in notices)


@pytest.mark.parametrize(
    ("address", "own"),
    [
        ({"kv": "extra", "kv_variant": "slots"}, 4),
        ({"kv": "extra", "kv_variant": "states"}, None),
        ({"kv": "grouped"}, 0),
        ({"kv": "projection"}, 0),
    ],
)
def test_every_way_of_feeding_the_heads_can_be_played(address, own):
    app = open_page(enc_heads="4", dec_heads="8", keep="size", **address)
    data = film(app)
    assert len(data["own"]) == (len(data["said"]) if own is None else own)
    rows = unpack(data["weights"], (8, len(data["said"]), 7 + len(data["own"])))
    np.testing.assert_allclose(rows.sum(-1), 1.0, atol=1e-5)


def test_random_weights_are_labelled_and_nothing_is_said_about_their_accuracy():
    app = open_page(enc_heads="2", dec_heads="2")
    assert texts(app).count("andom weights") >= 3
    assert "held-out words right" not in texts(app)


def test_a_mismatch_shows_the_failure_and_its_mends_and_no_player():
    app = open_page(enc_heads="8", enc_dim="8", dec_heads="16", dec_dim="8", keep="size", kv="direct")
    assert "Cross-attention does not run" in texts(app)
    assert not app.get("bidi_component")
    assert any("8 decoder heads" in button.label for button in app.button)


def test_text_that_the_task_refuses_is_shown_as_typed():
    app = open_page(text="<b>$x$</b>")
    assert "&#x27;&lt;&#x27;" in texts(app) and film(app)["said"]


def choose(app, kind):
    return checked(app.segmented_control(key="page_experiment").set_value(kind).run())


def share(model, disturbance=None):
    found = held_out_share(model, TASK, TASK.held_out(NUM_WORDS), disturbance)
    return f"<b>{percent(found.share)}</b> of the first {NUM_WORDS} held-out words right"


CHANGES = {
    "noise_each": Disturbance("noise_each", 0.6),
    "noise_once": Disturbance("noise_once", 0.6),
    "hidden": Disturbance("hidden", hidden=frozenset({0})),
    "off": Disturbance("off"),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_a_disturbance_shows_what_the_library_finds_beside_the_control(kind):
    app = choose(open_page(), kind)
    model = shipped()
    found = compare(model, model, TASK, KNIGHT, CHANGES[kind])
    said = texts(app)
    spoken = found.free.said[:-1] if found.free.ended else found.free.said
    assert said.count('class="card ') == 2
    assert "n aɪ t ✓" in said and TASK.join_target(TASK.tgt_vocab.decode(spoken)) in said
    assert share(model) in said and share(model, CHANGES[kind]) in said
    charts = app.get("plotly_chart")
    assert len(charts) == (0 if kind == "off" else 1)
    assert ("no head may look at anything" in said) == (kind == "off")


def test_noise_of_size_0_equals_the_control():
    app = open_page()
    checked(app.slider(key="noise").set_value(0.0).run())
    assert texts(app).count("n aɪ t ✓") == 2
    assert texts(app).count(share(shipped())) == 2


def test_misuse_loads_the_same_weights_into_other_heads_and_says_that_it_is_one():
    app = choose(open_page(), "misuse")
    assert "A misuse, shown on purpose" in texts(app) and "Misuse: loaded into 16 heads" in texts(app)
    assert share(misload(shipped(), 16)) in texts(app)


def test_another_shipped_model_is_compared_by_mean_rows():
    app = choose(open_page(), "other")
    assert "between the mean rows of all heads" in texts(app)
    assert len(app.get("plotly_chart")) == 1


def test_where_a_kind_has_nothing_to_offer_it_says_so():
    app = choose(open_page(enc_heads="8", dec_heads="8", kv="direct"), "misuse")
    assert catalogue()["experiment"]["no_misuse"] in texts(app)


def test_the_page_says_whose_term_it_is():
    said = texts(open_page())
    for fact in ("one article, not of the literature", "cross-attention over the encoder's output", "2402.07616"):
        assert fact in said


def test_a_film_that_does_not_fit_its_labels_is_refused():
    with pytest.raises(ValueError, match="weights of 3 steps and 5 columns do not fit 3 tokens and 4 labels"):
        Film(np.zeros((2, 3, 5)), "abc", "d", "xyz", "sxy", [], [])


def test_the_experiment_is_in_the_address():
    app = choose(open_page(), "off")
    assert app.query_params["experiment"] == "off"
    app = open_page(experiment="hidden")
    assert app.segmented_control(key="page_experiment").value == "hidden"
