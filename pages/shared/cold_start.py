"""The very first visitor of a server, where the address names a page.

Until `st.navigation` is first called in a process, Streamlit takes a folder called pages/ for its older kind of app. It
looks there for a script of the page's name before `app.py` runs, finds none, as each page has a folder of its own, and
tells the browser that there is no such page. The browser then only has to ask once more.
"""

import json
from urllib.parse import urlencode

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx


def ask_again_if_not_found() -> None:
    """End this run and let the browser load the address again, where Streamlit has told it that there is no page."""
    pages = get_script_run_ctx().pages_manager
    addresses = [page.get("url_pathname") for page in pages.get_pages().values()]
    was_looked_for = pages.intended_page_name and addresses == [""]  # app.py itself is the only page that it has found
    if was_looked_for:
        PagesManager.uses_pages_directory = False
        # Not a reload: by now the browser may have gone to the address of the first page.
        address = json.dumps(f"{st.context.url}?{urlencode(st.query_params.to_dict())}").replace("<", "\\u003c")
        st.html(f"<script>window.location.replace({address})</script>", unsafe_allow_javascript=True)
        st.stop()
