"""Drift against the step, with the generated tokens as its labels."""

from collections.abc import Sequence

import numpy as np

from attention.figures.chart import Chart, chart
from attention.figures.layout import TEXT_SIZE, band, base_layout, number_axis, see_through
from attention.figures.numbers import Columns, line_points
from attention.figures.palette import palette
from attention.figures.text import literal, shorten, visible
from attention.figures.words import ENGLISH, FigureWords

Curve = tuple[str, np.ndarray]  # its name, and a value for each step; NaN leaves a gap


def drift_chart(
    tokens: Sequence[str],
    drift: Curve,
    control: Curve,
    movement: Curve | None = None,
    *,
    spread: np.ndarray | None = None,
    x_title: str,
    y_title: str,
    theme: str = "light",
    height: int = 280,
    words: FigureWords = ENGLISH,
) -> Chart:
    """Total variation (0…1) at each step: `drift` in rose, its `control` beside it, `movement` for scale.

    spread: (2, steps), the lowest and the highest head. The words say drift and control step by step.
    Raises ValueError if a curve has not a value for each token.
    """
    colors = palette(theme)
    curves = [("solid", colors.rose, drift), ("solid", colors.faint_ink, control)]
    if movement is not None:
        curves.append(("dot", colors.number, movement))
    for name, values in (curve for *_, curve in curves):
        if len(values) != len(tokens):
            raise ValueError(f"{name}: {len(values)} values for {len(tokens)} steps")
    steps = np.arange(1, len(tokens) + 1, dtype=np.int32)
    # In hovers, not as a category axis: equal tokens stay apart.
    shown = [literal(shorten(token)) for token in tokens]
    traces = []
    if spread is not None:
        low, high = np.asarray(spread, dtype=np.float32)
        known = ~np.isnan(low)  # steps without a value are left out
        traces.append(band(steps[known], low[known], high[known], see_through(colors.rose, 0.14)))
    traces += [_line(steps, values, shown, name, color, dash) for dash, color, (name, values) in curves]
    layout = base_layout(colors, title=None, height=height)
    layout["showlegend"] = True
    layout["legend"] = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": TEXT_SIZE}}
    tickfont = {"size": TEXT_SIZE, "color": colors.ink}
    ticks = {"tickmode": "array", "tickvals": steps.tolist(), "ticktext": shown, "range": [0.6, len(tokens) + 0.4]}
    layout["xaxis"] = number_axis(x_title, colors, tickfont=tickfont, showgrid=False, **ticks)
    layout["yaxis"] = number_axis(
        y_title, colors, tickfont=tickfont, range=[-0.03, 1.03], tickvals=[0, 0.25, 0.5, 0.75, 1]
    )
    lines = {name: (steps, values) for *_, (name, values) in curves}

    def numbers() -> Columns:
        columns = line_points(lines, x_title, y_title)
        return {"token": np.tile(np.array(tokens), len(lines)), **columns}

    return chart(traces, layout, f"{_alt(tokens, drift, words)} {_alt(tokens, control, words)}", numbers)


def _alt(tokens: Sequence[str], curve: Curve, words: FigureWords) -> str:
    name, values = curve
    points = ", ".join(f"{visible(token)} {words.number(value)}" for token, value in zip(tokens, values, strict=True))
    return words.points_alt.format(line=name, points=points)


def _line(steps, values, shown, name: str, color: str, dash: str) -> dict:
    return {
        "type": "scatter",
        "x": steps,
        "y": np.asarray(values, dtype=np.float32),
        "customdata": shown,
        "name": literal(name),
        "mode": "lines+markers",
        "line": {"color": color, "width": 2, "dash": dash},
        "marker": {"color": color, "size": 6},
        "hovertemplate": f"{literal(name)}<br>%{{customdata}} (%{{x}}): %{{y:.2f}}<extra></extra>",
    }
