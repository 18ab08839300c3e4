"""The pictures on the sheet: as many bars as values, below 0 downwards, and words only where they have room."""

import re
from base64 import b64decode
from xml.etree import ElementTree

import pytest

from pages.lesson.bars import LABELLED, Bars, picture

SVG = "{http://www.w3.org/2000/svg}"


def drawn(bars: Bars) -> ElementTree.Element:
    return ElementTree.fromstring(b64decode(re.search(r"base64,([^\"]+)", picture(bars))[1]))


def test_bars_are_as_tall_as_their_values_and_stand_or_hang_on_one_line():
    root = drawn(Bars("", (2.0, -1.0), ("a", "<b>"), str))
    up, down = ([float(one.get(name)) for name in ("y", "height")] for one in root.iter(f"{SVG}rect"))
    assert up[1] == pytest.approx(2 * down[1], abs=0.2)
    assert sum(up) == pytest.approx(down[0], abs=0.2)
    assert [one.text for one in root.iter(f"{SVG}text")] == ["2.0", "a", "-1.0", "<b>"]


def test_many_bars_have_no_words_and_stay_on_the_page():
    root = drawn(Bars("", tuple(map(float, range(81))), tuple(map(str, range(81)))))
    assert len(list(root.iter(f"{SVG}rect"))) == 81 > LABELLED
    assert not list(root.iter(f"{SVG}text"))
    assert float(root.get("width")) <= 704  # 46rem of 16 px, less its padding


def test_a_picture_of_nothing_but_zeros_and_its_caption_as_typed():
    assert "<figcaption>of &lt;k&gt;</figcaption>" in picture(Bars("of <k>", (0.0, 0.0)))
