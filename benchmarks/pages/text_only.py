"""The playground with the same settings, model and numbers, and one line of text in place of its pictures."""

import streamlit as st

from pages.parts import sidebar
from pages.parts.answer import draw_answer, read_text
from pages.parts.models import provenance, view_word
from pages.parts.words import label

st.set_page_config(page_title=label("app", "title"), layout="wide", initial_sidebar_state=344)
sidebar.settings_from_address()
with st.sidebar:
    sidebar.draw()
sidebar.settings_to_address()

settings = sidebar.current()
source, _ = read_text(settings)
trained = provenance(settings)
view = view_word(settings, source, trained)
draw_answer(settings, view, trained, broken=False)
st.markdown(f"{len(view.layers['cross'][-1].weights)} heads")
