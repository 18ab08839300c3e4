"""The playground with every task: what it calls things, what it says of an answer, what it refuses."""

import json
import re

import pytest
from app_test import open_page, texts
from streamlit.testing.v1 import AppTest

from attention.checkpoints import find
from attention.tasks import TASKS, get_task
from pages.parts import heads
from pages.parts.settings import Settings, read_address
from pages.parts.words import catalogue, task_label, task_prose

SAYS = {"spelling": "the lexicon", "reverse": "right", "dates": "right", "pinyin": "the dictionary"}


@pytest.fixture(autouse=True)
def no_browser_to_wait_for(monkeypatch):
    monkeypatch.setattr(heads, "SECONDS_TO_PAINT", 0)


def html(app: AppTest) -> str:
    return "\n".join(element.proto.body for element in app.get("html"))


def grid(app: AppTest) -> dict:
    (component,) = app.get("bidi_component")
    return json.loads(component.proto.json)


@pytest.mark.parametrize("name", TASKS)
def test_every_task_opens_on_its_first_example_and_calls_things_by_their_name(name):
    app = open_page(task=name)
    task, words = get_task(name), catalogue()[name]
    assert app.text_input(key="text").value == task.examples[0]
    assert app.text_input(key="text").label == words["text"]
    assert app.text_input(key="text").help == task.description
    data = grid(app)
    assert tuple(data["cols"]) == (*task.read(task.examples[0]), "</s>")
    assert data["cols"].count("</s>") == 1
    said = texts(app)
    assert not re.search(r"\{\w+\}", said)
    assert f"which {words['letters']} (columns)" in said
    assert f"Type a {words['word']}:" in said
    assert task_prose("playground", f"watch_{name}", name) in said
    assert task_prose("playground", f"finds_{name}", name) in said
    if find(name, Settings(task=name).config):
        assert SAYS[name] in html(app)
        assert f"of held-out {words['words']} right" in said
        assert any(label == words["letter"] for label, _ in data["sections"][0]["tiles"][0]["captions"])


@pytest.mark.parametrize("name", TASKS)
def test_every_text_can_be_filled_in_for_every_task(name):
    for section in ("app", "kind", "head", "model", "train"):
        for text, wording in catalogue()[section].items():
            values = dict.fromkeys(("accuracy", "tokens", "count", "target_words", "steps", "here", "held_out"), "7")
            if "{letter" in wording or "{word" in wording:
                assert "{" not in task_label(name, section, text, **values)
    assert {"title", "text", "letter", "letters", "word", "words", "right", "wrong", "unknown"} <= set(
        catalogue()[name]
    )
    knows_its_words = get_task(name).is_training_word(get_task(name).read(get_task(name).examples[0])) is not None
    assert ("in_training" in catalogue()[name]) == ("held_out" in catalogue()[name]) == knows_its_words


def test_a_date_is_shown_character_by_character_with_visible_spaces():
    app = open_page(task="dates", text="3rd of Nov 94")
    assert grid(app)["cols"] == [*"3rd␣of␣nov␣94", "</s>"]
    assert '<span class="word">3rd of nov 94</span>' in html(app)


def test_an_ambiguous_date_is_refused_in_one_sentence_and_something_is_shown():
    app = open_page(task="dates", text="3/11/1994")
    assert "can be 3 November or 11 March" in html(app)
    assert "Shown instead: “3rd of nov 94”." in html(app)
    assert app.text_input(key="text").value == "3/11/1994"


def test_chinese_text_is_shown_as_it_is_and_what_is_not_known_is_named():
    assert grid(open_page(task="pinyin", text="银行"))["cols"] == ["银", "行", "</s>"]
    app = open_page(task="pinyin", text="銀行 <b>")
    assert "&#x27;銀&#x27;" in html(app)
    assert "are not characters this model knows" in html(app)
    assert "<b>" not in html(app)


def test_switching_the_task_takes_a_text_that_it_can_read():
    app = open_page()
    for name in ("dates", "pinyin", "reverse", "spelling"):
        app.segmented_control(key="task").set_value(name).run()
        assert not app.exception
        settings = app.session_state["settings"]
        assert settings.task == name
        assert get_task(name).read(settings.text)
        assert read_address(dict(app.query_params)) == (settings, [])


@pytest.mark.parametrize("name", ["dates", "pinyin"])
def test_a_mismatch_gives_the_decoder_a_known_answer(name):
    app = open_page(task=name, enc_heads="8", dec_heads="16", dec_dim="8", kv="direct", kind="cross")
    (answer,) = get_task(name).answers(get_task(name).read(get_task(name).examples[0]))
    assert f"“{get_task(name).join_target(answer)}”" in texts(app)
