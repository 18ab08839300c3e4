"""How alike the heads of a layer are, every two of them: a square map from −1 to 1."""

import numpy as np
import plotly.graph_objects as go

from attention.figures.cell_text import text_layers
from attention.figures.colors import diverging, plotly_colorscale
from attention.figures.layout import GROUND, base_layout, color_bar, column_axis, figure, is_dark, row_axis
from attention.figures.text import literal, number
from attention.figures.words import ENGLISH, FigureWords

MAX_NUMBERED_HEADS = 16
SHORT_NUMBERS_FROM = 7


def similarity_heatmap(
    matrix: np.ndarray,
    *,
    theme: str = "light",
    title: str | None = None,
    height: int | None = None,
    show_numbers: bool = True,
    measure: str | None = None,
    words: FigureWords = ENGLISH,
) -> go.Figure:
    """A map of pairwise similarities; heads are numbered from 1, the first at the top left.

    matrix: (heads, heads) of −1…1; NaN = undefined, shown as "–".  measure: what the hover calls the number
    (default: cosine). The scale always runs from −1 to 1. Numbers stand in the cells up to 16 heads; ask for none where
    the map is drawn small.  height: of the whole figure in pixels. Raises ValueError if the matrix is not square.
    """
    matrix = np.asarray(matrix, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise ValueError(f"a similarity matrix needs the shape (heads, heads), got {matrix.shape}")
    heads = len(matrix)
    scale = diverging(is_dark(theme))
    gap = 1 if heads <= 24 else 0
    traces = [
        {
            "type": "heatmap",
            "x": np.arange(heads, dtype=np.int16),
            "y": np.arange(heads, dtype=np.int16),
            "z": matrix.astype(np.float32),
            "zmin": -1,
            "zmax": 1,
            "colorscale": plotly_colorscale(scale),
            "colorbar": color_bar(theme, (-1, 0, 1)),
            "xgap": gap,
            "ygap": gap,
            "hovertext": _hover(matrix, measure or words.cosine, words),
            "hoverinfo": "text",
        }
    ]
    numbered = show_numbers and heads <= MAX_NUMBERED_HEADS
    leading_zero = heads < SHORT_NUMBERS_FROM
    texts = [
        ["–" if value != value else number(value, leading_zero=leading_zero) if numbered else "" for value in row]
        for row in matrix.tolist()
    ]
    traces += text_layers(texts, (matrix + 1) / 2, scale, theme, gap=gap)

    layout = base_layout(theme, title=title, height=height or _height(heads, bool(title)))
    layout["plot_bgcolor"] = GROUND
    labels = [str(head) for head in range(1, heads + 1)]
    layout["xaxis"] = column_axis(labels, words.head, theme, most=16 if show_numbers else 8) | {"constrain": "domain"}
    layout["yaxis"] = row_axis(labels, words.head, theme, most=16 if show_numbers else 8) | {
        "scaleanchor": "x",  # a square, as the matrix is symmetric
        "constrain": "domain",
        "constraintoward": "top",
    }
    return figure(traces, layout)


def _height(heads: int, has_title: bool) -> int:
    """Enough for the numbers in the cells to be read."""
    return (300 if heads <= 8 else 440) + (105 if has_title else 80)


def _hover(matrix: np.ndarray, measure: str, words: FigureWords) -> list[list[str]]:
    heads, both, undefined, measure = (
        literal(text) for text in (words.heads, words.and_word, words.undefined, measure)
    )

    def told(value: float) -> str:
        return undefined if value != value else f"{value:.3f}".replace("-", "−")

    return [
        [f"{heads} {i} {both} {j}<br>{measure} {told(value)}" for j, value in enumerate(row, start=1)]
        for i, row in enumerate(matrix.tolist(), start=1)
    ]
