"""In the wild: published models whose two sides differ, and what an encoder really sends."""

from pathlib import Path

import streamlit as st

from pages.parts import sidebar
from pages.parts.answer import notice
from pages.parts.real_models import draw_buttons, draw_head_counts, draw_table
from pages.parts.sent import draw_sent
from pages.parts.words import label, prose

settings = sidebar.for_page()
texts = prose("wild")

st.html(Path(__file__).parent / "parts" / "real_models.html")
st.title(label("app", "wild"), anchor=False)
st.caption(label("real_models", "intro"))
notice(*sidebar.notices())
draw_head_counts(st.context.theme.type or "light")
st.markdown(texts["chart"])
st.header(label("real_models", "load"), anchor=False)
st.markdown(label("real_models", "load_line"))
draw_buttons(settings)
st.header(label("real_models", "table"), anchor=False)
draw_table(settings)
st.header(label("sent", "title"), anchor=False)
draw_sent(settings)
st.divider()
st.markdown(texts["claims"])
