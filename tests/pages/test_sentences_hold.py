"""A sentence is said where it holds, and not where it does not: settings at which one of them did not."""

import pytest
from app_test import open_page, texts

SIXTEEN = {"enc_heads": 8, "enc_dim": 8, "dec_heads": 16, "dec_dim": 8}
EQUAL = SIXTEEN | {"dec_heads": 8}
BROKEN = SIXTEEN | {"kv": "direct"}
OFF = SIXTEEN | {"off": "cross.2.1"}
SWITCH = "Switch it on again on the page “Redundancy”, under “Take heads away”."
ONE_BY_ONE = "the decoder looks back at it at every step"


@pytest.mark.parametrize(
    ("page", "address", "holds", "does_not"),
    [
        ("shapes", {"demo": "tiled_kv"}, "with Gaussian vectors, without a model", "letters right with a trained"),
        ("shapes", {"demo": "unscaled_scores"}, "letters right with a trained model", "without a model"),
        ("shapes", EQUAL | {"dec_dim": 4, "kv": "direct"}, "under “Worse: silent failures”", "does stands at the end"),
        ("compare", {"compare": "sweep-dates-8-3-20"}, "as soon as there is a run", "What each model costs"),
        ("compare", {"compare": "fixes-dates-8-16-size-3-20"}, "the table says it", "as soon as there is a run"),
        ("wild", BROKEN, "It does not run", "shared by all 2 decoder layers"),
        ("wild", EQUAL | {"kv": "direct"}, "shared by all 2 decoder layers", "It does not run"),
        ("anchors", BROKEN, ONE_BY_ONE, "press play"),
        ("anchors", SIXTEEN, "press play.", "Nothing is predicted"),
        ("anchors", SIXTEEN, "32-bit numbers, 4 a number", "Nothing is predicted"),
        ("redundancy", OFF | {"part": "removal"}, "off (head 1 of cross-attention in layer 2) and", SWITCH),
        ("redundancy", OFF | {"part": "pairs"}, SWITCH, "Switch all on again"),
        ("", OFF, SWITCH, "Switch all on again"),
        ("", SIXTEEN | {"kv": "extra"}, "hatched in the small maps, left empty in the large one", "zeros (hatched)"),
        ("", {"text": "hello"}, "aligns another one with the letters", "No alignment is known"),
        ("", {"text": "knight"}, "the lexicon agrees", "aligns another one"),
    ],
)
def test_what_is_said_holds(page, address, holds, does_not):
    said = texts(open_page(page, **address))
    assert holds in said and does_not not in said


def test_what_is_said_of_charts_that_are_not_there_yet_is_said_once():
    assert texts(open_page("compare", compare="sweep-dates-8-3-20")).count("Nothing has been trained") == 1


@pytest.mark.parametrize("text", ["photographically", "qqx"])
def test_an_answer_that_is_not_right_has_no_alignment(text):
    assert "No alignment is known" in texts(open_page(text=text, **SIXTEEN))
