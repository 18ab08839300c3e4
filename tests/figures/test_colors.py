"""The colour scales: order, ends, and legibility."""

import re
from itertools import pairwise

import numpy as np
import pytest

from attention.figures import colors
from attention.figures.palette import DARK, LIGHT, THEMES

SEQUENTIAL = [LIGHT.sequential, DARK.sequential]
DIVERGING = [LIGHT.diverging, DARK.diverging]


def lightness(scale):
    return np.array([colors.luminance(color) for color in colors.table(scale)])


def test_sequential_scales_change_brightness_in_one_direction():
    light, dark = map(lightness, SEQUENTIAL)
    assert (np.diff(light) <= 0).all() and light[0] > 0.95 and light[-1] < 0.05
    assert (np.diff(dark) >= 0).all() and dark[0] < 0.01 and dark[-1] > 0.85


def test_diverging_scales_are_about_equally_strong_on_both_sides():
    for scale, sign in zip(DIVERGING, (-1, 1), strict=True):
        bright = lightness(scale)
        middle = len(bright) // 2
        assert (sign * np.diff(bright[: middle - 1]) <= 1e-3).all()
        assert (sign * np.diff(bright[middle + 1 :]) >= -1e-3).all()


@pytest.mark.parametrize("scale", SEQUENTIAL + DIVERGING)
def test_ends_are_the_anchors(scale):
    table = colors.table(scale)
    assert table.shape == (256, 3) and table.dtype == np.uint8
    for end, anchor in ((0, scale[0]), (-1, scale[-1])):
        assert "#{:02x}{:02x}{:02x}".format(*table[end]) == anchor


def test_the_middle_of_a_table_is_mixed_in_oklab():
    # By hand: OKLab of white is (1, 0, 0) and of black (0, 0, 0); lightness 1/2 is the grey of linear value 1/8.
    assert colors.table(("#000000", "#ffffff"), 3)[1].tolist() == [99, 99, 99]  # 255 · sRGB(0.125) = 99.2


@pytest.mark.parametrize("scale", SEQUENTIAL + DIVERGING)
def test_numbers_in_cells_are_legible(scale):
    table = colors.table(scale)
    for i in range(256):
        ink = tuple(bytes.fromhex(colors.text_color(scale, i / 255)[1:]))
        assert colors.contrast(ink, table[i]) >= 4.5


def test_contrast_of_black_on_white():
    assert colors.contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)


@pytest.mark.parametrize("scale", SEQUENTIAL + DIVERGING)
def test_plotly_colorscale_lies_on_the_same_curve(scale):
    stops = colors.plotly_colorscale(scale)
    assert stops[0][0] == 0 and stops[-1][0] == 1
    assert all(a[0] < b[0] for a, b in pairwise(stops))
    rgb = np.array([[int(part) for part in re.findall(r"\d+", color)] for _, color in stops])
    at = np.linspace(0, 1, 256)
    mixed = np.stack([np.interp(at, [place for place, _ in stops], rgb[:, i]) for i in range(3)], axis=1)
    assert np.abs(mixed - colors.table(scale)).max() <= 3


def test_a_table_of_one_colour_is_refused():
    with pytest.raises(ValueError, match="at least 2 entries, got 1"):
        colors.table(LIGHT.sequential, 1)


@pytest.mark.parametrize("theme", THEMES.values())
def test_every_series_stands_out_from_the_page(theme):
    assert min(colors.contrast(colors.rgb(color), colors.rgb(theme.page)) for color in theme.series) >= 3
    assert len(set(theme.series)) == 6
