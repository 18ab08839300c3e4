"""Navigation and what every page shares: the settings in the sidebar, the address bar, and the look."""

from pathlib import Path

import streamlit as st

from pages.parts import sidebar
from pages.parts.words import label

st.set_page_config(page_title=label("app", "title"), page_icon="🔎", layout="wide")
PAGES = Path(__file__).parent / "pages"
HAS_CONTROLS_OF_ITS_OWN = ("compare",)  # pages where those of the sidebar would change nothing
st.html(PAGES / "parts" / "style.html")

# Each page has the name of its file as its address. Before `st.navigation` is first called in a process, Streamlit
# looks for scripts in a folder called pages/ and runs the one that is asked for without anything in this file; such a
# page then runs this file itself (`sidebar.for_page`).
ICONS = {"playground": "🎛️", "shapes": "📐", "anchors": "⚓", "wild": "🌍", "redundancy": "👯", "compare": "⚖️"}
page = st.navigation(
    [
        st.Page(PAGES / f"{name}.py", title=label("app", name), icon=icon, default=name == "playground")
        for name, icon in ICONS.items()
    ]
)
sidebar.settings_from_address(page.url_path)
if page.url_path not in HAS_CONTROLS_OF_ITS_OWN:
    with st.sidebar:
        sidebar.draw()
sidebar.settings_to_address()
with sidebar.page_inside_app():
    page.run()
