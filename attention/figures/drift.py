"""Drift against the step, with the tokens said as its labels."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from attention.figures.colors import sequential
from attention.figures.layout import TEXT_SIZE, base_layout, figure, ink, is_dark, number_axis, see_through
from attention.figures.text import literal, shorten

ACCENT = {"light": "#a8400a", "dark": "#ffab66"}
Curve = tuple[str, np.ndarray]  # its name, and a value for each step; NaN leaves a gap


def drift_curve(
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
) -> go.Figure:
    """Total variation (0…1) at each step: `drift` in the accent colour, its `control` beside it, `movement` for scale.

    spread: (2, steps), the lowest and the highest head. Raises ValueError if a curve has not a value for each token.
    """
    curves = [("solid", ACCENT[theme], drift), ("solid", ink(theme, faint=True), control)]
    if movement is not None:
        curves.append(("dot", sequential(is_dark(theme))[4], movement))
    for name, values in (curve for *_, curve in curves):
        if len(values) != len(tokens):
            raise ValueError(f"{name}: {len(values)} values for {len(tokens)} steps")
    steps = np.arange(1, len(tokens) + 1, dtype=np.int32)
    # In hovers, not as a category axis: equal tokens stay apart.
    said = [literal(shorten(token)) for token in tokens]
    traces = [_band(steps, spread, ACCENT[theme])] if spread is not None else []
    traces += [_line(steps, values, said, name, color, dash) for dash, color, (name, values) in curves]
    layout = base_layout(theme, title=None, height=height)
    layout["showlegend"] = True
    layout["legend"] = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": TEXT_SIZE}}
    tickfont = {"size": TEXT_SIZE, "color": ink(theme)}
    ticks = {"tickmode": "array", "tickvals": steps.tolist(), "ticktext": said, "range": [0.6, len(tokens) + 0.4]}
    layout["xaxis"] = number_axis(x_title, theme, tickfont=tickfont, showgrid=False, **ticks)
    layout["yaxis"] = number_axis(
        y_title, theme, tickfont=tickfont, range=[-0.03, 1.03], tickvals=[0, 0.25, 0.5, 0.75, 1]
    )
    return figure(traces, layout)


def drift_alt(tokens: Sequence[str], drift: Curve, control: Curve, *, undefined: str) -> str:
    """The values of `drift` and `control`, step by step."""

    def listed(curve: Curve) -> str:
        name, values = curve
        cells = (f"{token} {undefined if np.isnan(v) else f'{v:.2f}'}" for token, v in zip(tokens, values, strict=True))
        return f"{name}: {', '.join(cells)}."

    return f"{listed(drift)} {listed(control)}"


def _line(steps, values, said, name: str, color: str, dash: str) -> dict:
    return {
        "type": "scatter",
        "x": steps,
        "y": np.asarray(values, dtype=np.float32),
        "customdata": said,
        "name": literal(name),
        "mode": "lines+markers",
        "line": {"color": color, "width": 2, "dash": dash},
        "marker": {"color": color, "size": 6},
        "hovertemplate": f"{literal(name)}<br>%{{customdata}} (%{{x}}): %{{y:.2f}}<extra></extra>",
    }


def _band(steps, spread: np.ndarray, color: str) -> dict:
    """Between the lowest and the highest head; steps without a value are left out."""
    low, high = np.asarray(spread, dtype=np.float32)
    known = ~np.isnan(low)
    return {
        "type": "scatter",
        "x": np.concatenate([steps[known], steps[known][::-1]]),
        "y": np.concatenate([low[known], high[known][::-1]]),
        "fill": "toself",
        "fillcolor": see_through(color, 0.14),
        "line": {"width": 0},
        "mode": "lines",
        "hoverinfo": "skip",
        "showlegend": False,
    }
