"""A few lines over the same whole numbers, such as accuracy over head counts."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from attention.figures.colors import diverging, sequential
from attention.figures.layout import TEXT_SIZE, base_layout, figure, ink, is_dark, line_color
from attention.figures.text import literal

# Lines differ in dash and marker too, so that nobody has to tell the colours apart.
_DASHES, _SYMBOLS = ("solid", "dash", "dot"), ("circle", "square", "diamond")


def comparison_chart(
    x: Sequence[int],
    lines: Mapping[str, Sequence[float] | np.ndarray],
    *,
    x_title: str,
    y_title: str,
    marked: int | None = None,
    mark: str = "",
    theme: str = "light",
    title: str | None = None,
    height: int = 280,
) -> go.Figure:
    """One to three lines of values from 0 to 1; a value that is NaN leaves a gap.

    x: whole numbers, drawn at equal distances, as numbers that double ask for.  lines: name and values, one for each x.
    marked: an x with a vertical line that says `mark`. More than one line is named above the chart.
    Raises ValueError for no line or more than three, for values that do not fit x, or a mark that is none of x.
    """
    x = [int(at) for at in x]
    if not 1 <= len(lines) <= len(_DASHES):
        raise ValueError(f"a comparison needs 1 to {len(_DASHES)} lines, got {len(lines)}")
    if marked is not None and marked not in x:
        raise ValueError(f"marked ({marked}) must be one of {', '.join(map(str, x))}")
    colors = (sequential(is_dark(theme))[4], diverging(is_dark(theme))[1], ink(theme, faint=True))
    traces = []
    for (name, values), color, dash, symbol in zip(lines.items(), colors, _DASHES, _SYMBOLS, strict=False):
        values = np.asarray(values, dtype=np.float32)
        if values.shape != (len(x),):
            raise ValueError(f"{name} has {values.size} values for {len(x)} numbers along the axis")
        traces.append(
            {
                "type": "scatter",
                "x": np.arange(len(x), dtype=np.int16),
                "y": values,
                "name": literal(name),
                "mode": "lines+markers",
                "line": {"color": color, "width": 2, "dash": dash},
                "marker": {"color": color, "size": 8, "symbol": symbol},
                "cliponaxis": False,  # a marker at 1 is shown whole
                "hovertext": [
                    f"{literal(name)}<br>{literal(x_title)} {at}: {y:.2f}"
                    for at, y in zip(x, values.tolist(), strict=True)
                ],
                "hoverinfo": "text",
            }
        )
    layout = base_layout(theme, title=title, height=height)
    layout["xaxis"] = _axis(x_title, theme) | {
        "range": [-0.3, len(x) - 0.7],
        "tickvals": list(range(len(x))),
        "ticktext": [str(at) for at in x],
        "showgrid": False,
    }
    layout["yaxis"] = _axis(y_title, theme) | {"range": [0, 1.05], "tickvals": [0, 0.25, 0.5, 0.75, 1]}
    if len(lines) > 1:
        layout["showlegend"] = True
        layout["legend"] = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "bgcolor": "rgba(0,0,0,0)"}
    if marked is not None:
        layout |= _mark(x.index(marked), mark, theme)
    return figure(traces, layout)


def _mark(position: int, text: str, theme: str) -> dict:
    """A dotted line from bottom to top, and what it means beside its foot, where the lines seldom are."""
    line = {"color": ink(theme, faint=True), "width": 1, "dash": "dot"}
    return {
        "shapes": [{"type": "line", "x0": position, "x1": position, "yref": "paper", "y0": 0, "y1": 1, "line": line}],
        "annotations": [
            {
                "x": position,
                "y": 0.02,
                "yref": "paper",
                "yanchor": "bottom",
                "xanchor": "left",
                "xshift": 4,
                "text": literal(text),
                "showarrow": False,
                "font": {"size": TEXT_SIZE, "color": ink(theme, faint=True)},
            }
        ],
    }


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
