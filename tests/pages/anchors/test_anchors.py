"""The page Anchors, driven without a browser: the film it sends, the experiments, bad input."""

import json
from math import log2
from random import Random

import app_test
import numpy as np
import pytest
from app_test import checked, read_address, settings_of, texts
from streamlit.testing.v1 import AppTest

from attention import EncoderDecoder, StackConfig
from attention.checkpoints import load
from attention.checkpoints import shipped as shipped_cards
from attention.cross_attention import fits
from attention.experiments.disturbed_memory import Disturbance, held_out_right, misload, run_experiment
from attention.experiments.paired_answers import PairedAnswers
from attention.inspection import decode_source
from attention.notebook.packing import unpack
from attention.tasks import get_task
from pages.anchors import experiment
from pages.anchors.address import LINES, OTHER, STEP
from pages.anchors.other_model import other_models
from pages.anchors.player import Film, Run
from pages.shared.models import record_of
from pages.shared.settings import Settings
from pages.shared.texts import catalogue, percent

TASK = get_task("spelling")
KNIGHT = tuple("knight")
NUM_WORDS = 20


@pytest.fixture(autouse=True)
def few_words(monkeypatch):
    monkeypatch.setattr(experiment, "NUM_WORDS", NUM_WORDS)
    experiment._right.cache_clear()
    yield
    experiment._right.cache_clear()  # elsewhere there are as many as there are


def open_page(**address) -> AppTest:
    return app_test.open_page("anchors", **address)


def film(app: AppTest) -> dict:
    """What the player is sent, and of the control."""
    (component,) = app_test.components(app)
    (sent,) = json.loads(component.proto.json)
    return sent | sent["runs"][0]


def answers(app: AppTest) -> list[str]:
    return [run["answer"] for run in film(app)["runs"]]


def shipped():
    return load("spelling", Settings().config)[0]


def knight():
    return decode_source(shipped(), TASK, KNIGHT)


def test_blanks_in_tokens_get_a_sign():
    blanks = Film(np.ones((1, 1, 3)), ["a", " ", ""], [], ["\u00a0"], ["b "], [[("\u200b", 1.0)]], [()])
    sent = Run(blanks, "", "").data()
    assert (sent["source"], sent["said"], sent["read"]) == (["a", "␣", "∅"], ["⍽"], ["b␣"])
    assert sent["candidates"] == [[["⍽", 1.0]]]
    written = film(open_page(task="dates", text="3rd of Nov 94"))["source"]
    assert written == [*"3rd␣of␣nov␣94", "</s>"]


def test_the_first_visit_sends_the_decoding_that_the_library_gives():
    data, decoding = film(open_page()), knight()
    assert data["said"] == ["n", "aɪ", "t", "</s>"] and data["read"] == ["<s>", "n", "aɪ", "t"]
    assert data["source"] == [*KNIGHT, "</s>"] and data["own"] == []
    np.testing.assert_array_equal(unpack(data["weights"], (8, 4, 7)), decoding.cross[1].weights)
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
    np.testing.assert_array_equal(unpack(data["weights"], (8, 4, 7)), knight().cross[0].weights)


def test_a_step_that_the_word_does_not_have_is_told_and_the_last_one_shown():
    app = open_page(step="9")
    assert film(app)["step"] == 4
    assert "Step 9 is not there: this word takes 4 steps" in texts(app)


def test_the_choice_of_lines_is_read_from_the_address():
    assert read_address({"step": "3"})[0][STEP] == 3
    settings, notices = read_address({"lines": "some"})
    assert settings[LINES] == "all"
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
    assert len(data["own"]) == (len(data["said"]) if own is None else own) and data["ownGrows"] == (own is None)
    rows = unpack(data["weights"], (8, len(data["said"]), 7 + len(data["own"])))
    np.testing.assert_allclose(rows.sum(-1), 1.0, atol=1e-5)


def test_random_weights_are_labelled_and_nothing_is_said_about_their_accuracy():
    app = open_page(enc_heads="2", dec_heads="2", seed="1")
    assert texts(app).count("andom weights") >= 3
    assert "test words right" not in texts(app)


def test_a_mismatch_shows_the_failure_and_its_mends_and_no_player():
    app = open_page(enc_heads="8", enc_dim="8", dec_heads="16", dec_dim="8", keep="size", kv="direct")
    assert "Cross-attention does not run" in texts(app)
    assert not app_test.components(app)
    assert any("8 decoder heads" in button.label for button in app.button)


def test_text_that_the_task_refuses_is_shown_as_typed():
    app = open_page(text="<b>$x$</b>")
    assert "&#x27;&lt;&#x27;" in texts(app) and film(app)["said"]


def choose(app, kind):
    return checked(app.segmented_control(key="page_experiment").set_value(kind).run())


def share(model, disturbance=None):
    right = held_out_right(model, TASK, TASK.held_out(NUM_WORDS), disturbance)
    return f"<b>{percent(sum(right) / NUM_WORDS)}</b> of the first {NUM_WORDS} test words right"


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
    found = run_experiment(decode_source(model, TASK, KNIGHT), model, TASK, KNIGHT, CHANGES[kind])
    said = texts(app)
    spoken = TASK.join_target(TASK.tgt_vocab.decode(found.free.answer))
    control, changed = answers(app)
    assert said.count('class="card ') == 2
    assert control == "n aɪ t ✓" and changed.startswith(spoken) and changed[-1] == ("✓" if spoken == "n aɪ t" else "✗")
    sent, weights = film(app)["runs"][1], found.free.cross[1].weights
    np.testing.assert_array_equal(unpack(sent["weights"], weights.shape), weights)
    assert (film(app)["hidden"] == [1]) == (kind == "hidden") and film(app)["step"] == 1
    assert share(model) in said and share(model, CHANGES[kind]) in said
    charts = app.get("plotly_chart")
    assert len(charts) == (0 if kind == "off" else 1)
    assert ("no head may look at anything" in said) == (kind == "off")


@pytest.mark.parametrize(
    ("places", "hidden"), [("none", []), ("1", [0]), ("3-4-end", [2, 3, 6]), ("6-7-16-end", [5, 6])]
)
def test_a_hidden_letter_has_no_weight_and_the_rest_has_all(places, hidden):
    data = film(open_page(hidden=places))
    run = data["runs"][1]
    rows = unpack(run["weights"], (8, len(run["said"]), 7))
    assert (rows[:, :, hidden] == 0).all()
    np.testing.assert_allclose(rows.sum(-1), 1.0, atol=1e-5)
    if places == "none":
        assert run["weights"] == data["weights"] and run["title"] == "Nothing is hidden"


def test_noise_of_size_0_equals_the_control():
    app = open_page(experiment="noise_each")
    checked(app.slider(key="strength").set_value(0.0).run())
    assert answers(app) == ["n aɪ t ✓"] * 2
    assert texts(app).count(share(shipped())) == 2


def test_two_shares_are_compared_word_by_word():
    words, model = TASK.held_out(NUM_WORDS), shipped()
    before, after = (held_out_right(model, TASK, words, change) for change in (None, CHANGES["off"]))
    lost = sum(first and not second for first, second in zip(before, after, strict=True))
    assert lost == sum(before) > 0
    said = texts(choose(open_page(), "off"))
    assert f"Of the same {NUM_WORDS} words, {lost} were lost" in said and "and 0 won" in said
    assert "this one model, not of other seeds" in said and "draw of noise" not in said and "95\u00a0%" not in said
    assert "this one draw of noise" in texts(open_page(experiment="noise_each"))


def test_where_no_word_changed_there_is_nothing_to_test():
    app = open_page(experiment="noise_each")
    checked(app.slider(key="strength").set_value(0.0).run())
    assert f"None of the {NUM_WORDS} words changed" in texts(app) and "McNemar test:" not in texts(app)


def test_a_small_probability_is_told_as_such():
    def said(lost, won):
        pairs = PairedAnswers((True,) * lost + (False,) * won, (False,) * lost + (True,) * won)
        return experiment.paired_sentence("dates", pairs, "noise_once")

    assert "5 were lost" in said(5, 1) and "p = 0.219." in said(5, 1)  # 2 · (1 + 6) / 2⁶
    assert "p < 0.001." in said(30, 2)
    assert "this one draw of noise, not of other seeds" in said(5, 1)


def test_misuse_loads_the_same_weights_into_other_heads_and_says_that_it_is_one():
    app = choose(open_page(), "misuse")
    assert "A misuse, shown on purpose" in texts(app) and "Misuse: loaded into 16 heads" in texts(app)
    assert share(misload(shipped(), 16)) in texts(app)


def test_another_shipped_model_is_compared_by_mean_rows():
    app = choose(open_page(), "other")
    assert "between the mean rows of all heads" in texts(app)
    assert len(app.get("plotly_chart")) == 1


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ["4x16-4x16", "8x8-16x8", "8x8-16x4", "8x8-16x8-grouped"])
def test_another_model_is_chosen_by_its_heads_and_its_way(name):
    (card,) = (card for card in shipped_cards().values() if card.name == f"spelling-{name}")
    app = choose(open_page(), "other")
    sides = {side: getattr(card.config, side) for side in ("encoder", "decoder")}
    boxes = {f"other_{side}": f"{stack.num_heads} × {stack.head_dim}" for side, stack in sides.items()}
    boxes["other_kv"] = catalogue()["kv"][card.config.kv]
    for key, shown in boxes.items():
        found = [box for box in app.selectbox if box.key == key]
        assert found or key == "other_kv"  # which is left out where there is only one
        for box in found:
            assert shown in box.options
            app = checked(box.select(shown).run())
    settings = settings_of(app)
    assert settings.dec_heads == 8 and settings[OTHER] in (name, None)  # None: the one it opens on, never touched
    assert f"<b>{percent(sum(right_of(card)) / NUM_WORDS)}</b>" in texts(app)


def right_of(card):
    return held_out_right(load(card.task, card.config)[0], TASK, TASK.held_out(NUM_WORDS), None)


def test_of_models_with_these_heads_the_nearest_one_is_taken():
    app = choose(open_page(enc_heads=8, dec_heads=16), "other")
    assert settings_of(app)[OTHER] is None
    assert app.selectbox(key="other_encoder").value == StackConfig(64, 8, 8)  # the present one has 8 × 8 and 16 × 4
    assert app.selectbox(key="other_decoder").value == StackConfig(64, 16, 8)
    settings = settings_of(checked(app.selectbox(key="other_encoder").select("4 × 16").run()))
    decoders = {card.config.decoder.num_heads for card in shipped_cards().values()
                if card.task == "spelling" and card.config.encoder == StackConfig(64, 4, 16)}  # fmt: skip
    nearest = min(decoders, key=lambda heads: abs(log2(heads / 16)))
    assert settings[OTHER].startswith(f"4x16-{nearest}x")


def drawn(seed):
    """Settings as models ship or nearly so: of any task, with two layers, of any seed."""
    draw = Random(seed)
    way = draw.choice(("direct", "projection", "grouped", "extra", "reproject", "reproject"))
    enc, dec = draw.choice((4, 8, 16)), draw.choice((4, 8, 16))
    numbers = {"enc_heads": enc, "enc_dim": 64 // enc, "dec_heads": dec, "dec_dim": draw.choice((4, 8, 16))}
    return Settings(task=draw.choice(("spelling", "reverse")), kv=way, seed=draw.choice((0, 0, 1)), **numbers).fitted()


@pytest.mark.sample(8)
@pytest.mark.parametrize("seed", range(100))
def test_another_shipped_model_is_offered_wherever_one_has_the_same_columns(seed):
    """And where none has, the page says so. Columns are told by really decoding."""
    settings = drawn(seed)
    if not fits(settings.config):
        return
    task, source = get_task(settings.task), tuple("knight")

    def columns(model):
        decoding = decode_source(model, task, source, forced=(3, 4))
        return [layer.weights.shape[-1] for layer in decoding.cross]

    here = record_of(settings)
    own = columns(EncoderDecoder(settings.config, seed=settings.seed))
    others = {
        card.config
        for card in shipped_cards().values()
        if card.task == settings.task
        and not (here.origin == "shipped" and card.config == here.config)
        and columns(EncoderDecoder(card.config)) == own
    }
    assert set(other_models(settings)) == others


def test_where_a_kind_has_nothing_to_offer_it_says_so():
    app = choose(open_page(enc_heads="8", dec_heads="8", kv="direct"), "misuse")
    assert catalogue()["experiment"]["no_misuse"] in texts(app)
    assert len(film(app)["runs"]) == 1


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
    app = open_page(experiment="noise_each")
    assert app.segmented_control(key="page_experiment").value == "noise_each"
    assert open_page().segmented_control(key="page_experiment").value == "hidden"
