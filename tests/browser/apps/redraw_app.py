"""What a page that watches a training draws, redrawn as fast as it goes: all heads, the curve, one head large."""

import numpy as np
import streamlit as st

from attention.figures import attention_chart, loss_chart
from attention.notebook import Section, Tile
from pages.shared import session
from pages.shared.chart import draw_chart
from pages.shared.every_page import all_declared, declared
from pages.shared.head_grid import head_grid

TOKENS = tuple("abcdef")


@st.fragment(run_every=0.02)
def draw() -> None:
    number = st.session_state["number"] = st.session_state.get("number", 0) + 1
    scores = np.random.default_rng(number).random((8, len(TOKENS), len(TOKENS)), dtype=np.float32)
    maps = scores / scores.sum(-1, keepdims=True)
    tiles = [Tile(head, f"head {head + 1}", (("redraw", str(number)),), maps[head]) for head in range(8)]
    axes = {"row_title": "query", "col_title": "key"}
    head_grid([Section("", 0, tiles)], row_labels=TOKENS, col_labels=TOKENS, key="heads", **axes)
    steps = np.arange(number)
    draw_chart(loss_chart(steps, np.exp(-steps / 100), num_steps=500), key="loss")
    draw_chart(attention_chart(maps[0], TOKENS, TOKENS, **axes), key="large")
    st.html(f'<p id="number">{number}</p>')


session.settings_from_address("", all_declared(), declared("playground"))  # by which charts are taken away
draw()
