"""Colours as people see them who lack one kind of cone: steps of each scale, and lines of a chart, are told apart."""

from itertools import combinations

import numpy as np
import pytest
from colour_blind import LACKING, seen, steps

from attention.figures import colors
from attention.figures.palette import THEMES

JUST_NOTICED = 2.3  # ΔE


@pytest.mark.parametrize("lacking", LACKING)
@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", ["sequential", "diverging"])
def test_tenths_of_a_scale_are_told_from_their_neighbours(theme, name, lacking):
    scale = getattr(THEMES[theme], name)
    assert steps(colors.table(scale, 11), lacking).min() > 3 * JUST_NOTICED


@pytest.mark.parametrize("lacking", LACKING)
@pytest.mark.parametrize("theme", THEMES)
def test_both_sides_of_a_diverging_scale_are_told_apart(theme, lacking):
    lab = seen(colors.table(THEMES[theme].diverging, 11), lacking)
    distances = [np.linalg.norm(lab[place] - lab[-1 - place]) for place in range(5)]
    assert min(distances) > 4 * JUST_NOTICED


@pytest.mark.parametrize("lacking", LACKING)
@pytest.mark.parametrize("theme", THEMES)
def test_lines_of_a_chart_are_told_apart(theme, lacking):
    """They differ in dash and mark as well."""
    lab = seen(np.array([colors.rgb(color) for color in THEMES[theme].series]), lacking)
    assert min(np.linalg.norm(first - second) for first, second in combinations(lab, 2)) > 4 * JUST_NOTICED


@pytest.mark.parametrize("lacking", LACKING)
@pytest.mark.parametrize("theme", THEMES)
def test_blue_and_rose_are_opposites_for_everybody(theme, lacking):
    blue, rose = seen(np.array([colors.rgb(THEMES[theme].blue), colors.rgb(THEMES[theme].rose)]), lacking)
    assert np.linalg.norm(blue - rose) > 4 * JUST_NOTICED


def test_the_simulation_keeps_greys_and_loses_what_is_known_to_be_lost():
    """Grey stays grey; without green cones this red and this green look alike, without blue ones they do not."""
    greys = np.repeat(np.linspace(0, 255, 6)[:, None], 3, axis=1)
    for lacking in LACKING:
        np.testing.assert_allclose(seen(greys, lacking)[:, 1:], 0, atol=1)
    red_green = np.array([[192, 64, 64], [128, 112, 64]])
    apart = {lacking: steps(red_green, lacking)[0] for lacking in LACKING}
    assert apart["green (deuteranopia)"] < 0.35 * apart["none"] < apart["blue (tritanopia)"]
