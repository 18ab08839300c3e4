"""A page with nothing but head grids, for the browser tests: known numbers, awkward tokens, a few controls."""

import numpy as np
import streamlit as st

from attention.notebook import Section, Tile
from pages.shared.head_grid import head_grid

ROWS = ["<s>", "a<b>c", "$x$", "🙂", "1"]
COLS = ["注意", "a<b>c", "*b*", "</s>", "1", "1", ":cat:"]

st.set_page_config(layout="wide")
state = st.session_state
state.setdefault("updates", 0)
state.setdefault("chosen", (1, 0))
state.setdefault("picks", 0)
state.setdefault("cell", None)


def count_update():
    state.updates += 1


def choose(layer: int, head: int, cell: tuple[int, int] | None):
    state.chosen, state.cell = (layer, head), cell
    state.picks += 1


def weights(layer: int, head: int) -> np.ndarray:
    row, col = np.ogrid[: len(ROWS), : len(COLS)]
    return ((5 * layer + 7 * head + 3 * row + col + state.updates) % 11) / 10


def section(title: str, layer: int, heads: int) -> Section:
    tiles = [Tile(h, f"head {h + 1}", (("entropy", f"0.{h}"),), weights(layer, h)) for h in range(heads)]
    return Section(title, layer, tiles)


heads = int(st.query_params.get("heads", 5))
allowed = None
if "mask" in st.query_params:
    allowed = np.tri(len(ROWS), len(COLS), dtype=bool)
    allowed[2] = False  # a query without any key

st.button("update", on_click=count_update)
st.button("fewer heads", on_click=lambda: state.update(fewer=True))
if state.get("fewer"):
    heads = 3
shared = {"row_labels": ROWS, "col_labels": COLS, "row_title": "query (decoder)", "col_title": "key (encoder)"}
shared |= {"allowed": allowed, "selected": state.chosen, "on_select": choose}
picked = head_grid([section("", 1, heads)], key="layer", lines="lines" in st.query_params, **shared)
st.text(f"updates {state.updates}, picks {state.picks}, chosen {state.chosen}, returned {picked}, cell {state.cell}")
if "compact" in st.query_params:
    head_grid([section(f"layer {i + 1}", i, 3) for i in range(2)], compact=True, key="all", **shared)
