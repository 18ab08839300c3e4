"""What the head grid is sent: arrays checked and packed, with the words beside them.

    grid_message(
        [Section("", layer=1, tiles=[Tile(0, "head 1", (("entropy", "0.42"),), weights), …])],
        row_labels=["n", "aɪ", "t"], col_labels=list("knight"), words={"hint": "Point at a cell.", …}, …
    )

Labels have signs for blanks; all other texts are sent as they are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from attention.figures.colors import table, text_color
from attention.figures.palette import DARK_INK, LIGHT_INK, THEMES
from attention.figures.text import visible
from attention.notebook.packing import message, pack

INKS = (DARK_INK, LIGHT_INK)
Pick = tuple[int, int]  # (layer, head), both counted from 0 as in `out.maps.cross[layer][:, head]`


@dataclass(frozen=True)
class Tile:
    """One head: `weights` (q_len, kv_len) between 0 and 1, and the (label, value) lines under its map.

    away: whether it was taken away, and is drawn so.
    """

    head: int
    title: str
    captions: tuple[tuple[str, str], ...] = ()
    weights: np.ndarray = field(default=None, repr=False, compare=False)
    away: bool = False


@dataclass(frozen=True)
class Section:
    """The heads of one layer; an empty title draws no heading."""

    title: str
    layer: int
    tiles: Sequence[Tile]


def grid_message(
    sections: Sequence[Section],
    *,
    row_labels: Sequence[str],
    col_labels: Sequence[str],
    row_title: str,
    col_title: str,
    allowed: np.ndarray | None = None,
    words: Mapping[str, str],
    selected: Pick | None = None,
    compact: bool = False,
    lines: bool = False,
    enlarged: str | None = None,
    numbers: Sequence[str] | None = None,
    alt: str = "",
    cell: tuple[int, int] | None = None,
) -> bytes:
    """What the browser is sent, as `packing.message` makes it.

    allowed: (q_len, kv_len) bool for all heads, or (heads, q_len, kv_len) in the order of the tiles; True = may attend.
        Other cells are hatched, and a row without any allowed key is announced as "no keys".
    words: what the grid itself says: group, hint, keys_hint, lines_hint, lines_keys_hint, scale, masked, no_keys, away.
    selected: the head drawn as chosen.
    compact: one row of tiny maps per section, without labels and captions.
    lines: tokens joined by lines in place of maps.
    enlarged: the class of what shows the chosen head large, and is brought into view at a click.
    numbers: of one head, which is drawn as large as there is room: what stands in its cells, row by row, or nothing at
        all. `alt` says in words what it shows, and `cell` (row, column) is framed.
    Raises ValueError, naming both shapes, when the arrays and the labels do not fit together.
    """
    shape = (len(row_labels), len(col_labels))
    if 0 in shape:
        raise ValueError(f"a map needs at least one row and one column, got {shape[0]} row labels and {shape[1]}")
    tiles = [(section.layer, tile) for section in sections for tile in section.tiles]
    if not tiles:
        raise ValueError("no heads to draw: every section is empty")
    if numbers is not None and (len(tiles) > 1 or len(numbers) not in (0, shape[0] * shape[1])):
        raise ValueError(f"numbers are for each cell of one head, got {len(numbers)} and {len(tiles)} heads of {shape}")
    names = [(layer, tile.head) for layer, tile in tiles]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"layer {twice[0]}, head {twice[1]} is given twice")
    weights = np.stack([_checked_weights(layer, tile, shape) for layer, tile in tiles])  # (tiles, q_len, kv_len)
    if allowed is not None:
        allowed = np.asarray(allowed)
        if allowed.dtype != bool:
            raise ValueError(f"allowed is {allowed.dtype}, but must be boolean: True where a query may attend to a key")
        if allowed.shape not in (shape, weights.shape):
            raise ValueError(
                f"allowed has shape {allowed.shape}, but there are {shape} row and column labels "
                f"and {len(weights)} heads"
            )
        if allowed.ndim == 3 and (allowed == allowed[0]).all():
            allowed = allowed[0]  # one mask for all is all that has to be sent
    texts = {
        "sections": [
            {
                "title": str(section.title),
                "layer": int(section.layer),
                "tiles": [
                    {
                        "head": int(tile.head),
                        "title": str(tile.title),
                        "captions": [[str(label), str(value)] for label, value in tile.captions],
                    }
                    | ({"away": True} if tile.away else {})
                    for tile in section.tiles
                ],
            }
            for section in sections
        ],
        "rows": [visible(label) for label in row_labels],
        "cols": [visible(label) for label in col_labels],
        "rowTitle": row_title,
        "colTitle": col_title,
        "selected": None if selected is None else [int(number) for number in selected],
        "compact": bool(compact),
        "lines": bool(lines),
        "enlarged": enlarged,
        "large": numbers is not None,
        "numbers": list(numbers or ()),
        "inks": None if numbers is None else _inks(),
        "alt": alt,
        "cell": None if cell is None else [int(at) for at in cell],
        "words": dict(words),
        "tables": _packed_tables(),
        "colors": {theme: colors.number for theme, colors in THEMES.items()},
    }
    return message(texts, weights, allowed)


def _checked_weights(layer: int, tile: Tile, shape: tuple[int, int]) -> np.ndarray:
    name = f"weights of layer {layer}, head {tile.head}"
    weights = np.asarray(tile.weights, dtype=np.float32)
    if weights.shape != shape:
        raise ValueError(f"{name} have shape {weights.shape}, but there are {shape} row and column labels")
    # The comparison is written so that it is also False for NaN.
    if not (weights.min() >= -1e-5 and weights.max() <= 1 + 1e-5):
        raise ValueError(f"{name} must lie between 0 and 1, got {weights.min():g} to {weights.max():g}")
    return weights


@cache
def _inks() -> dict[str, object]:
    """Two colours of text, and for each entry of a theme's scale which of them can be read on it."""
    on = {
        theme: "".join(str(INKS.index(text_color(colors.sequential, entry / 255))) for entry in range(256))
        for theme, colors in THEMES.items()
    }
    return {"colors": INKS, **on}


@cache
def _packed_tables() -> dict[str, str]:
    return {theme: pack(table(colors.sequential)) for theme, colors in THEMES.items()}
