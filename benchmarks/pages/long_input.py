"""Sixteen heads over 256 tokens in the app's component: drawn when the switch is turned on, changed by the button."""

import numpy as np
import streamlit as st

from attention.notebook import Section, Tile
from pages.shared.head_grid import head_grid

HEADS, TOKENS = 16, 256

st.set_page_config(layout="wide")
changes = st.session_state.setdefault("changes", 0)
st.button("change", on_click=lambda: st.session_state.update(changes=changes + 1))
if st.toggle("draw"):
    scores = np.exp(np.random.default_rng(changes).standard_normal((HEADS, TOKENS, TOKENS), dtype=np.float32))
    weights = scores / scores.sum(-1, keepdims=True)
    tiles = [Tile(head, f"head {head + 1}", (), rows) for head, rows in enumerate(weights)]
    tokens = [f"token{number}" for number in range(TOKENS)]
    axes = {"row_labels": tokens, "col_labels": tokens, "row_title": "query", "col_title": "key"}
    head_grid([Section("", 0, tiles)], key="heads", **axes)
    st.text(f"{changes} changes")
