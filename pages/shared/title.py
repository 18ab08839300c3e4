"""How every page begins: its title, and in a line what one does there."""

import streamlit as st

from pages.shared.presenting import is_presented, names
from pages.shared.session import present
from pages.shared.texts import label


def draw_title(title: str, line: str = "") -> None:
    """The title, alike on all pages, beside it the way to present the page, and a line below it.

    Before an audience the row at the top names the page, and a title that says no more is left to who hears the page.
    """
    with st.container(
        key="title_named" if names(title) else "title", horizontal=True, vertical_alignment="center", gap="small"
    ):
        st.title(title, anchor=False)
        if not is_presented():
            st.button(label("present", "begin"), key="present", on_click=present, args=(True,), width="content")
    if line and not is_presented():  # who presents says it
        st.markdown(line)
