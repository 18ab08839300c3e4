"""Figures of experiments with several seeds: what is drawn is what was given."""

import numpy as np
import plotly.graph_objects as go
import pytest

from attention.figures import Chart, interval_chart, seed_curves_chart, seed_dots_chart

TITLES = {"name": "n", "x_title": "x", "y_title": "y"}


def checked(chart: Chart) -> go.Figure:
    """The figure, every property of it checked by plotly."""
    go.Figure(chart.figure.to_dict())
    return chart.figure


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_run_is_a_dot_and_the_bar_their_mean(theme):
    figure = checked(seed_dots_chart({"a": [0.5, 0.75], "b": [], "<b>c": [0.25]}, x_title="right", theme=theme))
    drawn = [(list(trace.x), list(trace.y)) for trace in figure.data]
    assert drawn == [([0.5, 0.75], [0, 0]), ([0.625], [0]), ([], []), ([0.25], [2]), ([0.25], [2])]
    assert list(figure.layout.yaxis.ticktext) == ["a", "b", "&lt;b&gt;c"]
    assert figure.layout.yaxis.range[0] > figure.layout.yaxis.range[1]  # the first group on top
    assert figure.data[0].hovertext == ("a, run 1: 50.0%", "a, run 2: 75.0%")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_band_from_lowest_to_highest_around_the_mean(theme):
    runs = np.array([[1.0, 2, np.nan], [3, 6, np.nan], [2, 1, np.nan]])
    figure = checked(seed_curves_chart([1, 2, 4], {"a": runs}, **TITLES, theme=theme, categories=True))
    band, line = figure.data
    np.testing.assert_array_equal(line.x, [0, 1])  # nothing where nobody has a value
    np.testing.assert_array_equal(line.y, [2, 3])
    np.testing.assert_array_equal(band.y, [3, 6, 1, 1])
    assert list(figure.layout.xaxis.ticktext) == ["1", "2", "4"]


def test_a_mark_stands_at_its_number():
    figure = checked(
        seed_curves_chart(
            [1, 2, 8],
            {"a": np.ones((1, 3))},
            name="n",
            x_title="x",
            y_title="y",
            categories=True,
            marked=8,
            mark="here",
        )
    )
    assert figure.layout.shapes[0].x0 == 2
    assert figure.layout.annotations[0].text == "here"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_only_intervals_that_leave_out_zero_are_in_colour(theme):
    given = {"a": (1.0, (0.5, 1.5), (-0.1, 2.1)), "b": (0.2, (-1, 1.4), (-2, 2)), "one seed": (0.3, None, None)}
    figure = checked(interval_chart(given, sentences=(), x_title="difference", theme=theme))
    lines = [trace for trace in figure.data if trace.mode == "lines"]
    assert [list(line.x) for line in lines] == [[-0.1, 2.1], [0.5, 1.5], [-2, 2], [-1, 1.4]]
    dots = [trace.marker.color for trace in figure.data if trace.mode == "markers"]
    assert dots[0] != dots[1] == dots[2]
    assert figure.layout.shapes[0].x0 == figure.layout.shapes[0].x1 == 0
    assert figure.layout.xaxis.range[0] < -2 and figure.layout.xaxis.range[1] > 2.1  # no line ends at the edge


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match="no groups"):
        seed_dots_chart({}, x_title="x")
    with pytest.raises(ValueError, match="no differences"):
        interval_chart({}, sentences=(), x_title="x")
    with pytest.raises(ValueError, match=r"a has values of shape \(2, 3\) for 2 positions"):
        seed_curves_chart([1, 2], {"a": np.ones((2, 3))}, **TITLES)


def test_the_alternative_texts_say_the_numbers():
    runs = {"a": np.array([[0.25, 0.5], [0.75, 1.0]]), "b": np.array([[np.nan, 0.5]])}
    assert seed_dots_chart({"a": [0.25, 0.5], "b": []}, x_title="right").alt == "right. a: 25\u00a0%, 50\u00a0%; b: –."
    assert seed_curves_chart([1, 2], runs, **TITLES).alt == "n. a: 50\u00a0% → 75\u00a0%; b: – → 50\u00a0%."
    chart = seed_curves_chart([4, 8], runs, **TITLES, categories=True)
    assert chart.alt == "n. a: 4: 0.50, 8: 0.75; b: 4: –, 8: 0.50."
    chart = interval_chart({"a": (1.0, None, None)}, sentences=["One.", "Two."], x_title="x")
    assert chart.alt == "One. Two."
