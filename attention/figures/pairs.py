"""How alike the heads of a layer are, every two of them: a square map."""

from collections.abc import Sequence

import numpy as np

from attention.figures.cell_text import cell_number, text_layers
from attention.figures.chart import Chart, chart
from attention.figures.heatmap import map_trace
from attention.figures.layout import base_layout, column_axis, row_axis
from attention.figures.numbers import pair_cells
from attention.figures.palette import CLEAR, GROUND, Palette, Scale, palette
from attention.figures.text import literal
from attention.figures.words import ENGLISH, FigureWords

MAX_NUMBERED_HEADS = 16
SHORT_NUMBERS_FROM = 7
# A map that can be clicked is drawn small: what it measures in a third of the page, in px, and what can be read in it.
SMALL_MAP_SIZE, MAX_NUMBERED_HEADS_SMALL = 250, 10


def similarity_chart(
    matrix: np.ndarray,
    *,
    theme: str = "light",
    title: str | None = None,
    height: int | None = None,
    show_numbers: bool = True,
    measure: str | None = None,
    words: FigureWords = ENGLISH,
) -> Chart:
    """A map of pairwise similarities; heads are numbered from 1, the first at the top left.

    matrix: (heads, heads) of −1…1; NaN = undefined, shown as "–".  measure: what the hover calls the number
    (default: cosine). The scale always runs from −1 to 1. Numbers stand in the cells up to 16 heads; ask for none where
    the map is drawn small.  height: of the whole figure in pixels. Raises ValueError if the matrix is not square.
    """
    matrix = _checked(matrix)
    heads, colors = len(matrix), palette(theme)
    numbered = show_numbers and heads <= MAX_NUMBERED_HEADS
    traces = _map(matrix, -1, 1, colors.diverging, colors, words, numbered)
    numbers = range(1, heads + 1)
    hover = [[_hover(i, j, matrix[i - 1, j - 1], measure or words.cosine, words) for j in numbers] for i in numbers]
    traces[0] |= {"hovertext": hover, "hoverinfo": "text"}
    room = (300 if heads <= 8 else 440) + (105 if title else 80)  # enough for the numbers in the cells to be read
    layout = base_layout(colors, title=title, height=height or room)
    layout |= _axes(numbers, colors, words, most=16 if show_numbers else 8)
    return chart(traces, layout, _alt(matrix, words), lambda: pair_cells(matrix))


def pairs_chart(
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
) -> Chart:
    """A square map of a measure over all pairs of heads; cells can be clicked (the last trace, `customdata`).

    Strong blue always means "alike": the scale of a divergence is turned round. It runs from `low` to `high`.

    values: (heads, heads), NaN = undefined, shown as "–".  alike: the value of two equal heads, `low` or `high`.
    order: heads from the top, counted from 0; their own numbers stand beside them.  selected: two heads to mark.
    Raises ValueError if the matrix is not square, or the order is none.
    """
    values = _checked(values)
    heads, colors = len(values), palette(theme)
    order = np.arange(heads) if order is None else np.asarray(order)
    if sorted(order.tolist()) != list(range(heads)):
        raise ValueError(f"an order of {heads} heads names each of 0 to {heads - 1} once, got {order.tolist()}")
    shown = values[np.ix_(order, order)]
    scale = colors.diverging if low < 0 else colors.sequential if alike == high else colors.sequential[::-1]
    traces = _map(shown, low, high, scale, colors, words, heads <= MAX_NUMBERED_HEADS_SMALL)
    traces.append(_targets(shown, order, measure, words))
    layout = base_layout(colors, title=None, height=height)
    layout |= _axes((order + 1).tolist(), colors, words, most=10)
    layout["clickmode"] = "event+select"
    if selected is not None:
        layout["shapes"] = _frames(order, selected, colors.accent)
    similarity = values if alike == high else low + high - values
    return chart(traces, layout, f"{measure}. {_alt(similarity, words)}", lambda: pair_cells(values))


def _checked(values: np.ndarray) -> np.ndarray:
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 2 or values.shape[0] != values.shape[1] or values.size == 0:
        raise ValueError(f"a map of pairs needs the shape (heads, heads), got {values.shape}")
    return values


def _map(
    values: np.ndarray, low: float, high: float, scale: Scale, colors: Palette, words: FigureWords, numbered: bool
) -> list[dict]:
    """The map, and the traces that write in its cells."""
    trace, short = map_trace(values, low, high, scale, colors, words), len(values) >= SHORT_NUMBERS_FROM
    texts = [
        ["–" if v != v else cell_number(v, words, short=short) if numbered else "" for v in row]
        for row in values.tolist()
    ]
    return [trace, *text_layers(texts, (values - low) / (high - low), scale, colors, gap=trace["xgap"])]


def _axes(numbers: Sequence[int], colors: Palette, words: FigureWords, *, most: int) -> dict:
    """The numbers of the heads on both axes of a square."""
    labels = [str(number) for number in numbers]
    return {
        "plot_bgcolor": GROUND,
        "xaxis": column_axis(labels, words.head, colors, most=most) | {"constrain": "domain"},
        "yaxis": row_axis(labels, words.head, colors, most=most)
        | {"scaleanchor": "x", "constrain": "domain", "constraintoward": "top"},
    }


def _hover(first: int, second: int, value: float, measure: str, words: FigureWords) -> str:
    """Two heads, counted from 1, and what a measure says of them."""
    pair = words.pair.format(first=first, second=second)
    return f"{literal(words.heads)} {literal(pair)}<br>{literal(measure)} {literal(words.number(value, 3))}"


def _targets(shown: np.ndarray, order: np.ndarray, measure: str, words: FigureWords) -> dict:
    """An invisible square on each cell: a heat map of plotly's can be pointed at, but not clicked."""
    row, col = (index.ravel() for index in np.indices(shown.shape))
    first, second = order[row], order[col]
    unseen = {"marker": {"opacity": 0}}
    return {
        "type": "scatter",
        "x": col.astype(np.int16),
        "y": row.astype(np.int16),
        "mode": "markers",
        "marker": {"symbol": "square", "size": max(6, SMALL_MAP_SIZE // len(shown)), "color": CLEAR, "opacity": 0},
        "selected": unseen,
        "unselected": unseen,
        "customdata": np.stack([first, second], axis=1).astype(np.int16).tolist(),
        "hovertext": [
            _hover(i + 1, j + 1, value, measure, words)
            for i, j, value in zip(first.tolist(), second.tolist(), shown.ravel().tolist(), strict=True)
        ],
        "hoverinfo": "text",
    }


def _frames(order: np.ndarray, selected: tuple[int, int], color: str) -> list[dict]:
    """A frame around both cells of a pair."""
    place = np.argsort(order)
    i, j = (int(place[head]) for head in selected)
    line = {"color": color, "width": 3}
    return [
        {"type": "rect", "x0": x - 0.5, "x1": x + 0.5, "y0": y - 0.5, "y1": y + 0.5, "line": line}
        for x, y in {(i, j), (j, i)}
    ]


def _alt(similarity: np.ndarray, words: FigureWords) -> str:
    """Number of heads, the most and the least alike pair, and which heads are undefined."""
    heads = len(similarity)
    if heads == 1:
        return words.one_head_alt
    parts = [words.counted(words.similarity_alt, heads)]
    first, second = np.triu_indices(heads, k=1)
    values = similarity[first, second]
    defined = np.flatnonzero(~np.isnan(values))
    if len(defined) == 0:
        return f"{parts[0]} {words.no_pairs_alt}"
    most, least = defined[values[defined].argmax()], defined[values[defined].argmin()]

    def named(which: str, at: int) -> dict[str, str]:
        pair = words.pair.format(first=first[at] + 1, second=second[at] + 1)
        return {which: pair, f"{which}_value": words.number(values[at])}

    if len(defined) == 1:
        parts.append(words.pair_alt.format(**named("most", most)))
    else:
        parts.append(words.pairs_alt.format(**named("most", most), **named("least", least)))
    unknown = [str(head + 1) for head in np.flatnonzero(np.isnan(np.diag(similarity)))]
    if unknown:
        parts.append(words.counted(words.undefined_alt, len(unknown), heads=", ".join(unknown)))
    return " ".join(parts)
