"""A few lines over whole numbers that stand at their true distances: layers, steps, heads taken away."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from attention.figures.colors import diverging, sequential
from attention.figures.layout import base_layout, figure, ink, is_dark, legend_above, number_axis
from attention.figures.text import literal

# Lines differ in dash and marker too, so that nobody has to tell the colours apart.
DASHES, SYMBOLS = ("solid", "dash", "dot"), ("circle", "square", "diamond")
MAX_LINES = len(DASHES)
MANY_POINTS = 30  # from here on without markers


def lines_chart(
    x: Mapping[str, Sequence[int]],
    y: Mapping[str, Sequence[float]],
    *,
    x_title: str,
    y_title: str,
    top: float,
    bottom: float = 0.0,
    notes: Mapping[str, Sequence[str]] | None = None,
    whole: bool = False,
    last: int | None = None,
    theme: str = "light",
    height: int = 300,
) -> go.Figure:
    """One to three named lines from `bottom` to `top`; a value that is NaN leaves a gap.

    x, y: for each line its whole numbers and as many values.  notes: a line of hover text for each point.
    whole: every whole number of the axis has a tick (for layers).
    last: where the x axis ends; by default with the data.
    Raises ValueError for no line or more than three, or lines that do not fit together.
    """
    if not 1 <= len(y) <= MAX_LINES or list(x) != list(y):
        raise ValueError(f"a chart needs 1 to {MAX_LINES} lines with the same names, got {list(x)} and {list(y)}")
    traces = []
    for number, (name, values) in enumerate(y.items()):
        at, values = np.asarray(x[name], dtype=np.int32), np.asarray(values, dtype=np.float32)
        if at.shape != values.shape:
            raise ValueError(f"{name} has {values.size} values for {at.size} places")
        said = hovers(name, x_title, at.tolist(), values)
        if notes is not None:
            said = [f"{text}<br>{literal(note)}" for text, note in zip(said, notes[name], strict=True)]
        mode = "lines+markers" if len(at) < MANY_POINTS else "lines"
        traces.append({**named_line(number, name, at, values, said, theme, marker_size=7), "mode": mode})
    first = min((int(min(at)) for at in x.values() if len(at)), default=0)
    if last is None:
        last = max((int(max(at)) for at in x.values() if len(at)), default=1)
    pad = 0.25 if whole else 0.02 * max(last - first, 1)
    layout = base_layout(theme, title=None, height=height)
    layout["margin"] |= {"r": 20}
    layout["xaxis"] = number_axis(x_title, theme, autorange=False, range=[first - pad, last + pad], showgrid=False)
    if whole:
        layout["xaxis"] |= {"tickvals": list(range(first, last + 1))}
    ends = [bottom, top + 0.05 * (top - bottom)]
    layout["yaxis"] = number_axis(y_title, theme, autorange=False, range=ends, nticks=6)
    if len(y) > 1:
        layout |= legend_above()
    return figure(traces, layout)


def named_line(number: int, name: str, x, y, hovertext: list[str], theme: str, marker_size: int) -> dict:
    """The line of this number (from 0) among the few of a chart."""
    color = (sequential(is_dark(theme))[4], diverging(is_dark(theme))[1], ink(theme, faint=True))[number]
    return {
        "type": "scatter",
        "x": x,
        "y": y,
        "name": literal(name),
        "mode": "lines+markers",
        "line": {"color": color, "width": 2, "dash": DASHES[number]},
        "marker": {"color": color, "size": marker_size, "symbol": SYMBOLS[number]},
        "cliponaxis": False,  # a marker at the edge is shown whole
        "hovertext": hovertext,
        "hoverinfo": "text",
    }


def hovers(name: str, x_title: str, x: Sequence[int], y: np.ndarray) -> list[str]:
    """What each point of a line says."""
    return [f"{literal(name)}<br>{literal(x_title)} {at}: {value:.2f}" for at, value in zip(x, y.tolist(), strict=True)]


def lines_alt(x: Mapping[str, Sequence[int]], y: Mapping[str, Sequence[float]], *, x_title: str, y_title: str) -> str:
    """Both axes, and where each line begins and ends."""
    parts = [f"{y_title} / {x_title}."]
    for name, values in y.items():
        points = [(at, value) for at, value in zip(x[name], values, strict=True) if value == value]
        if points:
            (first, begin), (last, end) = points[0], points[-1]
            parts.append(f"{name}: {begin:.2f} ({first}) → {end:.2f} ({last}).")
    return " ".join(parts)
