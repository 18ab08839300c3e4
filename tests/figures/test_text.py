import html

import numpy as np
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from attention.figures import attention_chart, difference_chart, drift_chart, loss_chart, similarity_chart
from attention.figures.cell_text import cell_number
from attention.figures.text import literal, shorten, visible
from attention.figures.words import ENGLISH, FigureWords


@pytest.mark.parametrize(
    "text, shown",
    [
        ("<s>", "&lt;s&gt;"),
        ("&amp;", "&amp;amp;"),
        ("$$", "&#36;&#36;"),
        ("a b", "a b"),
        (" ", "␣"),
        ("  ", "␣␣"),
        ("", "∅"),
        (" a", "␣a"),
        ("a  ", "a␣␣"),
        ("  a b ", "␣␣a b␣"),
        ("\u00a0", "⍽"),
        ("10\u00a0000", "10⍽000"),
        ("\u3000猫\u200b", "⍽猫⍽"),
        (" \u00a0", "␣⍽"),
        ("\ufeffa\u2009b\u2028", "⍽a⍽b⍽"),
        ("\u200d", "⍽"),
        ("\u200e\u00ad\u061c", "\ufffd\ufffd\ufffd"),
        ("می\u200cروم", "می\u200cروم"),
        ("a\nb", "a␊b"),
        ("\t", "␉"),
        ("\ud800\u202e\x85", "\ufffd\ufffd\ufffd"),
        ("猫 👩‍👩‍👧", "猫 👩‍👩‍👧"),
        ("10", "10"),
    ],
)
def test_literal(text, shown):
    assert literal(text) == shown
    literal(text).encode()  # can be sent


@given(text=st.text(alphabet=st.one_of(st.sampled_from(" \t\u00a0\u3000\u200b\u200d<&$a"), st.characters())))
def test_no_text_is_invisible_or_begins_or_ends_with_a_blank(text):
    shown = visible(text)
    assert shown and shown.strip() == shown
    assert not regex.fullmatch(r"[\p{Z}\u200b-\u200f\u2060-\u206f\ufeff]*", shown)
    assert " " not in shown or " " in text.strip(" ")
    assert html.unescape(literal(text)) == shown


BLANKS = ["", " a", "\u00a0", "\u200b", "b "]


@pytest.mark.parametrize("draw", ["attention", "difference", "drift"])
def test_blanks_are_seen_and_told_apart_in_figures_and_their_words(draw):
    n, titles = len(BLANKS), {"row_title": "query", "col_title": "key"}
    eye, everywhere = np.eye(n), np.ones((n, n), dtype=bool)
    if draw == "attention":
        chart = attention_chart(eye, BLANKS, BLANKS, **titles)
    elif draw == "difference":
        chart = difference_chart(eye, eye[::-1], BLANKS, BLANKS, **titles, allowed=everywhere)
    else:
        axes = {"x_title": "step", "y_title": "drift"}
        chart = drift_chart(BLANKS, ("a", np.ones(n)), ("b", np.zeros(n)), **axes)
    assert list(chart.figure.layout.xaxis.ticktext) == ["∅", "␣a", "⍽", "⍽", "b␣"]
    for sign in ("∅", "␣a", "⍽", "b␣"):
        assert f"{sign} " in chart.alt


def test_an_axis_without_a_title_has_none():
    chart = attention_chart(np.eye(2), ["a", "b"], ["a", "b"], row_title="", col_title="")
    assert chart.figure.layout.xaxis.title.text == chart.figure.layout.yaxis.title.text == ""


def test_shorten_keeps_joined_characters_whole():
    family = "👩‍👩‍👧"
    assert shorten("abc", 3) == "abc"
    assert shorten("abcd", 3) == "ab…"
    assert shorten(family * 3, 3) == family * 3  # three characters, though 15 code points
    assert shorten(family * 4, 3) == family * 2 + "…"
    assert shorten("e\u0301" * 4, 3) == "e\u0301e\u0301…"


@pytest.mark.parametrize(
    "value, long, short",
    [
        (0.0, "0.00", ".00"),
        (0.126, "0.13", ".13"),
        (0.999, "1.00", "1.0"),
        (1.0, "1.00", "1.0"),
        (-0.5, "−0.50", "−.50"),
        (-1.0, "−1.00", "−1.0"),
        (-0.001, "0.00", ".00"),
    ],
)
def test_number(value, long, short):
    assert ENGLISH.number(value) == cell_number(value, ENGLISH, short=False) == long
    assert cell_number(value, ENGLISH, short=True) == short


def test_attention_in_words():
    weights = np.array([[0.1, 0.9], [0.5, 0.5], [0, 0]])
    assert attention_chart(weights, ["n", "<s>", "x"], ["k", "n"]).alt == (
        "Attention map, rows × columns: 3 query (decoder) × 2 key (encoder). "
        "Strongest cell in each row: n → n (2) 0.90; <s> → no single key 0.50; x → no keys."
    )


def test_attention_in_words_ignores_what_may_not_be_attended():
    weights, allowed = np.array([[0.4, 0.6]]), np.array([[True, False]])
    assert attention_chart(weights, ["a"], ["x", "y"], allowed=allowed).alt.endswith("a → x (1) 0.40.")


def test_attention_in_words_comes_to_an_end():
    labels = [str(i) for i in range(17)]
    text = attention_chart(np.eye(17), labels, labels).alt
    assert text.endswith("11 → 11 (12) 1.00; 5 more rows.")
    text = attention_chart(np.eye(13), labels[:13], labels[:13]).alt
    assert text.endswith("11 → 11 (12) 1.00; 1 more row.")


def test_another_language_has_its_own_signs_and_forms():
    forms = {"few": "ještě {count} řádky", "other": "ještě {count} řádků"}
    words = FigureWords(decimal=",", minus="-", percent="{} pct.", more_rows_alt=forms, form=lambda n: "few")
    assert (words.number(-0.125, 3), words.share(0.5)) == ("-0,125", "50 pct.")
    assert cell_number(-0.12, words, short=True) == "-,12"
    labels = [str(i) for i in range(15)]
    assert attention_chart(np.eye(15), labels, labels, words=words).alt.endswith("11 → 11 (12) 1,00; ještě 3 řádky.")


def test_similarity_in_words():
    matrix = np.array([[1, 0.2, -0.7], [0.2, 1, 0.9], [-0.7, 0.9, 1]])
    assert similarity_chart(matrix).alt == (
        "Similarity of 3 heads, from −1 to 1. Most alike: heads 2 and 3 (0.90); least alike: heads 1 and 3 (−0.70)."
    )
    assert similarity_chart(np.array([[1, 0.25], [0.25, 1]])).alt.endswith("from −1 to 1. Heads 1 and 2: 0.25.")
    assert similarity_chart(np.ones((1, 1))).alt == "One head: there is no other to compare it with."
    matrix[0], matrix[:, 0] = np.nan, np.nan
    assert similarity_chart(matrix).alt.endswith("Heads 2 and 3: 0.90. Undefined for head 1.")
    assert similarity_chart(np.full((2, 2), np.nan)).alt.endswith("No pair of heads has a defined similarity.")


def test_loss_in_words():
    assert loss_chart([10, 20, 30], [3.0, 0.5, 0.75]).alt == (
        "Loss against step: from 3 at 10 to 0.75 at 30; the lowest is 0.5 at 20."
    )
    assert loss_chart([10, 20], [np.nan, 0.5]).alt == "Loss against step: 0.5 at 20."
    assert loss_chart([], []).alt == "Loss against step: nothing recorded yet."
