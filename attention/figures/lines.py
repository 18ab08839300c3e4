"""A few lines over whole numbers: steps, layers, heads taken away; and accuracy over head counts."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from attention.figures.chart import Chart, chart
from attention.figures.layout import TEXT_SIZE, base_layout, legend_above, mark_at, number_axis
from attention.figures.numbers import line_points
from attention.figures.palette import Palette, palette
from attention.figures.text import literal
from attention.figures.words import ENGLISH, FigureWords

# Lines differ in dash and marker too, so that nobody has to tell the colours apart.
DASHES, SYMBOLS = ("solid", "dash", "dot"), ("circle", "square", "diamond")
MAX_LINES = len(DASHES)
MANY_POINTS = 30  # from here on without markers


def loss_chart(
    steps: Sequence[int] | np.ndarray,
    losses: Sequence[float] | np.ndarray,
    *,
    num_steps: int | None = None,
    theme: str = "light",
    title: str | None = None,
    height: int = 260,
    words: FigureWords = ENGLISH,
) -> Chart:
    """The loss against the step. No points give empty axes; a loss that is not finite leaves a gap.

    steps, losses: equally long.  num_steps: the length of the whole training; the axis then keeps its end from
    the beginning, so that the curve grows instead of being squeezed. Raises ValueError if the lengths differ.
    """
    steps, losses = np.asarray(steps, dtype=np.int32), np.asarray(losses, dtype=np.float32)
    if steps.ndim != 1 or steps.shape != losses.shape:
        raise ValueError(f"{steps.size} steps for {losses.size} losses")
    colors = palette(theme)
    trace = {
        "type": "scatter",
        "x": steps,
        "y": np.where(np.isfinite(losses), losses, np.nan),
        "mode": "lines" if len(steps) > MANY_POINTS else "lines+markers",  # a single point has no line
        "line": {"color": colors.number, "width": 2},
        "marker": {"color": colors.number, "size": 5},
        "hovertemplate": f"{literal(words.step)} %{{x:d}}<br>{literal(words.loss)} %{{y:.3f}}<extra></extra>",
    }
    layout = base_layout(colors, title=title, height=height)
    layout["hovermode"] = "closest"
    layout["margin"] |= {"r": 20}  # plotly leaves out a last tick label that would be cut off
    layout["xaxis"] = number_axis(words.step, colors, rangemode="tozero", nticks=6)
    layout["yaxis"] = number_axis(words.loss, colors, rangemode="tozero", nticks=6)
    if num_steps is not None:
        layout["xaxis"] |= {"range": [0, num_steps], "autorange": False}
    numbers = partial(line_points, {words.loss: (steps, losses)}, words.step, words.loss)
    return chart([trace], layout, _loss_alt(steps, losses, words), numbers)


def lines_chart(
    x: Mapping[str, Sequence[int]],
    y: Mapping[str, Sequence[float]],
    *,
    x_title: str,
    y_title: str,
    top: float,
    bottom: float = 0.0,
    notes: Mapping[str, Sequence[str]] | None = None,
    marks: Mapping[str, tuple[int, str]] | None = None,
    whole: bool = False,
    last: int | None = None,
    theme: str = "light",
    height: int = 300,
    words: FigureWords = ENGLISH,
) -> Chart:
    """One to three named lines from `bottom` to `top`, over numbers at their true distances; NaN leaves a gap.

    x, y: for each line its whole numbers and as many values.  notes: a line of hover text for each point.
    marks: a place of a line that is pointed out, by its number along the axis, with what is said of it.
    whole: every whole number of the axis has a tick (for layers).
    last: where the x axis ends; by default with the data. The words say where each line begins and ends.
    Raises ValueError for no line or more than three, or lines that do not fit together.
    """
    if not 1 <= len(y) <= MAX_LINES or list(x) != list(y):
        raise ValueError(f"a chart needs 1 to {MAX_LINES} lines with the same names, got {list(x)} and {list(y)}")
    colors, traces = palette(theme), []
    for name, values in y.items():
        at = np.asarray(x[name], dtype=np.int32)
        trace = _line(len(traces), name, at, at.tolist(), values, x_title, colors, words) | {
            "mode": "lines+markers" if len(at) < MANY_POINTS else "lines"
        }
        if notes is not None:
            told = zip(trace["hovertext"], notes[name], strict=True)
            trace["hovertext"] = [f"{text}<br>{literal(note)}" for text, note in told]
        traces.append(trace)
    traces += [_mark(traces[list(y).index(name)], *mark, colors) for name, mark in (marks or {}).items()]
    first = min((int(min(at)) for at in x.values() if len(at)), default=0)
    if last is None:
        last = max((int(max(at)) for at in x.values() if len(at)), default=1)
    pad = 0.25 if whole else 0.02 * max(last - first, 1)
    layout = base_layout(colors, title=None, height=height)
    layout["margin"] |= {"r": 20}
    layout["xaxis"] = number_axis(x_title, colors, autorange=False, range=[first - pad, last + pad], showgrid=False)
    if whole:
        layout["xaxis"] |= {"tickvals": list(range(first, last + 1))}
    ends = [bottom, top + 0.05 * (top - bottom)]
    layout["yaxis"] = number_axis(y_title, colors, autorange=False, range=ends, nticks=6)
    if len(y) > 1:
        layout |= legend_above()
    parts = [words.lines_alt.format(y=y_title, x=x_title)]
    for name, values in y.items():
        points = [(at, words.number(value)) for at, value in zip(x[name], values, strict=True) if value == value]
        if points:
            (begins, begin), (ends, end) = points[0], points[-1]
            parts.append(words.ends_alt.format(line=name, begin=begin, first=begins, end=end, last=ends))
    parts += [f"{name}: {said}." for name, (_, said) in (marks or {}).items()]
    lines = {name: (x[name], values) for name, values in y.items()}
    return chart(traces, layout, " ".join(parts), partial(line_points, lines, x_title, y_title))


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
    words: FigureWords = ENGLISH,
) -> Chart:
    """One to three lines of values from 0 to 1, over the same whole numbers; a value that is NaN leaves a gap.

    x: whole numbers, drawn at equal distances, as numbers that double ask for.  lines: name and values, one for each x.
    marked: an x with a vertical line that says `mark`. More than one line is named above the chart. The words say each
    line point by point.
    Raises ValueError for no line or more than three, for values that do not fit x, or a mark that is none of x.
    """
    x = [int(at) for at in x]
    if not 1 <= len(lines) <= MAX_LINES:
        raise ValueError(f"a comparison needs 1 to {MAX_LINES} lines, got {len(lines)}")
    if marked is not None and marked not in x:
        raise ValueError(f"marked ({marked}) must be one of {', '.join(map(str, x))}")
    colors, at = palette(theme), np.arange(len(x), dtype=np.int16)
    traces = [
        _line(number, name, at, x, values, x_title, colors, words, marker_size=8)
        for number, (name, values) in enumerate(lines.items())
    ]
    layout = base_layout(colors, title=title, height=height)
    ticks = {"tickvals": list(range(len(x))), "ticktext": [str(at) for at in x]}
    layout["xaxis"] = number_axis(x_title, colors, autorange=False, range=[-0.3, len(x) - 0.7], showgrid=False, **ticks)
    layout["yaxis"] = number_axis(y_title, colors, autorange=False, range=[0, 1.05], tickvals=[0, 0.25, 0.5, 0.75, 1])
    if len(lines) > 1:
        layout |= legend_above()
    parts = [words.comparison_alt.format(y=y_title, x=x_title)]
    for name, values in lines.items():
        points = ", ".join(f"{at} → {words.number(value)}" for at, value in zip(x, values, strict=True))
        parts.append(words.points_alt.format(line=name, points=points))
    if marked is not None:
        layout |= mark_at(x.index(marked), mark, colors)
        parts.append(words.marked_alt.format(x=x_title, at=marked, mark=mark))
    shown = {name: (x, values) for name, values in lines.items()}
    return chart(traces, layout, " ".join(parts), partial(line_points, shown, x_title, y_title))


def _line(
    number: int,
    name: str,
    x: np.ndarray,
    named: Sequence[int],
    values: Sequence[float] | np.ndarray,
    x_title: str,
    colors: Palette,
    words: FigureWords,
    marker_size: int = 7,
) -> dict:
    """The line of this number (from 0) among the few of a chart; `named` is what each x is called on hover."""
    values = np.asarray(values, dtype=np.float32)
    if values.shape != x.shape:
        raise ValueError(f"{name} has {values.size} values for {x.size} numbers along the axis")
    color = (colors.number, colors.rose, colors.faint_ink)[number]
    return {
        "type": "scatter",
        "x": x,
        "y": values,
        "name": literal(name),
        "mode": "lines+markers",
        "line": {"color": color, "width": 2, "dash": DASHES[number]},
        "marker": {"color": color, "size": marker_size, "symbol": SYMBOLS[number]},
        "cliponaxis": False,  # a marker at the edge is shown whole
        "hovertext": [
            f"{literal(name)}<br>{literal(x_title)} {at}: {literal(words.number(value))}"
            for at, value in zip(named, values.tolist(), strict=True)
        ],
        "hoverinfo": "text",
    }


def _mark(line: dict, at: int, said: str, colors: Palette) -> dict:
    """A ring on a line, with its number along the axis above it; what is said of it is seen on hover."""
    place = int(np.flatnonzero(line["x"] == at)[0])
    return {
        "type": "scatter",
        "x": line["x"][place : place + 1],
        "y": line["y"][place : place + 1],
        "mode": "markers+text",
        "text": [str(at)],
        "textposition": "top center",
        "textfont": {"size": TEXT_SIZE, "color": colors.ink},
        "marker": {"color": line["line"]["color"], "size": 12, "symbol": "circle-open", "line": {"width": 2}},
        "cliponaxis": False,
        "showlegend": False,
        "hovertext": [literal(said)],
        "hoverinfo": "text",
    }


def _loss_alt(steps: np.ndarray, losses: np.ndarray, words: FigureWords) -> str:
    """Where the curve begins, where it ends, and its lowest point; losses that are not finite are left out."""
    finite = np.isfinite(losses)
    steps, losses = steps[finite].tolist(), losses[finite].tolist()
    if not losses:
        return words.no_loss_alt
    low = int(np.argmin(losses))
    first, last, lowest = (words.sign(f"{loss:.3g}") for loss in (losses[0], losses[-1], losses[low]))
    if len(losses) == 1:
        return words.one_loss_alt.format(first=first, first_step=steps[0])
    return words.loss_alt.format(
        first=first, first_step=steps[0], last=last, last_step=steps[-1], low=lowest, low_step=steps[low]
    )
