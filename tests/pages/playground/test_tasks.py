"""The playground with every task: what it calls things, what it says of an answer, what it refuses."""

import re

import pytest
from app_test import checked, open_page, read_address, texts
from grid_sent import grid_of as grid
from streamlit.testing.v1 import AppTest

from attention.checkpoints import find
from attention.tasks import TASKS, get_task, parts, reverse
from attention.tasks.dates import written_dates
from attention.tasks.pinyin import phrases
from pages.shared.settings import Settings
from pages.shared.texts import catalogue, label, language_folder, prose, task_prose

NOUNS = {
    "spelling": ("letters", "word"),
    "reverse": ("letters", "word"),
    "dates": ("characters", "date"),
    "pinyin": ("characters", "phrase"),
}
PAGES = [path.stem for path in language_folder().glob("*.md")]


def html(app: AppTest) -> str:
    return "\n".join(element.proto.body for element in app.get("html"))


@pytest.mark.parametrize("name", TASKS)
def test_every_task_opens_on_its_first_example_and_calls_things_by_their_name(name):
    app = open_page(task=name)
    app.session_state["boxes"] = {"head_numbers": True}
    checked(app.run())
    task, words = get_task(name), catalogue()[name]
    letters, word = NOUNS[words.get("words_like", name)]
    assert app.text_input(key="text").value == task.examples[0]
    assert app.text_input(key="text").label == words["text"]
    assert app.segmented_control(key="task").help == words["about"]
    data = grid(app)
    assert tuple(data["cols"]) == (*task.read(task.examples[0]), "</s>")
    assert data["cols"].count("</s>") == 1
    said = texts(app)
    assert not re.search(r"\{\w+\}", said)
    assert f"which {letters} (columns)" in said
    assert words["does"] in said
    assert f"the {letters} of a" in words["does"]
    what_to_look_for = task_prose("playground", f"watch_cross_{name}", name, such_as="").removesuffix(".")
    assert (what_to_look_for in said) == (find(name, Settings(task=name).config) is not None)
    assert task_prose("playground", f"finds_{name}", name) in said
    if find(name, Settings(task=name).config):
        assert any(words[judged].split("{")[0] in html(app) for judged in ("right", "wrong"))
        assert f"\u00a0% of test {word}s right" in said
        assert f">{letters[:-1]}</th>" in html(app)


@pytest.mark.parametrize("name", TASKS)
def test_every_text_can_be_filled_in_for_every_task(name):
    like = catalogue()[name].get("words_like", name)
    for texts_of in (*catalogue().values(), *map(prose, PAGES)):
        for forms in texts_of.values():
            assert isinstance(forms, str) or not set(forms) & set(TASKS) or {name, like} & set(forms)
    assert {"title", "text", "about", "right", "wrong", "unknown"} <= set(catalogue()[name])
    assert {"training", "validation", "test"} <= set(catalogue()[name])


def test_numbers_said_of_the_tasks_are_true():
    """Two of them, the words and the phrases, are counted where the tasks are tested."""
    assert "117,650 words" in label("spelling", "about") and f"one word in {parts.ONE_IN}" in label("spelling", "about")
    assert f"Says {reverse.SHORTEST} to {reverse.LONGEST} letters" in label("reverse", "about")
    assert f"one string in {parts.ONE_IN} is" in label("reverse", "about")
    first, last, pivot = written_dates.FIRST_DAY.year, written_dates.LAST_DAY.year, written_dates.PIVOT
    assert f"date of {first} to {last} into" in label("dates", "about")
    assert f"one of {1900 + pivot} to {1999 + pivot};" in label("dates", "about")
    assert f"every {parts.ONE_IN}rd day" in label("dates", "about")
    assert "45,163 phrases" in label("pinyin", "about")
    assert f"fewer than {phrases.RAREST} are" in label("pinyin", "about")
    assert f"one in {parts.ONE_IN} is" in label("pinyin", "about")
    assert "563 of the 3,621 characters" in label("pinyin", "about")


def test_a_date_is_shown_character_by_character_with_visible_spaces():
    app = open_page(task="dates", text="3rd of Nov 94")
    assert grid(app)["cols"] == [*"3rd␣of␣nov␣94", "</s>"]


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
    assert "&#x27;&lt;&#x27;" in html(app) or "&lt;" in html(app)
    assert "'<'" not in html(app) and "行 <b>" not in html(app)


@pytest.mark.parametrize(
    ("task", "text", "shown"),
    [
        ("spelling", "שט", "<bdi>&#x27;ש&#x27;</bdi> and <bdi>&#x27;ט&#x27;</bdi> are not letters"),
        ("dates", "abc ليل", "<bdi>&#x27;abc ليل&#x27;</bdi> is not a date"),
        ("pinyin", "٣٤", "<bdi>&#x27;٣&#x27;</bdi> and <bdi>&#x27;٤&#x27;</bdi> are not characters"),
        ("spelling", "x\u2068\u2067y", "U+2068 and U+2067 are not letters"),
    ],
)
def test_text_that_runs_from_right_to_left_turns_nothing_but_itself(task, text, shown):
    """Without isolation the first two letters and the comma between them would change places on the screen."""
    page = html(open_page(task=task, text=text))
    assert shown in page
    assert page.count("<bdi>") == page.count("</bdi>") == shown.count("<bdi>")
    assert not {"\u2068", "\u2069"} & {*page}


def test_a_right_to_left_value_in_the_address_turns_nothing_but_itself():
    assert "<bdi>שלום</bdi>" in html(open_page(enc_heads="שלום"))


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
