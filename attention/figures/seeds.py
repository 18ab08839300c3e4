"""Experiments with several seeds: every run a dot, curves with their spread, differences with their intervals."""

from collections.abc import Mapping, Sequence
from itertools import cycle, islice

import numpy as np
import plotly.graph_objects as go

from attention.figures.layout import (
    TEXT_SIZE,
    base_layout,
    figure,
    ink,
    is_dark,
    legend_above,
    line_color,
    mark_at,
    number_axis,
    see_through,
)
from attention.figures.text import literal

# Told apart with any kind of colour blindness (after Okabe and Ito 2008), at least 3 : 1 against the page; lines differ
# in dash and marker too. The first two are for controls and stay grey.
LIGHT = ("#5a6170", "#8a909c", "#0a62a6", "#c05600", "#00795a", "#9c3f80")
DARK = ("#b8bfca", "#868e9b", "#62b6ee", "#f0a04b", "#3fc39d", "#e08fc4")
DASHES = ("dash", "dot", "solid", "dashdot", "longdash", "solid")
SYMBOLS = ("circle-open", "square-open", "circle", "square", "diamond", "triangle-up")

Interval = tuple[float, float]


def palette(theme: str) -> tuple[str, ...]:
    """One colour per series, the two greys of the controls first."""
    return DARK if is_dark(theme) else LIGHT


def seed_dots(
    groups: Mapping[str, Sequence[float]],
    *,
    x_title: str,
    hover: str = "{name}, run {run}: {value:.1%}",
    theme: str = "light",
    height: int | None = None,
) -> go.Figure:
    """A line of dots per group, one dot per run, and a bar at the mean; the first group is at the top.

    groups: name and one value per run, a share of 1; a group without runs keeps its line. Raises ValueError for none.
    """
    if not groups:
        raise ValueError("there are no groups to draw")
    traces = []
    for place, ((name, values), color) in enumerate(zip(groups.items(), cycle(palette(theme)), strict=False)):
        values = np.asarray(values, dtype=np.float32)
        texts = [
            literal(hover.format(name=name, run=run, value=value)) for run, value in enumerate(values.tolist(), start=1)
        ]
        dots = {"color": color, "size": 10, "opacity": 0.75, "line": {"width": 0}}
        traces.append(_markers(values, np.full(len(values), place), dots, texts))
        if len(values):
            bar = {"color": ink(theme), "size": 26, "symbol": "line-ns", "line": {"width": 3, "color": ink(theme)}}
            traces.append(_markers([values.mean()], [place], bar, None))
    layout = base_layout(theme, title=None, height=height or 90 + 44 * len(groups))
    layout["xaxis"] = number_axis(x_title, theme) | {"tickformat": ".0%", "nticks": 5}
    different = {round(float(value), 6) for values in groups.values() for value in values}
    if len(different) == 1:  # of a single value plotly would make an axis that goes below nothing
        layout["xaxis"] |= {"range": [-0.02, 1.02], "autorange": False}
    layout["yaxis"] = _names(list(groups), theme)
    layout["margin"] |= {"r": 24}
    return figure(traces, layout)


def seed_curves(
    x: Sequence[float],
    groups: Mapping[str, np.ndarray],
    *,
    x_title: str,
    y_title: str,
    theme: str = "light",
    height: int = 340,
    categories: bool = False,
    marked: int | None = None,
    mark: str = "",
    share: bool = False,
    first: int = 0,
) -> go.Figure:
    """A line of means per group, in a band from the lowest to the highest run.

    x: positions along the axis.  groups: name and (runs, len(x)) values; NaN leaves a gap.
    categories: draw x at equal distances, as numbers that double ask for.  marked, mark: an x with a dotted line, and
    what it says.  share: the values are shares of 1.  first: the style of the first group, 2 where none is a control.
    Raises ValueError for values that do not fit x.
    """
    at = np.arange(len(x), dtype=np.float32) if categories else np.asarray(x, dtype=np.float32)
    bands, lines = [], []
    styles = islice(cycle(zip(palette(theme), DASHES, SYMBOLS, strict=True)), first, None)
    for (name, runs), (color, dash, symbol) in zip(groups.items(), styles, strict=False):
        runs = np.asarray(runs, dtype=np.float32)
        if runs.ndim != 2 or runs.shape[1] != len(x):
            raise ValueError(f"{name} has values of shape {runs.shape} for {len(x)} positions")
        there = ~np.isnan(runs).all(axis=0)
        if not there.any():
            continue
        seen, here = runs[:, there], at[there]
        low, mean, high = np.nanmin(seen, axis=0), np.nanmean(seen, axis=0), np.nanmax(seen, axis=0)
        bands.append(
            {
                "type": "scatter",
                "x": np.concatenate([here, here[::-1]]),
                "y": np.concatenate([high, low[::-1]]),
                "fill": "toself",
                "fillcolor": see_through(color, 0.16),
                "line": {"width": 0},
                "mode": "lines",
                "hoverinfo": "skip",
                "showlegend": False,
            }
        )
        number = "%{y:.1%}" if share else "%{y:.3g}"
        lines.append(
            {
                "type": "scatter",
                "x": here,
                "y": mean,
                "name": literal(name),
                "mode": "lines+markers" if categories else "lines",
                "line": {"color": color, "width": 2.5, "dash": dash},
                "marker": {"color": color, "size": 8, "symbol": symbol},
                "cliponaxis": False,
                "hovertemplate": f"{literal(name)}<br>{number}<extra></extra>",
            }
        )
    layout = base_layout(theme, title=None, height=height)
    layout["xaxis"] = number_axis(x_title, theme)
    layout["yaxis"] = number_axis(y_title, theme) | ({"tickformat": ".0%"} if share else {})
    layout["margin"] |= {"r": 20}
    if categories:
        layout["xaxis"] |= {"tickvals": list(range(len(x))), "ticktext": [f"{value:g}" for value in x]}
        layout["xaxis"] |= {"range": [-0.3, len(x) - 0.7], "autorange": False, "showgrid": False}
    if marked is not None:
        layout |= mark_at(list(x).index(marked) if categories else marked, mark, theme)
    if len(lines) > 1:
        layout |= legend_above(itemclick=False, itemdoubleclick=False)
    return figure([*bands, *lines], layout)


def interval_chart(
    differences: Mapping[str, tuple[float, Interval | None, Interval | None]],
    *,
    x_title: str,
    theme: str = "light",
    height: int | None = None,
) -> go.Figure:
    """Differences with their intervals around a line at 0; the first is at the top.

    differences: name and (mean, interval, wider interval); an interval that is None is not drawn. One that leaves out
    0 is drawn in full colour, the others in grey. Raises ValueError for none.
    """
    if not differences:
        raise ValueError("there are no differences to draw")
    traces = []
    for place, (name, (mean, narrow, wide)) in enumerate(differences.items()):
        seen = narrow is not None and not narrow[0] <= 0 <= narrow[1]
        color = palette(theme)[2] if seen else palette(theme)[0]
        for interval, width, alpha in ((wide, 3, 0.45), (narrow, 8, 1.0)):
            if interval is not None:
                line = {"width": width, "color": see_through(color, alpha)}
                traces.append({"type": "scatter", "x": list(interval), "y": [place] * 2, "mode": "lines", "line": line})
                traces[-1] |= {"hoverinfo": "skip"}
        dot = {"color": color, "size": 14, "line": {"width": 2, "color": ink("dark" if is_dark(theme) else "light")}}
        said = f"{literal(name)}: {mean:+.2g}".replace("-", "−")
        traces.append(_markers([mean], [place], dot, [said]))
    layout = base_layout(theme, title=None, height=height or 80 + 44 * len(differences))
    ends = [end for mean, *intervals in differences.values() for pair in intervals if pair for end in pair]
    ends += [0.0, *(mean for mean, *_ in differences.values())]
    room = 0.04 * (max(ends) - min(ends) or 1.0)  # or the longest line would seem to be cut off
    span = {"range": [min(ends) - room, max(ends) + room], "autorange": False}
    layout["xaxis"] = number_axis(x_title, theme) | {"tickformat": "~g", "nticks": 7} | span
    layout["yaxis"] = _names(list(differences), theme)
    layout["margin"] |= {"r": 24}
    zero = {"type": "line", "x0": 0, "x1": 0, "yref": "paper", "y0": 0, "y1": 1, "layer": "below"}
    layout["shapes"] = [zero | {"line": {"color": ink(theme), "width": 1.5}}]
    return figure(traces, layout)


def _names(names: list[str], theme: str) -> dict:
    """A vertical axis with a name at each whole number, from the top down; long names break at a comma."""
    return {
        "range": [len(names) - 0.5, -0.5],
        "autorange": False,
        "fixedrange": True,
        "tickvals": list(range(len(names))),
        "ticktext": [literal(name).replace(", ", ",<br>") for name in names],
        "tickfont": {"size": TEXT_SIZE, "color": ink(theme)},
        "gridcolor": line_color(theme),
        "zeroline": False,
        "ticks": "",
        "ticklabelstandoff": 6,
        "automargin": True,
    }


def _markers(x, y, marker: dict, texts: list[str] | None) -> dict:
    trace = {"type": "scatter", "x": np.float32(x), "y": np.float32(y), "mode": "markers", "marker": marker}
    trace |= {"cliponaxis": False, "showlegend": False}
    return trace | ({"hovertext": texts, "hoverinfo": "text"} if texts else {"hoverinfo": "skip"})
