"""Text in the cells of a heat map, each in the ink that can be read on its cell.

plotly gives the text of one heat map one colour (or picks one by a rule of its own, which falls short of WCAG's 4.5 on
middle tones). So the text is laid over the map as transparent heat maps, one for each ink: two or three traces
however many cells there are. As a heat map's text it also shrinks with its cells on a narrow screen.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np

from attention.figures.colors import TABLE_SIZE, text_color
from attention.figures.palette import CLEAR, Palette, Scale
from attention.figures.words import FigureWords

_BLANK = "\u200b"  # zero-width space: takes part in plotly's choice of the text size, but shows nothing


@cache
def _inks(scale: Scale) -> tuple[str, ...]:
    """The ink for each entry of the scale's table."""
    return tuple(text_color(scale, step / (TABLE_SIZE - 1)) for step in range(TABLE_SIZE))


def text_layers(
    texts: Sequence[Sequence[str]], positions: np.ndarray, scale: Scale, colors: Palette, *, gap: int = 0
) -> list[dict]:
    """Heat map traces that write `texts` over a map.

    texts: rows of columns, "" for nothing.  positions: (rows, cols) place of each cell on its colour scale, 0…1; NaN
    for a cell that is not filled, where the text gets the ink of the page.  gap: the map's xgap and ygap in pixels.
    """
    by_step = _inks(tuple(scale))
    filled = ~np.isnan(positions)
    steps = np.rint(np.clip(np.where(filled, positions, 0), 0, 1) * (len(by_step) - 1)).astype(int)
    inks = [
        [by_step[step] if has_ground else colors.ink for step, has_ground in zip(row, row_filled, strict=True)]
        for row, row_filled in zip(steps.tolist(), filled.tolist(), strict=True)
    ]
    cells = [list(zip(*row, strict=True)) for row in zip(texts, inks, strict=True)]  # (text, ink) per cell
    used = {color for row in cells for text, color in row if text}
    longest = max((len(text) for row in texts for text in row), default=0)
    z = np.zeros(positions.shape, dtype=np.uint8)
    return [
        {
            "type": "heatmap",
            "z": z,
            "text": _one_ink(cells, color, longest),
            "texttemplate": "%{text}",
            "textfont": {"color": color},
            "colorscale": [[0, CLEAR], [1, CLEAR]],
            "zmin": 0,
            "zmax": 1,
            "xgap": gap,
            "ygap": gap,
            "showscale": False,
            "hoverinfo": "skip",
        }
        for color in sorted(used)
    ]


def cell_number(value: float, words: FigureWords, *, short: bool) -> str:
    """A number of −1…1 for a cell: "0.12", "−0.12", or short ".12", "−.12", "1.0"."""
    text = words.number(value)
    if not short:
        return text
    sign, text = (words.minus, text.removeprefix(words.minus)) if text.startswith(words.minus) else ("", text)
    return sign + (text[1:] if text[0] == "0" else text[:3])


def _one_ink(cells: list[list[tuple[str, str]]], color: str, longest: int) -> list[list[str]]:
    """The texts of one ink, others blank.

    plotly takes the text size from the longest text and the distance of *neighbouring* texts of a trace. Padding
    to one length, and blanks in the first two cells of the first row and the first of the second, give every ink
    the same size.
    """
    layer = [[text.ljust(longest, _BLANK) if text and color == c else "" for text, c in row] for row in cells]
    for row, col in ((0, 0), (0, 1), (1, 0)):
        if row < len(layer) and col < len(layer[row]):
            layer[row][col] = layer[row][col] or _BLANK * longest
    return layer
