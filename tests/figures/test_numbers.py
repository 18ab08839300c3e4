"""What each kind of chart gives as numbers is what was handed in, under names, one row for each cell or point."""

import numpy as np

from attention.figures import (
    attention_chart,
    comparison_chart,
    difference_chart,
    drift_chart,
    head_counts_chart,
    interval_chart,
    lines_chart,
    loss_chart,
    pairs_chart,
    seed_curves_chart,
    seed_dots_chart,
    similarity_chart,
)

AXES = {"row_title": "query", "col_title": "key"}
TITLES = {"x_title": "heads", "y_title": "accuracy"}


def rows(chart) -> list[tuple]:
    columns = [np.asarray(column).tolist() for column in chart.numbers().values()]
    return list(zip(*columns, strict=True))


def test_a_map_is_told_cell_by_cell_in_its_own_tokens():
    weights, allowed = np.array([[1.0, 0.0], [0.25, 0.75]]), np.array([[True, False], [True, True]])
    told = rows(attention_chart(weights, ["a", "a"], ["x", "<s>"], allowed=allowed, **AXES))
    assert told[0] == (1, "a", 1, "x", True, 1.0)
    assert told[1][:5] == (1, "a", 2, "<s>", False) and np.isnan(told[1][5])
    assert told[2:] == [(2, "a", 1, "x", True, 0.25), (2, "a", 2, "<s>", True, 0.75)]
    difference = difference_chart(weights, 1 - weights, ["a", "b"], ["x", "y"], allowed=allowed | True, **AXES)
    assert [row[-1] for row in rows(difference)] == [1.0, -1.0, -0.5, 0.5]


def test_a_square_is_told_pair_by_pair_in_the_order_of_the_heads():
    square = np.array([[1.0, 0.5], [0.25, 1.0]])
    wanted = [(1, 1, 1.0), (1, 2, 0.5), (2, 1, 0.25), (2, 2, 1.0)]
    assert rows(similarity_chart(square)) == wanted
    assert rows(pairs_chart(square, low=0, high=1, alike=1, measure="m", order=[1, 0])) == wanted


def test_lines_are_told_point_by_point_under_the_titles_of_their_axes():
    lines = lines_chart({"a": [1, 2], "b": [4]}, {"a": [0.1, 0.2], "b": [0.4]}, top=1, **TITLES)
    assert list(lines.numbers()) == ["line", "heads", "accuracy"]
    assert rows(lines) == [("a", 1, 0.1), ("a", 2, 0.2), ("b", 4, 0.4)]
    assert rows(comparison_chart([2, 4], {"a": [0.1, 0.2]}, **TITLES)) == [("a", 2, 0.1), ("a", 4, 0.2)]
    assert rows(loss_chart([1, 5], [0.5, 0.25])) == [("loss", 1, 0.5), ("loss", 5, 0.25)]
    same = lines_chart({"a": [1]}, {"a": [0.5]}, top=1, x_title="heads", y_title="heads")
    assert rows(same) == [("a", 1, 0.5)] and len(same.numbers()) == 3


def test_drift_is_told_with_its_tokens():
    told = rows(drift_chart(["t", "t"], ("drift", [0.1, 0.2]), ("control", [0.0, 0.5]), x_title="step", y_title="TV"))
    assert told == [("t", "drift", 1, 0.1), ("t", "drift", 2, 0.2), ("t", "control", 1, 0.0), ("t", "control", 2, 0.5)]


def test_experiments_are_told_run_by_run():
    dots = seed_dots_chart({"a": [0.5, 0.75], "b": [], "c": [1.0]}, x_title="right")
    assert rows(dots) == [("a", 1, 0.5), ("a", 2, 0.75), ("c", 1, 1.0)]
    curves = seed_curves_chart([1, 2], {"a": np.array([[0.1, 0.2], [0.3, 0.4]])}, name="n", **TITLES)
    assert rows(curves) == [("a", 1, 1, 0.1), ("a", 1, 2, 0.2), ("a", 2, 1, 0.3), ("a", 2, 2, 0.4)]
    told = rows(interval_chart({"a": (0.5, (0.25, 0.75), None)}, sentences=[""], x_title="x"))
    assert told[0][:4] == ("a", 0.5, 0.25, 0.75) and np.isnan(told[0][4:]).all()


def test_published_models_are_told_one_by_one():
    models = [("one", 8, 16), ("two", 8, 16)]
    assert rows(head_counts_chart(models)) == models
