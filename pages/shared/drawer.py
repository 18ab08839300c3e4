"""On a phone the sidebar is a drawer that lies over the page: it closes when what it offers has been chosen."""

import json

import streamlit as st

COLLAPSE = "stSidebarCollapseButton"  # the test id of Streamlit's own button, which is there while the sidebar is open
PHONE_WIDTH = 768  # px, up to which Streamlit lays the sidebar over the page
CLOSE = """if (matchMedia("(max-width: {width}px)").matches)
  document.querySelector('[data-testid="{collapse}"] button')?.click();"""


def draw_drawer(page: str) -> None:
    """Close it when another page, or a situation, is chosen: a script runs when it is not the one that was there."""
    chosen = json.dumps([page, st.session_state.get("situations_chosen", 0)]).replace("<", "\\u003c")
    script = CLOSE.format(width=PHONE_WIDTH, collapse=COLLAPSE)
    st.html(f"<script>\n// {chosen}\n{script}\n</script>", unsafe_allow_javascript=True)


def situation_was_chosen() -> None:
    """For callbacks of what is chosen in the sidebar."""
    st.session_state["situations_chosen"] = st.session_state.get("situations_chosen", 0) + 1
