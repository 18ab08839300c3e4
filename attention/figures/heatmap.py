"""One head, large: an attention map with a label at each row and column and the numbers in its cells."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from attention.figures.cell_text import text_layers
from attention.figures.colors import plotly_colorscale, sequential
from attention.figures.layout import GROUND, base_layout, color_bar, column_axis, figure, ink, is_dark, row_axis
from attention.figures.text import literal, number, shorten
from attention.figures.words import ENGLISH, FigureWords

MAX_NUMBERED_COLUMNS, MAX_NUMBERED_ROWS = 20, 40  # beyond, a number would be smaller than anybody can read
SHORT_NUMBERS_FROM = 9  # columns from which ".12" is written for "0.12"


def attention_heatmap(
    weights: np.ndarray,
    row_labels: Sequence[str],
    col_labels: Sequence[str],
    *,
    row_title: str = "query (decoder)",
    col_title: str = "key (encoder)",
    allowed: np.ndarray | None = None,
    theme: str = "light",
    title: str | None = None,
    height: int | None = None,
    show_numbers: bool = True,
    words: FigureWords = ENGLISH,
) -> go.Figure:
    """An attention map, rows = queries from the top, columns = keys; colours always run from 0 to 1.

    weights: (q_len, kv_len).  row_labels, col_labels: one token each, shown literally whatever is in it.
    allowed: (q_len, kv_len) bool, True = may attend. Other cells are blank; a row without any key says so. Without it
    only rows that are all zero count as "no keys".
    The first trace holds the weights (float32, blank = NaN), the others the numbers. Hovers count tokens from 1.
    height: of the whole figure in pixels; by default it follows from the number of rows.
    Raises ValueError if the sizes do not fit together.
    """
    weights, allowed = _checked(weights, row_labels, col_labels, allowed)
    rows, cols = weights.shape
    scale = sequential(is_dark(theme))
    z = np.where(allowed, weights, np.nan).astype(np.float32)
    gap = 1 if max(rows, cols) <= 24 else 0
    traces = [
        {
            "type": "heatmap",
            "x": np.arange(cols, dtype=np.int16),
            "y": np.arange(rows, dtype=np.int16),
            "z": z,
            "zmin": 0,
            "zmax": 1,
            "colorscale": plotly_colorscale(scale),
            "colorbar": color_bar(theme, (0, 0.5, 1)),
            "xgap": gap,
            "ygap": gap,
            "hovertext": _hover(weights, allowed, row_labels, col_labels, words),
            "hoverinfo": "text",
        }
    ]
    if show_numbers and cols <= MAX_NUMBERED_COLUMNS and rows <= MAX_NUMBERED_ROWS:
        zero = cols < SHORT_NUMBERS_FROM
        texts = [["" if v != v else number(v, leading_zero=zero) for v in row] for row in z.tolist()]
        traces += text_layers(texts, z, scale, theme, gap=gap)

    layout = base_layout(theme, title=title, height=height or _height(rows, bool(title)))
    layout["plot_bgcolor"] = GROUND
    layout["xaxis"] = column_axis(col_labels, col_title, theme)
    layout["yaxis"] = row_axis(row_labels, row_title, theme)
    layout["annotations"] = [
        {
            "x": (cols - 1) / 2,
            "y": row,
            "text": literal(words.no_keys),
            "showarrow": False,
            "font": {"color": ink(theme, faint=True)},
        }
        for row in np.flatnonzero(~allowed.any(axis=1)).tolist()
    ]
    return figure(traces, layout)


def _checked(weights, row_labels, col_labels, allowed) -> tuple[np.ndarray, np.ndarray]:
    weights = np.asarray(weights, dtype=np.float64)
    if weights.ndim != 2 or 0 in weights.shape:
        raise ValueError(f"an attention map needs the shape (q_len, kv_len), each at least 1, got {weights.shape}")
    for name, labels, size in zip(("row", "column"), (row_labels, col_labels), weights.shape, strict=True):
        if len(labels) != size:
            raise ValueError(f"{len(labels)} {name} labels for {size} {name}s")
    if allowed is None:
        return weights, np.broadcast_to(weights.any(axis=1, keepdims=True), weights.shape)
    allowed = np.asarray(allowed)
    if allowed.dtype != bool or allowed.shape != weights.shape:
        raise ValueError(f"allowed needs to be boolean {weights.shape}, got {allowed.dtype} {allowed.shape}")
    return weights, allowed


def _height(rows: int, has_title: bool) -> int:
    """Room for the rows at 14 to 44 pixels each (and for the axis title beside them), and what is above and below."""
    return max(rows * min(44, max(14, 440 // rows)), 130) + (120 if has_title else 95)


def _hover(weights, allowed, row_labels, col_labels, words: FigureWords) -> list[list[str]]:
    """Both tokens with their positions, and the weight or why there is none."""
    queries, keys = (
        [f"{literal(word)} {i}: {literal(shorten(label, 60))}<br>" for i, label in enumerate(labels, start=1)]
        for word, labels in ((words.query, row_labels), (words.key, col_labels))
    )
    weight, no_keys = literal(words.weight), literal(words.no_keys)
    not_allowed, undefined = literal(words.not_allowed), literal(words.undefined)
    texts = []
    for query, row, row_allowed in zip(queries, weights.tolist(), allowed.tolist(), strict=True):
        if not any(row_allowed):
            texts.append([f"{query}{key}{no_keys}" for key in keys])
            continue
        cells = []
        for key, value, may in zip(keys, row, row_allowed, strict=True):
            if not may:
                last = not_allowed
            elif value != value:
                last = undefined
            elif 0 < value < 0.0005:
                last = f"{weight} &lt; 0.001"  # "0.000" would say that there is none
            else:
                last = f"{weight} {value:.3f}"
            cells.append(query + key + last)
        texts.append(cells)
    return texts
