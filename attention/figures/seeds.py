"""Experiments with several seeds: every run a dot, curves with their spread, differences with their intervals."""

from collections.abc import Mapping, Sequence
from itertools import cycle, islice

import numpy as np

from attention.figures.chart import Chart, chart
from attention.figures.layout import band, base_layout, legend_above, mark_at, name_axis, number_axis, see_through
from attention.figures.numbers import Columns
from attention.figures.palette import palette
from attention.figures.text import literal
from attention.figures.words import ENGLISH, FigureWords

# Beside the colours of the series, the first two of which are for controls.
DASHES = ("dash", "dot", "solid", "dashdot", "longdash", "solid")
SYMBOLS = ("circle-open", "square-open", "circle", "square", "diamond", "triangle-up")

Interval = tuple[float, float]


def seed_dots_chart(
    groups: Mapping[str, Sequence[float]],
    *,
    x_title: str,
    theme: str = "light",
    height: int | None = None,
    words: FigureWords = ENGLISH,
) -> Chart:
    """A line of dots per group, one dot per run, and a bar at the mean; the first group is at the top.

    groups: name and one value per run, a share of 1; a group without runs keeps its line. The words say every run.
    Raises ValueError for no groups.
    """
    if not groups:
        raise ValueError("there are no groups to draw")
    colors, traces = palette(theme), []
    for place, ((name, values), color) in enumerate(zip(groups.items(), cycle(colors.series), strict=False)):
        values = np.asarray(values, dtype=np.float32)
        texts = [
            literal(words.run.format(name=name, run=run, percent=words.number(100 * value, 1)))
            for run, value in enumerate(values.tolist(), start=1)
        ]
        dots = {"color": color, "size": 10, "opacity": 0.75, "line": {"width": 0}}
        traces.append(_markers(values, np.full(len(values), place), dots, texts))
        if len(values):
            bar = {"color": colors.ink, "size": 26, "symbol": "line-ns", "line": {"width": 3, "color": colors.ink}}
            traces.append(_markers([values.mean()], [place], bar, None))
    layout = base_layout(colors, title=None, height=height or 90 + 44 * len(groups))
    layout["xaxis"] = number_axis(x_title, colors) | {"tickformat": ".0%", "nticks": 5}
    different = {round(float(value), 6) for values in groups.values() for value in values}
    if len(different) == 1:  # of a single value plotly would make an axis that goes below nothing
        layout["xaxis"] |= {"range": [-0.02, 1.02], "autorange": False}
    layout["yaxis"] = name_axis(list(groups), colors)
    layout["margin"] |= {"r": 24}
    runs = (f"{name}: {', '.join(map(words.share, values)) or '–'}" for name, values in groups.items())

    def numbers() -> Columns:
        return {
            "group": np.repeat(np.array(list(groups)), [len(values) for values in groups.values()]),
            "run": np.concatenate([np.arange(1, len(values) + 1) for values in groups.values()]),
            x_title: np.concatenate([np.asarray(values, dtype=np.float64) for values in groups.values()]),
        }

    return chart(traces, layout, f"{x_title}. {'; '.join(runs)}.", numbers)


def seed_curves_chart(
    x: Sequence[float],
    groups: Mapping[str, np.ndarray],
    *,
    name: str,
    x_title: str,
    y_title: str,
    theme: str = "light",
    height: int = 340,
    categories: bool = False,
    marked: int | None = None,
    mark: str = "",
    share: bool = False,
    first: int = 0,
    words: FigureWords = ENGLISH,
) -> Chart:
    """A line of means per group, in a band from the lowest to the highest run.

    x: positions along the axis.  groups: name and (runs, len(x)) values; NaN leaves a gap.
    name: what the words call the chart; they say each mean where x are categories, and else both ends of each line.
    categories: draw x at equal distances, as numbers that double ask for.  marked, mark: an x with a dotted line, and
    what it says.  share: the values are shares of 1.  first: the style of the first group, 2 where none is a control.
    Raises ValueError for values that do not fit x.
    """
    at = np.arange(len(x), dtype=np.float32) if categories else np.asarray(x, dtype=np.float32)
    colors, bands, lines, told = palette(theme), [], [], []
    styles = islice(cycle(zip(colors.series, DASHES, SYMBOLS, strict=True)), first, None)
    for (group, runs), (color, dash, symbol) in zip(groups.items(), styles, strict=False):
        runs = np.asarray(runs, dtype=np.float64)
        if runs.ndim != 2 or runs.shape[1] != len(x):
            raise ValueError(f"{group} has values of shape {runs.shape} for {len(x)} positions")
        known = ~np.isnan(runs).all(axis=0)
        means = np.full(len(x), np.nan)
        means[known] = np.nanmean(runs[:, known], axis=0)
        told.append(f"{group}: {_means(x, means, categories, words)}")
        if not known.any():
            continue
        low, high = np.nanmin(runs[:, known], axis=0), np.nanmax(runs[:, known], axis=0)
        bands.append(band(at[known], np.float32(high), np.float32(low), see_through(color, 0.16)))
        number = "%{y:.1%}" if share else "%{y:.3g}"
        lines.append(
            {
                "type": "scatter",
                "x": at[known],
                "y": np.float32(means[known]),
                "name": literal(group),
                "mode": "lines+markers" if categories else "lines",
                "line": {"color": color, "width": 2.5, "dash": dash},
                "marker": {"color": color, "size": 8, "symbol": symbol},
                "cliponaxis": False,
                "hovertemplate": f"{literal(group)}<br>{number}<extra></extra>",
            }
        )
    layout = base_layout(colors, title=None, height=height)
    layout["xaxis"] = number_axis(x_title, colors)
    layout["yaxis"] = number_axis(y_title, colors) | ({"tickformat": ".0%"} if share else {})
    layout["margin"] |= {"r": 20}
    if categories:
        layout["xaxis"] |= {"tickvals": list(range(len(x))), "ticktext": [f"{value:g}" for value in x]}
        layout["xaxis"] |= {"range": [-0.3, len(x) - 0.7], "autorange": False, "showgrid": False}
    if marked is not None:
        layout |= mark_at(list(x).index(marked) if categories else marked, mark, colors)
    if len(lines) > 1:
        layout |= legend_above(itemclick=False, itemdoubleclick=False)

    def numbers() -> Columns:
        shapes = {group: np.shape(runs) for group, runs in groups.items()}
        return {
            "group": np.repeat(np.array(list(shapes)), [runs * steps for runs, steps in shapes.values()]),
            "run": np.concatenate([np.repeat(np.arange(1, runs + 1), steps) for runs, steps in shapes.values()]),
            x_title: np.concatenate([np.tile(np.asarray(x), runs) for runs, _ in shapes.values()]),
            y_title: np.concatenate([np.ravel(runs) for runs in groups.values()]),
        }

    return chart([*bands, *lines], layout, f"{name}. {'; '.join(told)}.", numbers)


def interval_chart(
    differences: Mapping[str, tuple[float, Interval | None, Interval | None]],
    *,
    sentences: Sequence[str],
    x_title: str,
    theme: str = "light",
    height: int | None = None,
    words: FigureWords = ENGLISH,
) -> Chart:
    """Differences with their intervals around a line at 0; the first is at the top.

    differences: name and (mean, interval, wider interval); an interval that is None is not drawn. One that leaves out
    0 is drawn in full colour, the others in grey.  sentences: what each is worth, in words.
    Raises ValueError for no differences.
    """
    if not differences:
        raise ValueError("there are no differences to draw")
    colors, traces = palette(theme), []
    for place, (name, (mean, narrow, wide)) in enumerate(differences.items()):
        seen = narrow is not None and not narrow[0] <= 0 <= narrow[1]
        color = colors.series[2] if seen else colors.series[0]
        for interval, width, alpha in ((wide, 3, 0.45), (narrow, 8, 1.0)):
            if interval is not None:
                line = {"width": width, "color": see_through(color, alpha)}
                traces.append({"type": "scatter", "x": list(interval), "y": [place] * 2, "mode": "lines", "line": line})
                traces[-1] |= {"hoverinfo": "skip"}
        dot = {"color": color, "size": 14, "line": {"width": 2, "color": colors.ink}}
        traces.append(_markers([mean], [place], dot, [literal(f"{name}: {words.sign(f'{mean:+.2g}')}")]))
    layout = base_layout(colors, title=None, height=height or 80 + 44 * len(differences))
    ends = [end for mean, *intervals in differences.values() for pair in intervals if pair for end in pair]
    ends += [0.0, *(mean for mean, *_ in differences.values())]
    room = 0.04 * (max(ends) - min(ends) or 1.0)  # or the longest line would seem to be cut off
    span = {"range": [min(ends) - room, max(ends) + room], "autorange": False}
    layout["xaxis"] = number_axis(x_title, colors) | {"tickformat": "~g", "nticks": 7} | span
    layout["yaxis"] = name_axis(list(differences), colors)
    layout["margin"] |= {"r": 24}
    zero = {"type": "line", "x0": 0, "x1": 0, "yref": "paper", "y0": 0, "y1": 1, "layer": "below"}
    layout["shapes"] = [zero | {"line": {"color": colors.ink, "width": 1.5}}]

    def numbers() -> Columns:
        rows = [
            (mean, *(narrow or (np.nan,) * 2), *(wide or (np.nan,) * 2)) for mean, narrow, wide in differences.values()
        ]
        named = zip(("mean", "low", "high", "wider_low", "wider_high"), np.array(rows, dtype=np.float64).T, strict=True)
        return {"difference": np.array(list(differences)), **dict(named)}

    return chart(traces, layout, " ".join(sentences), numbers)


def _means(x: Sequence[float], means: np.ndarray, categories: bool, words: FigureWords) -> str:
    """A line in words: point by point, or from where to where."""
    if categories:
        return ", ".join(f"{at:g}: {_known(mean, words.number)}" for at, mean in zip(x, means, strict=True))
    return f"{_known(means[0], words.share)} → {_known(means[-1], words.share)}"


def _known(value: float, write) -> str:
    return "–" if value != value else write(value)


def _markers(x, y, marker: dict, texts: list[str] | None) -> dict:
    trace = {"type": "scatter", "x": np.float32(x), "y": np.float32(y), "mode": "markers", "marker": marker}
    trace |= {"cliponaxis": False, "showlegend": False}
    return trace | ({"hovertext": texts, "hoverinfo": "text"} if texts else {"hoverinfo": "skip"})
