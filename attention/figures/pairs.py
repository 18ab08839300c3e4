"""A measure over all pairs of heads, and how the maps of two heads differ."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from attention.figures.cell_text import text_layers
from attention.figures.colors import DIVERGING_DARK, Scale, diverging, plotly_colorscale, sequential
from attention.figures.layout import CLEAR, GROUND, base_layout, color_bar, column_axis, figure, is_dark, row_axis
from attention.figures.similarity import SHORT_NUMBERS_FROM
from attention.figures.text import literal, number, shorten
from attention.figures.words import ENGLISH, FigureWords

MAP_SIZE = 250  # px; about what a map measures in a third of the page
MAX_NUMBERED_HEADS = 10  # more numbers than that cannot be read in it
MARK = {True: DIVERGING_DARK[1], False: "#a8400a"}  # the accent: what is chosen


def pairs_heatmap(
    values: np.ndarray,
    *,
    low: float,
    high: float,
    alike: float,
    measure: str,
    order: Sequence[int] | None = None,
    selected: tuple[int, int] | None = None,
    theme: str = "light",
    height: int = 330,
    words: FigureWords = ENGLISH,
) -> go.Figure:
    """A square map of a measure over all pairs of heads; cells can be clicked (the last trace, `customdata`).

    Strong blue always means "alike": the scale of a divergence is turned round. It runs from `low` to `high`.

    values: (heads, heads), NaN = undefined, shown as "–".  alike: the value of two equal heads, `low` or `high`.
    order: heads from the top, counted from 0; their own numbers stand beside them.  selected: two heads to mark.
    Raises ValueError if the matrix is not square, or the order is none.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 2 or values.shape[0] != values.shape[1] or values.size == 0:
        raise ValueError(f"a map of pairs needs the shape (heads, heads), got {values.shape}")
    heads = len(values)
    order = np.arange(heads) if order is None else np.asarray(order)
    if sorted(order.tolist()) != list(range(heads)):
        raise ValueError(f"an order of {heads} heads names each of 0 to {heads - 1} once, got {order.tolist()}")
    shown = values[np.ix_(order, order)]
    scale = _scale(low, high, alike, theme)
    gap = 1 if heads <= 24 else 0
    traces = [_map(shown, low, high, scale, theme, gap)]
    numbered, zero = heads <= MAX_NUMBERED_HEADS, heads < SHORT_NUMBERS_FROM
    texts = [
        ["–" if v != v else number(v, leading_zero=zero) if numbered else "" for v in row] for row in shown.tolist()
    ]
    traces += text_layers(texts, (shown - low) / (high - low), scale, theme, gap=gap)
    traces.append(_targets(shown, order, measure, words))
    layout = base_layout(theme, title=None, height=height)
    layout["plot_bgcolor"] = GROUND
    labels = [str(head + 1) for head in order.tolist()]
    layout["xaxis"] = column_axis(labels, words.head, theme, most=10) | {"constrain": "domain"}
    layout["yaxis"] = row_axis(labels, words.head, theme, most=10) | {
        "scaleanchor": "x",
        "constrain": "domain",
        "constraintoward": "top",
    }
    layout["clickmode"] = "event+select"
    if selected is not None:
        layout["shapes"] = _frames(order, selected, MARK[is_dark(theme)])
    return figure(traces, layout)


def difference_heatmap(
    difference: np.ndarray,
    row_labels: Sequence[str],
    col_labels: Sequence[str],
    *,
    row_title: str,
    col_title: str,
    allowed: np.ndarray,
    theme: str = "light",
    height: int | None = None,
    words: FigureWords = ENGLISH,
) -> go.Figure:
    """One attention map less another, from −1 (orange: the second looks there) to 1 (blue: the first does).

    difference, allowed: (q_len, kv_len); cells that are not allowed stay blank.
    """
    rows, cols = difference.shape
    if (len(row_labels), len(col_labels)) != (rows, cols) or allowed.shape != difference.shape:
        raise ValueError(f"{len(row_labels)} × {len(col_labels)} labels and {allowed.shape} allowed for {(rows, cols)}")
    scale = diverging(is_dark(theme))
    z = np.where(allowed, difference, np.nan)
    gap = 1 if max(rows, cols) <= 24 else 0
    first = _map(z, -1.0, 1.0, scale, theme, gap)
    first["hoverinfo"] = "text"
    keys = [f"{literal(words.key)} {literal(shorten(text))}<br>" for text in col_labels]
    queries = [f"{literal(words.query)} {literal(shorten(text))}<br>" for text in row_labels]
    first["hovertext"] = [
        [f"{query}{key}{_told(value, words)}" for key, value in zip(keys, row, strict=True)]
        for query, row in zip(queries, z.tolist(), strict=True)
    ]
    traces = [first]
    if cols <= 20 and rows <= 40:
        texts = [["" if v != v else number(v, leading_zero=False) for v in row] for row in z.tolist()]
        traces += text_layers(texts, (z + 1) / 2, scale, theme, gap=gap)
    layout = base_layout(theme, title=None, height=height or max(130, rows * 40) + 95)
    layout["plot_bgcolor"] = GROUND
    layout["xaxis"] = column_axis(col_labels, col_title, theme)
    layout["yaxis"] = row_axis(row_labels, row_title, theme)
    return figure(traces, layout)


def _scale(low: float, high: float, alike: float, theme: str) -> Scale:
    if low < 0:
        return diverging(is_dark(theme))
    scale = sequential(is_dark(theme))
    return scale if alike == high else scale[::-1]


def _map(z: np.ndarray, low: float, high: float, scale: Scale, theme: str, gap: int) -> dict:
    return {
        "type": "heatmap",
        "x": np.arange(z.shape[1], dtype=np.int16),
        "y": np.arange(z.shape[0], dtype=np.int16),
        "z": z.astype(np.float32),
        "zmin": low,
        "zmax": high,
        "colorscale": plotly_colorscale(scale),
        "colorbar": color_bar(theme, (low, (low + high) / 2, high)),
        "xgap": gap,
        "ygap": gap,
        "hoverinfo": "skip",
    }


def _targets(shown: np.ndarray, order: np.ndarray, measure: str, words: FigureWords) -> dict:
    """An invisible square on each cell: a heat map of plotly's can be pointed at, but not clicked."""
    heads = len(shown)
    row, col = (index.ravel() for index in np.indices(shown.shape))
    first, second = order[row], order[col]
    named = f"{literal(words.heads)} {{}} {literal(words.and_word)} {{}}<br>{literal(measure)} {{}}"
    unseen = {"marker": {"opacity": 0}}
    return {
        "type": "scatter",
        "x": col.astype(np.int16),
        "y": row.astype(np.int16),
        "mode": "markers",
        "marker": {"symbol": "square", "size": max(6, MAP_SIZE // heads), "color": CLEAR, "opacity": 0},
        "selected": unseen,
        "unselected": unseen,
        "customdata": np.stack([first, second], axis=1).astype(np.int16).tolist(),
        "hovertext": [
            named.format(i + 1, j + 1, _told(value, words))
            for i, j, value in zip(first.tolist(), second.tolist(), shown.ravel().tolist(), strict=True)
        ],
        "hoverinfo": "text",
    }


def _frames(order: np.ndarray, selected: tuple[int, int], color: str) -> list[dict]:
    """A frame around both cells of a pair."""
    place = np.argsort(order)
    i, j = (int(place[head]) for head in selected)
    return [
        {
            "type": "rect",
            "x0": x - 0.5,
            "x1": x + 0.5,
            "y0": y - 0.5,
            "y1": y + 0.5,
            "line": {"color": color, "width": 3},
        }
        for x, y in {(i, j), (j, i)}
    ]


def _told(value: float, words: FigureWords) -> str:
    return literal(words.undefined) if value != value else f"{value:.3f}".replace("-", "−")
