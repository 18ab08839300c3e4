"""All attention heads of a layer as small maps, drawn in the browser by a component of our own.

`attention.notebook` has what is sent and what draws it: it lights the cell under the pointer in every head, and sends
back which head was picked. A component is used because a page with one plotly chart per head takes several times as
long to change.

    picked = head_grid(
        [Section("", layer=1, tiles=[Tile(0, "head 1", (("entropy", "0.42"),), weights), …])],
        row_labels=["n", "aɪ", "t"], col_labels=list("knight"), selected=(1, 0), key="cross_heads", …
    )
"""

from collections.abc import Callable, Sequence

import streamlit as st

from attention.notebook import GRID_CSS, GRID_JS, Section, grid_message
from attention.notebook.grid_data import Pick
from attention.notebook.show import grid_page
from pages.shared.component import component
from pages.shared.texts import catalogue, label, language_folder

_component = component("head_grid", GRID_CSS, GRID_JS)


Cell = tuple[int, int]  # (row, column) of a map, both counted from 0


def head_grid(
    sections: Sequence[Section],
    *,
    key: str,
    on_select: Callable[[int, int, Cell | None], None] | None = None,
    hint: str = "",
    keys_hint: str = "",
    **shown: object,
) -> Pick | None:
    """Draw the heads and return the (layer, head) the visitor picked last, or None.

    on_select(layer, head, cell) is called once for each pick, before the script runs again, also when the same head
        is picked twice. A pick that is not among the heads of these sections is dropped. The cell is the one of that
        head that was clicked, or reached by keyboard; None where it was none.
    hint, keys_hint: what stands below, and what it says of keys, where a pick does something else than to enlarge.
    shown: as in `grid_message`, which checks it.
    """
    data = grid_message(sections, words=_words(hint, keys_hint), **shown)
    heads = {(section.layer, tile.head) for section in sections for tile in section.tiles}
    shape = (len(shown["row_labels"]), len(shown["col_labels"]))

    def last_pick() -> tuple[Pick, Cell | None] | None:
        value = _sent(st.session_state.get(key))
        pick = _pair(value, "layer", "head")
        if pick not in heads:
            return None
        cell = _pair(value, "row", "col")
        return pick, cell if cell and all(0 <= at < size for at, size in zip(cell, shape, strict=True)) else None

    def picked() -> None:
        if on_select is not None and (last := last_pick()) is not None:
            pick, cell = last
            on_select(*pick, cell)

    _component(key=key, data=data, on_selected_change=picked)
    last = last_pick()
    return last and last[0]


def head_grid_page(sections: Sequence[Section], title: str, **shown: object) -> bytes:
    """The same as a web page of its own, which needs nothing else; there is nothing to be picked in it."""
    large = shown.get("numbers") is not None
    hint = label("take", "large_hint" if large else "lines_hint" if shown["lines"] else "grid_hint")
    return grid_page(grid_message(sections, words=_words(hint), **shown), title, language_folder().name).encode("utf-8")


def _words(hint: str = "", keys_hint: str = "") -> dict[str, str]:
    own = {"hint": hint, "lines_hint": hint, "keys_hint": keys_hint or hint} if hint else {}
    return catalogue()["head_grid"] | own


def _sent(state) -> dict:
    """The pick in a component state; it comes from the browser, so nothing about it is taken for granted."""
    value = state.get("selected") if hasattr(state, "get") else None
    return value if isinstance(value, dict) else {}


def _pair(value: dict, *names: str) -> tuple[int, int] | None:
    """Two whole numbers of what was sent."""
    numbers = tuple(value.get(name) for name in names)
    return numbers if all(type(number) is int for number in numbers) else None
