"""Parts of a page that are drawn again by themselves."""

from collections.abc import Callable

import streamlit as st
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState


def draw_apart(draw: Callable[..., None], *args: object) -> None:
    """As a fragment, but not inside another one: there it is a part of that.

    When a fragment begins anew, Streamlit throws away what of its last run was not sent yet, but keeps what fragments
    in it drew. The browser then gets parts of a container that it never got ("Bad delta path index"), and shows a white
    page.
    """
    if ThreadState.get().fragment_id is None:
        st.fragment(draw)(*args)
    else:
        with st.container():  # as a fragment has one
            draw(*args)
