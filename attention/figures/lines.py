"""A few lines over whole numbers that stand at their true distances: layers, steps, heads taken away."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from attention.figures.colors import diverging, sequential
from attention.figures.layout import TEXT_SIZE, base_layout, figure, ink, is_dark, line_color
from attention.figures.text import literal

# Lines differ in dash and marker too, so that nobody has to tell the colours apart.
_DASHES, _SYMBOLS = ("solid", "dash", "dot"), ("circle", "square", "diamond")
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
    if not 1 <= len(y) <= len(_DASHES) or list(x) != list(y):
        raise ValueError(f"a chart needs 1 to {len(_DASHES)} lines with the same names, got {list(x)} and {list(y)}")
    colors = (sequential(is_dark(theme))[4], diverging(is_dark(theme))[1], ink(theme, faint=True))
    traces = []
    for (name, values), color, dash, symbol in zip(y.items(), colors, _DASHES, _SYMBOLS, strict=False):
        at, values = np.asarray(x[name], dtype=np.int32), np.asarray(values, dtype=np.float32)
        if at.shape != values.shape:
            raise ValueError(f"{name} has {values.size} values for {at.size} places")
        said = [
            f"{literal(name)}<br>{literal(x_title)} {i}: {v:.2f}"
            for i, v in zip(at.tolist(), values.tolist(), strict=True)
        ]
        if notes is not None:
            said = [f"{text}<br>{literal(note)}" for text, note in zip(said, notes[name], strict=True)]
        traces.append(
            {
                "type": "scatter",
                "x": at,
                "y": values,
                "name": literal(name),
                "mode": "lines+markers" if len(at) < MANY_POINTS else "lines",
                "line": {"color": color, "width": 2, "dash": dash},
                "marker": {"color": color, "size": 7, "symbol": symbol},
                "cliponaxis": False,
                "hovertext": said,
                "hoverinfo": "text",
            }
        )
    first = min((int(min(at)) for at in x.values() if len(at)), default=0)
    if last is None:
        last = max((int(max(at)) for at in x.values() if len(at)), default=1)
    pad = 0.25 if whole else 0.02 * max(last - first, 1)
    layout = base_layout(theme, title=None, height=height)
    layout["margin"] |= {"r": 20}
    layout["xaxis"] = _axis(x_title, theme) | {"range": [first - pad, last + pad], "showgrid": False}
    if whole:
        layout["xaxis"] |= {"tickvals": list(range(first, last + 1))}
    layout["yaxis"] = _axis(y_title, theme) | {"range": [bottom, top + 0.05 * (top - bottom)], "nticks": 6}
    if len(y) > 1:
        layout["showlegend"] = True
        layout["legend"] = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "bgcolor": "rgba(0,0,0,0)"}
    return figure(traces, layout)


def lines_alt(x: Mapping[str, Sequence[int]], y: Mapping[str, Sequence[float]], *, x_title: str, y_title: str) -> str:
    """Both axes, and where each line begins and ends."""
    parts = [f"{y_title} / {x_title}."]
    for name, values in y.items():
        points = [(at, value) for at, value in zip(x[name], values, strict=True) if value == value]
        if points:
            (first, begin), (last, end) = points[0], points[-1]
            parts.append(f"{name}: {begin:.2f} ({first}) → {end:.2f} ({last}).")
    return " ".join(parts)


def _axis(title: str, theme: str) -> dict:
    return {
        "type": "linear",
        "title": {"text": literal(title), "font": {"size": TEXT_SIZE, "color": ink(theme, faint=True)}, "standoff": 6},
        "gridcolor": line_color(theme),
        "zeroline": False,
        "autorange": False,
        "ticks": "",
        "ticklabelstandoff": 4,
        "fixedrange": True,
        "automargin": True,
    }
