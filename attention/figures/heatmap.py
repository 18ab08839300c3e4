"""One head, large: an attention map with a label at each row and column and the numbers in its cells."""

from collections.abc import Sequence

import numpy as np

from attention.figures.cell_text import cell_number, text_layers
from attention.figures.chart import Chart, chart
from attention.figures.colors import plotly_colorscale
from attention.figures.layout import base_layout, color_bar, column_axis, row_axis
from attention.figures.numbers import map_cells
from attention.figures.palette import GROUND, Palette, Scale, palette
from attention.figures.text import literal, shorten, visible
from attention.figures.words import ENGLISH, FigureWords

MAX_NUMBERED_COLUMNS, MAX_NUMBERED_ROWS = 20, 40  # beyond, a number would be smaller than anybody can read
SHORT_NUMBERS_FROM = 8  # columns from which ".12" is written for "0.12"
MAX_ROWS_IN_WORDS = 12  # a listener will not sit through more


def attention_chart(
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
) -> Chart:
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
    colors = palette(theme)
    z = np.where(allowed, weights, np.nan).astype(np.float32)
    traces = [map_trace(z, 0, 1, colors.sequential, colors, words)]
    traces[0] |= {"hovertext": _hover(weights, allowed, row_labels, col_labels, words), "hoverinfo": "text"}
    if show_numbers:
        traces += _numbers(z, z, colors.sequential, colors, words, short=cols >= SHORT_NUMBERS_FROM)
    layout = base_layout(colors, title=title, height=height or _height(rows, bool(title)))
    layout |= _axes(row_labels, col_labels, row_title, col_title, colors)
    layout["annotations"] = [
        {
            "x": (cols - 1) / 2,
            "y": row,
            "text": literal(words.no_keys),
            "showarrow": False,
            "font": {"color": colors.faint_ink},
        }
        for row in np.flatnonzero(~allowed.any(axis=1)).tolist()
    ]
    alt = map_in_words(weights, allowed, row_labels, col_labels, row_title, col_title, words)
    return chart(traces, layout, alt, lambda: map_cells(row_labels, col_labels, allowed=allowed, weight=z))


def difference_chart(
    first: np.ndarray,
    second: np.ndarray,
    row_labels: Sequence[str],
    col_labels: Sequence[str],
    *,
    row_title: str,
    col_title: str,
    allowed: np.ndarray,
    theme: str = "light",
    height: int | None = None,
    words: FigureWords = ENGLISH,
) -> Chart:
    """One attention map less another, from −1 (rose: the second looks there) to 1 (blue: the first does).

    first, second, allowed: (q_len, kv_len); cells that are not allowed stay blank. The words name the largest
    difference of each row. Raises ValueError if the sizes do not fit together.
    """
    difference, allowed = _checked(first - second, row_labels, col_labels, allowed)
    colors = palette(theme)
    z = np.where(allowed, difference, np.nan)
    trace = map_trace(z, -1.0, 1.0, colors.diverging, colors, words)
    keys = [f"{literal(words.key)} {literal(shorten(text))}<br>" for text in col_labels]
    queries = [f"{literal(words.query)} {literal(shorten(text))}<br>" for text in row_labels]
    trace["hoverinfo"] = "text"
    trace["hovertext"] = [
        [f"{query}{key}{literal(words.number(value, 3))}" for key, value in zip(keys, row, strict=True)]
        for query, row in zip(queries, z.tolist(), strict=True)
    ]
    traces = [trace, *_numbers(z, (z + 1) / 2, colors.diverging, colors, words, short=True)]
    layout = base_layout(colors, title=None, height=height or max(130, len(row_labels) * 40) + 95)
    layout |= _axes(row_labels, col_labels, row_title, col_title, colors)
    alt = map_in_words(abs(difference), allowed, row_labels, col_labels, row_title, col_title, words)
    return chart(traces, layout, alt, lambda: map_cells(row_labels, col_labels, allowed=allowed, difference=z))


def map_trace(z: np.ndarray, low: float, high: float, scale: Scale, colors: Palette, words: FigureWords) -> dict:
    """A heat map of (rows, cols) numbers on a scale from `low` to `high`; NaN = blank. It says nothing on hover."""
    rows, cols = z.shape
    gap = 1 if max(rows, cols) <= 24 else 0
    return {
        "type": "heatmap",
        "x": np.arange(cols, dtype=np.int16),
        "y": np.arange(rows, dtype=np.int16),
        "z": z.astype(np.float32),
        "zmin": low,
        "zmax": high,
        "colorscale": plotly_colorscale(scale),
        "colorbar": color_bar(colors, (low, (low + high) / 2, high), words),
        "xgap": gap,
        "ygap": gap,
        "hoverinfo": "skip",
    }


def _numbers(
    z: np.ndarray, positions: np.ndarray, scale: Scale, colors: Palette, words: FigureWords, *, short: bool
) -> list[dict]:
    """The traces that write each number in its cell, as far as they can be read."""
    rows, cols = z.shape
    if cols > MAX_NUMBERED_COLUMNS or rows > MAX_NUMBERED_ROWS:
        return []
    texts = [["" if v != v else cell_number(v, words, short=short) for v in row] for row in z.tolist()]
    return text_layers(texts, positions, scale, colors, gap=1 if max(rows, cols) <= 24 else 0)


def _axes(
    row_labels: Sequence[str], col_labels: Sequence[str], row_title: str, col_title: str, colors: Palette
) -> dict:
    return {
        "plot_bgcolor": GROUND,
        "xaxis": column_axis(col_labels, col_title, colors),
        "yaxis": row_axis(row_labels, row_title, colors),
    }


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
                last = f"{weight} &lt; {words.number(0.001, 3)}"  # "0.000" would say that there is none
            else:
                last = f"{weight} {words.number(value, 3)}"
            cells.append(query + key + last)
        texts.append(cells)
    return texts


def map_in_words(
    weights: np.ndarray,
    allowed: np.ndarray,
    row_labels: Sequence[str],
    col_labels: Sequence[str],
    row_title: str,
    col_title: str,
    words: FigureWords = ENGLISH,
) -> str:
    """A map of (q_len, kv_len) weights in words: size, axes, and the strongest cell of each of the first rows."""
    rows, cols = weights.shape
    cells = [
        f"{visible(shorten(label))} → {_strongest(row, may, col_labels, words)}"
        for label, row, may in zip(row_labels[:MAX_ROWS_IN_WORDS], weights, allowed, strict=False)
    ]
    if rows > MAX_ROWS_IN_WORDS:
        cells.append(words.counted(words.more_rows_alt, rows - MAX_ROWS_IN_WORDS))
    size = words.map_alt.format(rows=rows, cols=cols, row_title=row_title, col_title=col_title)
    return f"{size} {words.strongest_alt.format(cells='; '.join(cells))}"


def _strongest(row: np.ndarray, allowed: np.ndarray, labels: Sequence[str], words: FigureWords) -> str:
    if not allowed.any():
        return words.no_keys
    row = np.where(allowed, row, -np.inf)
    if np.isnan(row).any():
        return words.undefined
    best = int(row.argmax())
    # What reads alike is not "the strongest": rounding must not choose among equal weights.
    if (row >= row[best] - 1e-6).sum() > 1:
        return f"{words.no_single_key} {words.number(row[best])}"
    return f"{visible(shorten(labels[best]))} ({best + 1}) {words.number(row[best])}"
