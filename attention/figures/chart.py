"""A figure together with what it shows in words and in numbers."""

from contextlib import suppress
from dataclasses import dataclass

import plotly.graph_objects as go

from attention.figures.numbers import Numbers


@dataclass(frozen=True)
class Chart:
    """A plotly figure, its text alternative for somebody who cannot see it (plain text, not escaped), and its numbers.

    `numbers()` gives them as columns of a table.
    """

    figure: go.Figure
    alt: str
    numbers: Numbers


def chart(traces: list[dict], layout: dict, alt: str, numbers: Numbers) -> Chart:
    """The chart made of these parts.

    plotly's check of every property takes three quarters of the time it needs for a figure, and these dictionaries
    are ours, not a visitor's. The tests run the check on each kind of figure instead.
    """
    # plotly takes pandas as it finds it among the loaded modules, also half loaded by another thread. Here rather than
    # at the top: charts come after the grid of heads, which need not wait for it.
    with suppress(ImportError):
        import pandas  # noqa: F401
    return Chart(go.Figure({"data": traces, "layout": layout}, _validate=False), alt, numbers)
