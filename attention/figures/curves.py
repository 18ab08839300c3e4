"""Curves over the steps of a training."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from attention.figures.colors import sequential
from attention.figures.layout import base_layout, figure, is_dark, number_axis
from attention.figures.text import literal
from attention.figures.words import ENGLISH, FigureWords


def loss_curve(
    steps: Sequence[int] | np.ndarray,
    losses: Sequence[float] | np.ndarray,
    *,
    num_steps: int | None = None,
    theme: str = "light",
    title: str | None = None,
    height: int = 260,
    words: FigureWords = ENGLISH,
) -> go.Figure:
    """The loss against the step. No points give empty axes; a loss that is not finite leaves a gap.

    steps, losses: equally long.  num_steps: the length of the whole training; the axis then keeps its end from
    the first moment, so that the curve grows instead of being squeezed. Raises ValueError if the lengths differ.
    """
    steps, losses = np.asarray(steps, dtype=np.int32), np.asarray(losses, dtype=np.float32)
    if steps.ndim != 1 or steps.shape != losses.shape:
        raise ValueError(f"{steps.size} steps for {losses.size} losses")
    color = sequential(is_dark(theme))[4]  # the accent: a middle tone, clear of the background in both themes
    step, loss = literal(words.step), literal(words.loss)
    trace = {
        "type": "scatter",
        "x": steps,
        "y": np.where(np.isfinite(losses), losses, np.nan),
        "mode": "lines" if len(steps) > 30 else "lines+markers",  # a single point has no line
        "line": {"color": color, "width": 2},
        "marker": {"color": color, "size": 5},
        "hovertemplate": f"{step} %{{x:d}}<br>{loss} %{{y:.3f}}<extra></extra>",
    }
    layout = base_layout(theme, title=title, height=height)
    layout["hovermode"] = "closest"
    layout["margin"] |= {"r": 20}  # plotly leaves out a last tick label that would be cut off
    layout["xaxis"] = number_axis(words.step, theme, rangemode="tozero", nticks=6)
    layout["yaxis"] = number_axis(words.loss, theme, rangemode="tozero", nticks=6)
    if num_steps is not None:
        layout["xaxis"] |= {"range": [0, num_steps], "autorange": False}
    return figure([trace], layout)
