"""What is handed in: nothing typed is rendered or becomes a formula, and what a browser gives back is input."""

import csv
import io
import json
from html.parser import HTMLParser

import pytest

from pages.lesson.answers import LONGEST, SKIPPED, Answer
from pages.lesson.bars import Bars
from pages.lesson.browser import read, written
from pages.lesson.hand_in import ENCODING, file_name
from pages.lesson.sheet import Handed, sheet, table

MARKUP = '<script>alert(1)</script><img src="http://elsewhere.example/x">"\'&'


def step(**given) -> Handed:
    usual = {
        "title": "1. Hide",
        "question": "Which?",
        "choice": "k 1",
        "sentence": "It stayed.",
        "bars": (Bars("How many, by letter", (1.0, -0.5), ("k", "<n>")),),
    }
    return Handed(**{**usual, "link": "http://localhost:8501/lesson?lesson=1", **given})


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found, self.text = [], ""

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


def parsed(html: str) -> Tags:
    tags = Tags()
    tags.feed(html)
    return tags


def test_typed_text_is_shown_and_never_rendered():
    page = parsed(sheet(MARKUP, [step(sentence=MARKUP)]))
    assert page.text.count(MARKUP) == 2
    assert "script" not in {tag for tag, _ in page.found}
    assert all(attrs["src"].startswith("data:image/svg+xml;base64,") for tag, attrs in page.found if tag == "img")


def test_the_sheet_asks_for_nothing_and_links_to_the_app_alone():
    page = parsed(sheet("Ada", [step(), step(bars=())]))
    (policy,) = (attrs["content"] for tag, attrs in page.found if attrs.get("http-equiv") == "Content-Security-Policy")
    assert {part.split()[0] for part in policy.split(";")} == {"default-src", "style-src", "img-src"}
    assert "default-src 'none'" in policy and "script" not in policy and "http" not in policy
    links = [attrs["href"] for tag, attrs in page.found if tag == "a"]
    assert links == ["http://localhost:8501/lesson?lesson=1"] * 2
    assert not any(name.startswith("on") for _, attrs in page.found for name in attrs)


@pytest.mark.parametrize("sentence", ["=1+1", "+1", "-1", "−1", "@SUM(A1)", "\tx"])
def test_no_cell_is_a_formula(sentence):
    rows = list(csv.reader(io.StringIO(table(sentence, [step(sentence=sentence)]))))
    assert rows[1][0] == rows[1][3] == f"'{sentence}"
    assert not any(cell.startswith(("=", "+", "-", "−", "@", "\t")) for row in rows for cell in row)


@pytest.mark.parametrize(
    "name, file",
    [
        ("Ada Lovelace", "lesson-Ada-Lovelace.csv"),
        ("../../etc/passwd", "lesson-etc-passwd.csv"),
        ("Łukasz <b>", "lesson-Łukasz-b.csv"),
        ("…/_ ", "lesson.csv"),
        ("a" * 80, f"lesson-{'a' * 40}.csv"),
    ],
)
def test_a_file_is_named_after_who_hands_it_in(name, file):
    assert file_name("table", name) == file


def test_a_spreadsheet_is_told_how_the_table_is_written():
    written = table("Ada", [step(title="8 → 16")]).encode(ENCODING["table"])
    assert written.startswith(b"\xef\xbb\xbf") and "8 → 16" in written.decode("utf-8-sig")


def test_what_was_kept_comes_back():
    answers = {"hide": Answer("3", "It <b>stayed</b>."), "reuse": Answer("refuses"), "pairs": Answer(SKIPPED, "“x”")}
    assert read(written(answers)) == answers
    assert written({}) == written({"hide": Answer()}) == ""


@pytest.mark.parametrize(
    "text",
    [None, 3, "", "{", "[]", "null", '{"hide": 3}', '{"hide": ["1"]}', '{"hide": [1, 2]}', "[" * 5000, "x" * 99_999],
)
def test_what_is_no_answer_is_left_out(text):
    assert read(text) == {}


def test_a_choice_that_there_is_not_and_a_long_sentence_are_mended():
    found = read(json.dumps({"reuse": ["<b>", "a" * 10_000], "nowhere": ["x", "y"], "hide": ["1e9", "a\nb"]}))
    assert found == {"reuse": Answer("", "a" * LONGEST), "hide": Answer("", "a b")}
