"""Lines over whole numbers: what is drawn, what is said, what is refused."""

import numpy as np
import pytest

from attention.figures import comparison_chart

HEADS = (1, 4, 8, 64)
TITLES = {"x_title": "heads", "y_title": "letters right"}


def test_numbers_that_double_lie_at_equal_distances():
    fig = comparison_chart(HEADS, {"loaded": [0.25, 0.5, 1, 0.125]}, **TITLES).figure
    np.testing.assert_array_equal(fig.data[0].x, [0, 1, 2, 3])
    np.testing.assert_array_equal(fig.data[0].y, [0.25, 0.5, 1, 0.125])
    assert list(fig.layout.xaxis.tickvals) == [0, 1, 2, 3]
    assert list(fig.layout.xaxis.ticktext) == ["1", "4", "8", "64"]
    assert fig.layout.yaxis.range[0] == 0 and fig.layout.yaxis.range[1] > 1
    assert list(fig.data[0].hovertext)[3] == "loaded<br>heads 64: 0.12"
    assert fig.layout.showlegend is False  # a single line needs no name


def test_lines_can_be_told_apart_without_colours():
    fig = comparison_chart((1, 2), {"<b>": [0, 1], "two": [1, 0], "three": [1, 1]}, **TITLES).figure
    assert fig.layout.showlegend is True
    assert [trace.name for trace in fig.data] == ["&lt;b&gt;", "two", "three"]
    assert len({trace.line.dash for trace in fig.data}) == len({trace.marker.symbol for trace in fig.data}) == 3


def test_the_mark_stands_at_its_number():
    fig = comparison_chart(HEADS, {"loaded": [0, 0, 1, 0]}, **TITLES, marked=8, mark="trained so").figure
    assert fig.layout.shapes[0].x0 == fig.layout.shapes[0].x1 == fig.layout.annotations[0].x == 2
    assert fig.layout.annotations[0].text == "trained so"


def test_the_alternative_text_names_every_point():
    lines = {"with": [0.85, 1], "without": [0.62, np.nan]}
    text = comparison_chart((4, 8), lines, **TITLES, marked=8, mark="trained so").alt
    assert text == (
        "letters right against heads. with: 4 → 0.85, 8 → 1.00. without: 4 → 0.62, 8 → undefined. "
        "Marked: heads 8, trained so."
    )


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="a has 3 values for 2 numbers"):
        comparison_chart((1, 2), {"a": [0, 0, 0]}, **TITLES)
    with pytest.raises(ValueError, match=r"marked \(3\) must be one of 1, 2"):
        comparison_chart((1, 2), {"a": [0, 0]}, **TITLES, marked=3)
    with pytest.raises(ValueError, match="1 to 3 lines, got 4"):
        comparison_chart((1,), {name: [0] for name in "abcd"}, **TITLES)
    with pytest.raises(ValueError, match="got 0"):
        comparison_chart((1,), {}, **TITLES)
