import numpy as np
import pytest

from attention.figures import attention_alt, loss_alt, similarity_alt
from attention.figures.text import literal, number, shorten


@pytest.mark.parametrize(
    "text, shown",
    [
        ("<s>", "&lt;s&gt;"),
        ("&amp;", "&amp;amp;"),
        ("$$", "&#36;&#36;"),
        ("a b", "a b"),
        (" ", "␣"),
        ("  ", "␣␣"),
        ("", ""),
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
    assert number(value) == long
    assert number(value, leading_zero=False) == short


def test_attention_in_words():
    weights = np.array([[0.1, 0.9], [0.5, 0.5], [0, 0]])
    assert attention_alt(weights, ["n", "<s>", "x"], ["k", "n"]) == (
        "Attention map, rows × columns: 3 query (decoder) × 2 key (encoder). "
        "Strongest cell in each row: n → n (2) 0.90; <s> → no single key 0.50; x → no keys."
    )


def test_attention_in_words_ignores_what_may_not_be_attended():
    weights, allowed = np.array([[0.4, 0.6]]), np.array([[True, False]])
    assert attention_alt(weights, ["a"], ["x", "y"], allowed=allowed).endswith("a → x (1) 0.40.")


def test_attention_in_words_comes_to_an_end():
    labels = [str(i) for i in range(17)]
    text = attention_alt(np.eye(17), labels, labels)
    assert text.endswith("11 → 11 (12) 1.00; 5 more rows.")


def test_similarity_in_words():
    matrix = np.array([[1, 0.2, -0.7], [0.2, 1, 0.9], [-0.7, 0.9, 1]])
    assert similarity_alt(matrix) == (
        "Similarity of 3 heads, from −1 to 1. Most alike: heads 2 and 3 (0.90); least alike: heads 1 and 3 (−0.70)."
    )
    assert similarity_alt(np.array([[1, 0.25], [0.25, 1]])).endswith("from −1 to 1. Heads 1 and 2: 0.25.")
    assert similarity_alt(np.ones((1, 1))) == "One head: there is no other to compare it with."
    matrix[0], matrix[:, 0] = np.nan, np.nan
    assert similarity_alt(matrix).endswith("Heads 2 and 3: 0.90. Undefined for heads 1.")
    assert similarity_alt(np.full((2, 2), np.nan)).endswith("No pair of heads has a defined similarity.")


def test_loss_in_words():
    assert loss_alt([10, 20, 30], [3.0, 0.5, 0.75]) == (
        "Loss against step: from 3 at 10 to 0.75 at 30; the lowest is 0.5 at 20."
    )
    assert loss_alt([10, 20], [np.nan, 0.5]) == "Loss against step: 0.5 at 20."
    assert loss_alt([], []) == "Loss against step: nothing recorded yet."
