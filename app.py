"""Navigation and what every page shares: the settings in the sidebar, the address bar, and the look."""

from pathlib import Path

import streamlit as st

from pages.parts import sidebar
from pages.parts.words import label

st.set_page_config(page_title=label("app", "title"), page_icon="🔎", layout="wide")
PAGES = Path(__file__).parent / "pages"
st.html(PAGES / "parts" / "style.html")

# Before `st.navigation` is first called, Streamlit looks for scripts in a folder called pages/, and would run one that
# is asked for by its file's name, without anything in this file. So no page has the address of its file.
page = st.navigation(
    [
        st.Page(PAGES / "playground.py", title=label("app", "playground"), icon="🎛️", url_path="heads", default=True),
        st.Page(PAGES / "shapes.py", title=label("app", "shapes"), icon="📐", url_path="ledger"),
        st.Page(PAGES / "wild.py", title=label("app", "wild"), icon="🌍", url_path="real-models"),
    ]
)
sidebar.settings_from_address(page.url_path)
with st.sidebar:
    sidebar.draw()
sidebar.settings_to_address()
page.run()
