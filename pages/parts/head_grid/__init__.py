"""All attention heads of a layer as small maps, drawn in the browser by a component of our own.

Python checks the arrays, packs them into one buffer and says which words to use; `head_grid.js` draws, lights
the cell under the pointer in every head, and sends back which head was picked. A component is used because
a page with one plotly chart per head takes several times as long to change.

    picked = head_grid(
        [Section("", layer=1, tiles=[Tile(0, "head 1", (("entropy", "0.42"),), weights), …])],
        row_labels=["n", "aɪ", "t"], col_labels=list("knight"), selected=(1, 0), key="cross_heads",
    )

What is sent is plain JSON: texts as they are, numbers as base64 of little-endian arrays (`pack` and `unpack`).
"""

import base64
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
import streamlit as st

from attention.figures import colors
from pages.parts.component import component

_component = component(Path(__file__).parent, "head_grid", "sizes.js", "tiles.js", "head_grid.js")

Pick = tuple[int, int]  # (layer, head), both counted from 0 as in `out.maps.cross[layer][:, head]`


@dataclass(frozen=True)
class Tile:
    """One head: `weights` (q_len, kv_len) between 0 and 1, and the (label, value) lines under its map."""

    head: int
    title: str
    captions: tuple[tuple[str, str], ...] = ()
    weights: np.ndarray = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Section:
    """The heads of one layer; an empty title draws no heading."""

    title: str
    layer: int
    tiles: Sequence[Tile]


@dataclass(frozen=True)
class Words:
    """Everything the grid says that is not data."""

    group: str = "Attention heads"
    hint: str = "Point at a cell to see it in every head. Click a head to enlarge it."
    keys_hint: str = "Arrow keys choose a head, Shift and arrow keys move the cell."  # read to screen readers
    scale: str = "weight"
    masked: str = "masked"
    no_keys: str = "no keys"


def head_grid(
    sections: Sequence[Section],
    *,
    row_labels: Sequence[str],
    col_labels: Sequence[str],
    key: str,
    row_title: str = "query (decoder)",
    col_title: str = "key (encoder)",
    allowed: np.ndarray | None = None,
    selected: Pick | None = None,
    compact: bool = False,
    words: Words | None = None,
    on_select: Callable[[int, int], None] | None = None,
) -> Pick | None:
    """Draw the heads and return the (layer, head) the visitor picked last, or None.

    allowed: (q_len, kv_len) bool for all heads, or (heads, q_len, kv_len) in the order of the tiles; True = may attend.
        Other cells are hatched, and a row without any allowed key is announced as "no keys".
    selected: the head drawn as chosen; the page owns this choice.
    compact: one row of tiny maps per section, without labels and captions.
    on_select(layer, head) is called once for each pick, before the script runs again, also when the same head
        is picked twice. A pick that is not among the heads of these sections is dropped.
    Raises ValueError, naming both shapes, when the arrays and the labels do not fit together.
    """
    payload = grid_data(
        sections,
        row_labels=row_labels,
        col_labels=col_labels,
        row_title=row_title,
        col_title=col_title,
        allowed=allowed,
        selected=selected,
        compact=compact,
        words=words,
    )
    heads = {(section.layer, tile.head) for section in sections for tile in section.tiles}

    def last_pick() -> Pick | None:
        pick = _read_pick(st.session_state.get(key))
        return pick if pick in heads else None

    def picked() -> None:
        if on_select is not None and (pick := last_pick()) is not None:
            on_select(*pick)

    _component(key=key, data=payload, on_selected_change=picked)
    return last_pick()


def grid_data(
    sections: Sequence[Section],
    *,
    row_labels: Sequence[str],
    col_labels: Sequence[str],
    row_title: str,
    col_title: str,
    allowed: np.ndarray | None = None,
    selected: Pick | None = None,
    compact: bool = False,
    words: Words | None = None,
) -> dict:
    """What `head_grid` sends to the browser; takes no part of Streamlit."""
    shape = (len(row_labels), len(col_labels))
    if 0 in shape:
        raise ValueError(f"a map needs at least one row and one column, got {shape[0]} row labels and {shape[1]}")
    tiles = [(section.layer, tile) for section in sections for tile in section.tiles]
    if not tiles:
        raise ValueError("no heads to draw: every section is empty")
    names = [(layer, tile.head) for layer, tile in tiles]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"layer {twice[0]}, head {twice[1]} is given twice")
    weights = np.stack([_checked_weights(layer, tile, shape) for layer, tile in tiles])  # (tiles, q_len, kv_len)
    if allowed is not None:
        allowed = np.asarray(allowed, dtype=bool)
        if allowed.shape not in (shape, weights.shape):
            raise ValueError(
                f"allowed has shape {allowed.shape}, but there are {shape} row and column labels "
                f"and {len(weights)} heads"
            )
        if allowed.ndim == 3 and (allowed == allowed[0]).all():
            allowed = allowed[0]  # one mask for all is all that has to be sent
    return {
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
                    for tile in section.tiles
                ],
            }
            for section in sections
        ],
        "rows": [str(label) for label in row_labels],
        "cols": [str(label) for label in col_labels],
        "rowTitle": row_title,
        "colTitle": col_title,
        "weights": pack(weights),
        "allowed": None if allowed is None else pack(allowed),
        "selected": None if selected is None else [int(number) for number in selected],
        "compact": bool(compact),
        "words": asdict(words or Words()),
        "tables": _packed_tables(),
    }


def pack(array: np.ndarray) -> str:
    """An array as base64: booleans and bytes as uint8, everything else as little-endian float32."""
    array = np.asarray(array)
    kind = "u1" if array.dtype.kind in "bu" else "<f4"
    return base64.b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode("ascii")


def unpack(text: str, shape: tuple[int, ...], dtype: str = "<f4") -> np.ndarray:
    """The inverse of `pack`, for tests and exports."""
    return np.frombuffer(base64.b64decode(text), dtype=dtype).reshape(shape)


def _checked_weights(layer: int, tile: Tile, shape: tuple[int, int]) -> np.ndarray:
    name = f"weights of layer {layer}, head {tile.head}"
    weights = np.asarray(tile.weights, dtype=np.float32)
    if weights.shape != shape:
        raise ValueError(f"{name} have shape {weights.shape}, but there are {shape} row and column labels")
    # The comparison is written so that it is also False for NaN.
    if not (weights.min() >= -1e-5 and weights.max() <= 1 + 1e-5):
        raise ValueError(f"{name} must lie between 0 and 1, got {weights.min():g} to {weights.max():g}")
    return weights


def _read_pick(state) -> Pick | None:
    """The pick in a component state; it comes from the browser, so nothing about it is taken for granted."""
    value = state.get("selected") if hasattr(state, "get") else None
    if not isinstance(value, dict):
        return None
    layer, head = value.get("layer"), value.get("head")
    return (layer, head) if type(layer) is int and type(head) is int else None


@cache
def _packed_tables() -> dict[str, str]:
    return {
        "light": pack(colors.table(colors.SEQUENTIAL_LIGHT)),
        "dark": pack(colors.table(colors.SEQUENTIAL_DARK)),
    }
