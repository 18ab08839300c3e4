"""Whoever comes to another page begins at its top: Streamlit stays where the one before was scrolled to."""

import json

import streamlit as st

TO_TOP = """if (window.pageThatIsShown !== {page}) document.querySelector('[data-testid="stMain"]')?.scrollTo(0, 0);
window.pageThatIsShown = {page};"""


def begin_at_top(page: str) -> None:
    """A script that does so; it runs where it is not the one that was there."""
    script = TO_TOP.format(page=json.dumps(page).replace("<", "\\u003c"))
    st.html(f"<script>\n{script}\n</script>", unsafe_allow_javascript=True)
