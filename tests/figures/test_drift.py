"""The chart of drift: the numbers given are the numbers drawn, and tokens stay apart."""

import numpy as np
import plotly.graph_objects as go
import pytest

from attention.figures import drift_chart

AXES = {"x_title": "token said", "y_title": "total variation"}
TOKENS = ["<b>t</b>", "1", "1"]
DRIFT, CONTROL = ("drift", np.array([0.25, np.nan, 1.0])), ("control", np.zeros(3))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_curves_have_the_numbers_and_plotly_accepts_them(theme):
    spread = np.array([[0.1, np.nan, 0.9], [0.5, np.nan, 1.0]])
    chart = drift_chart(TOKENS, DRIFT, CONTROL, ("movement", np.ones(3)), spread=spread, theme=theme, **AXES).figure
    go.Figure(chart.to_dict())  # with the check of every property
    band, drift, control, movement = chart.data
    np.testing.assert_allclose(drift.y, DRIFT[1])
    assert list(control.y) == [0, 0, 0] and list(movement.y) == [1, 1, 1]
    np.testing.assert_allclose(band.y, [0.1, 0.9, 1.0, 0.5])
    assert list(chart.layout.xaxis.tickvals) == [1, 2, 3]  # equal tokens stay apart
    assert "<b>" not in chart.layout.xaxis.ticktext[0]


def test_curves_of_another_length_are_refused():
    with pytest.raises(ValueError, match="control: 2 values for 3 steps"):
        drift_chart(TOKENS, DRIFT, ("control", np.zeros(2)), **AXES)


def test_the_alternative_text_says_the_numbers():
    text = drift_chart(["n", "aɪ", "t"], DRIFT, CONTROL, **AXES).alt
    assert text == "drift: n 0.25, aɪ undefined, t 1.00. control: n 0.00, aɪ 0.00, t 0.00."
