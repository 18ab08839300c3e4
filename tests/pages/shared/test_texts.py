"""The engine of texts: forms chosen by a number, a task or a code, a language's own signs, and languages as folders."""

import pytest

from attention.messages import Message
from pages.shared import texts

POLISH = """
[language]
plural = "n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2"
forms = ["one", "few", "many"]
decimal = ","
thousands = " "
minus = "-"
percent = "{}%"
undefined = "?"
between = ", "
last = " i "

[upper]
words_like = "reverse"

[counted]
head = { one = "{count} głowa", few = "{count} głowy", many = "{count} głów" }

[pairs]
shared = { by = "kv_heads", one = "{heads} ← {kv_heads:,}", few = "few", many = "many" }
asks = { "spelling, reverse" = "słowo {text}", dates = { one = "jedna data", few = "daty", many = "{count} dat" } }
side = { by = "side", encoder = "koder", decoder = "dekoder" }
list = "{letters}"
size = "{size:.2f}"
"""

MARKDOWN = """# Strona

## plain
Tekst.

## word: spelling, reverse
Słowo {word}.

## word: dates
Data {word}.
"""


@pytest.fixture
def language(tmp_path, monkeypatch):
    """A server whose language has three plural forms and other signs than English."""
    folder = tmp_path / "pl"
    folder.mkdir()
    (folder / "all.toml").write_text(POLISH, encoding="utf-8")
    (folder / "page.md").write_text(MARKDOWN, encoding="utf-8")
    monkeypatch.setattr(texts, "LANGUAGES", tmp_path)
    monkeypatch.setenv(texts.SETTING, "pl")
    texts.forget()
    yield
    monkeypatch.undo()
    texts.forget()


@pytest.mark.parametrize(
    "count, said",
    [
        (1, "1 głowa"),
        (2, "2 głowy"),
        (5, "5 głów"),
        (12, "12 głów"),
        (22, "22 głowy"),
        (0, "0 głów"),
        (101, "101 głów"),
    ],
)
def test_the_language_says_which_form_goes_with_a_number(language, count, said):
    assert texts.counted(count, "head") == said


@pytest.mark.parametrize("count, said", [(0, "0 runs"), (1, "1 run"), (2, "2 runs"), (1200, "1,200 runs")])
def test_english_has_two_forms(count, said):
    assert texts.counted(count, "run") == said


def test_another_number_a_task_or_a_code_may_choose(language):
    assert texts.label("pairs", "shared", heads=16, kv_heads=1) == "16 ← 1"
    assert texts.label("pairs", "shared", heads=16, kv_heads=3) == "few"
    assert texts.label("pairs", "asks", task="reverse", text="{count}") == "słowo {count}"
    assert texts.label("pairs", "asks", task="dates", count=7) == "7 dat"
    assert texts.say("pairs", Message.of("side", "the decoder", side="decoder")) == "dekoder"


def test_a_form_that_is_missing_is_an_error(language):
    with pytest.raises(KeyError, match=r"pl, \[pairs\] asks: no form for 'pinyin'; there are spelling, reverse, dates"):
        texts.label("pairs", "asks", task="pinyin")


def test_a_task_may_be_spoken_of_like_another(language):
    assert texts.label("pairs", "asks", task="upper", text="kot") == "słowo kot"
    assert texts.paragraph("page", "word", task="upper", word="kot") == "Słowo kot."


def test_a_text_that_is_missing_is_named(language):
    with pytest.raises(KeyError, match=r"pl has no text 'nothing' in a section \[pairs\]"):
        texts.label("pairs", "nothing")
    with pytest.raises(KeyError, match=r"page.md has no text 'nothing'"):
        texts.paragraph("page", "nothing")


def test_numbers_and_lists_have_the_signs_of_the_language(language):
    assert texts.number(-1.25) == "-1,25"
    assert texts.whole(1234567) == "1 234 567"
    assert texts.percent(0.935) == "94%"
    assert texts.percent(float("nan")) == texts.number(float("nan")) == "?"
    assert texts.label("pairs", "size", size=0.5) == "0,50"
    assert texts.label("pairs", "list", letters=("a",)) == "a"
    assert texts.label("pairs", "list", letters=("a", "b", "c")) == "a, b i c"


def test_numbers_in_english():
    assert (texts.number(-1.25), texts.number(-0.001), texts.number(2.5, 0)) == ("−1.25", "0.00", "2")
    assert (texts.whole(1234567), texts.percent(0.935), texts.percent(float("nan"))) == ("1,234,567", "94\u00a0%", "–")
    assert texts.joined(("a", "b", "c")) == "a, b and c"


@pytest.mark.parametrize(
    ("right", "of", "digits", "said"),
    [(5249, 5249, 0, "100 %"), (5248, 5249, 0, "99.9 %"), (1999, 2000, 0, "99.9 %"), (995, 1000, 0, "99.5 %"),
     (994, 1000, 0, "99 %"), (1999, 2000, 1, "99.95 %"), (10**9 - 1, 10**9, 0, "99.9 %"), (64, 64, 1, "100.0 %")],
)  # fmt: skip
def test_all_is_said_of_all_alone(right, of, digits, said):
    assert texts.percent(right / of, digits) == said.replace(" ", "\u00a0")  # which never breaks before the sign


def test_long_texts_have_forms_too(language):
    assert texts.prose("page")["plain"] == "Tekst."
    assert texts.paragraph("page", "word", task="reverse", word="kot") == "Słowo kot."
    assert texts.paragraph("page", "word", task="dates", word="maj") == "Data maj."


def test_an_unknown_language_is_refused_with_what_there_is(monkeypatch):
    monkeypatch.setenv(texts.SETTING, "klingon")
    with pytest.raises(ValueError, match="ATTENTION_LANGUAGE is 'klingon', and there are texts in: en"):
        texts.language_folder()
