"""Charts of pairs of heads and of lines: what they hold, in which order, and what they refuse."""

import numpy as np
import plotly.graph_objects as go
import pytest

from attention.figures import difference_chart, lines_chart, pairs_chart

VALUES = np.array([[1.0, -0.5, np.nan], [-0.5, 1.0, 0.25], [np.nan, 0.25, 1.0]])
COSINE = {"low": -1.0, "high": 1.0, "alike": 1.0, "measure": "cosine"}


def valid(chart):
    """The figure, after plotly has checked each of its properties."""
    go.Figure(chart.figure.to_dict())
    return chart.figure


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pairs_stand_in_the_order_that_is_asked_for(theme):
    figure = valid(pairs_chart(VALUES, **COSINE, order=[2, 0, 1], selected=(0, 1), theme=theme))
    np.testing.assert_array_equal(figure.data[0].z, VALUES[np.ix_([2, 0, 1], [2, 0, 1])].astype(np.float32))
    assert list(figure.layout.xaxis.ticktext) == ["3", "1", "2"]
    targets = figure.data[-1]
    assert (targets.x[1], targets.y[1]) == (1, 0) and list(targets.customdata[1]) == [2, 0]
    assert "3" in targets.hovertext[1] and "undefined" in targets.hovertext[1]
    assert {(shape.x0, shape.y0) for shape in figure.layout.shapes} == {(0.5, 1.5), (1.5, 0.5)}


def test_strong_blue_means_alike_whichever_way_a_measure_points():
    def colors(alike):
        figure = pairs_chart(VALUES, low=0.0, high=1.0, alike=alike, measure="m").figure
        return [color for _, color in figure.data[0].colorscale]

    assert colors(0.0) == colors(1.0)[::-1]


@pytest.mark.parametrize("values, order", [(np.zeros((2, 3)), None), (VALUES, [0, 0, 1]), (VALUES, [0, 1])])
def test_what_is_no_map_of_pairs_is_refused(values, order):
    with pytest.raises(ValueError):
        pairs_chart(values, **COSINE, order=order)


def test_a_difference_is_blank_where_nobody_may_look():
    allowed = np.array([[True, False], [True, True]])
    first, second = np.array([[0.75, 0.25], [0.0, 1.0]]), np.array([[0.25, 0.25], [0.25, 0.75]])
    labels = {"row_title": "query", "col_title": "key"}
    figure = valid(difference_chart(first, second, ["<b>", "b"], ["c", "d"], allowed=allowed, **labels))
    np.testing.assert_array_equal(np.isnan(figure.data[0].z), ~allowed)
    assert (figure.data[0].zmin, figure.data[0].zmax) == (-1, 1)
    assert "&lt;b&gt;" in figure.data[0].hovertext[0][0]
    with pytest.raises(ValueError, match="1 row labels for 2 rows"):
        difference_chart(first, second, ["a"], ["c", "d"], allowed=allowed, **labels)


def test_lines_of_unlike_length_share_their_axes():
    x, y = {"a": [1, 2, 3], "b": [1]}, {"a": [1.0, np.nan, 3.0], "b": [2.0]}
    titles = {"x_title": "layer", "y_title": "heads"}
    figure = valid(lines_chart(x, y, top=4.0, whole=True, **titles))
    assert list(figure.layout.xaxis.tickvals) == [1, 2, 3]
    assert figure.layout.yaxis.range == pytest.approx((0, 4.2))
    assert len({trace.line.dash for trace in figure.data}) == 2
    assert lines_chart(x, y, top=4.0, **titles).alt == "heads / layer. a: 1.00 (1) → 3.00 (3). b: 2.00 (1) → 2.00 (1)."


def test_a_place_of_a_line_is_marked_on_it():
    x, y = {"a": [0, 1, 2], "b": [0, 1]}, {"a": [1.0, 0.75, 0.25], "b": [1.0, 0.5]}
    chart = lines_chart(x, y, x_title="gone", y_title="right", top=1.0, marks={"b": (1, "1 <b>")})
    *lines, mark = valid(chart).data
    assert len(lines) == 2 and (list(mark.x), list(mark.y)) == ([1], [0.5])
    assert mark.marker.color == lines[1].line.color and (mark.text[0], "<b>" in mark.hovertext[0]) == ("1", False)
    assert chart.alt.endswith("b: 1 <b>.")


@pytest.mark.parametrize("x, y", [({}, {}), ({"a": [1]}, {"b": [1.0]}), ({"a": [1, 2]}, {"a": [1.0]})])
def test_lines_that_do_not_fit_are_refused(x, y):
    with pytest.raises(ValueError):
        lines_chart(x, y, x_title="x", y_title="y", top=1.0)
