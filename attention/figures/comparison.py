"""A few lines over the same whole numbers, such as accuracy over head counts."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from attention.figures.layout import base_layout, figure, legend_above, mark_at, number_axis
from attention.figures.lines import MAX_LINES, hovers, named_line


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
    if not 1 <= len(lines) <= MAX_LINES:
        raise ValueError(f"a comparison needs 1 to {MAX_LINES} lines, got {len(lines)}")
    if marked is not None and marked not in x:
        raise ValueError(f"marked ({marked}) must be one of {', '.join(map(str, x))}")
    at, traces = np.arange(len(x), dtype=np.int16), []
    for number, (name, values) in enumerate(lines.items()):
        values = np.asarray(values, dtype=np.float32)
        if values.shape != (len(x),):
            raise ValueError(f"{name} has {values.size} values for {len(x)} numbers along the axis")
        traces.append(named_line(number, name, at, values, hovers(name, x_title, x, values), theme, marker_size=8))
    layout = base_layout(theme, title=title, height=height)
    ticks = {"tickvals": list(range(len(x))), "ticktext": [str(at) for at in x]}
    layout["xaxis"] = number_axis(x_title, theme, autorange=False, range=[-0.3, len(x) - 0.7], showgrid=False, **ticks)
    layout["yaxis"] = number_axis(y_title, theme, autorange=False, range=[0, 1.05], tickvals=[0, 0.25, 0.5, 0.75, 1])
    if len(lines) > 1:
        layout |= legend_above()
    if marked is not None:
        layout |= mark_at(x.index(marked), mark, theme)
    return figure(traces, layout)
