"""Navigation and what every page shares: the settings in the sidebar, the address bar, and the look."""

from pathlib import Path

import streamlit as st

from pages.parts import sidebar
from pages.parts.words import label

st.set_page_config(page_title=label("app", "title"), page_icon="🔎", layout="wide", initial_sidebar_state=344)
st.html(Path(__file__).parent / "pages" / "parts" / "style.html")

page = st.navigation([st.Page("pages/playground.py", title=label("app", "playground"), icon="🎛️", default=True)])
sidebar.settings_from_address()
with st.sidebar:
    sidebar.draw()
sidebar.settings_to_address()
page.run()
