"""Links to pages with settings of their own, and the ways to other pages where a lecturer's link locks them."""

from collections.abc import Mapping
from urllib.parse import urlencode

import streamlit as st

from pages.shared.locked import carried
from pages.shared.session import current, pages_are_held, pages_are_hidden
from pages.shared.texts import label


def link_to(address: Mapping[str, str], page: str = "") -> str:
    """A page (the playground has no name) with this address, as seen from one beside it; embedded where this one is."""
    embedded = {"embed": "true"} if st.context.is_embedded else {}
    return f"./{page}?{urlencode({**address, **carried(current()), **embedded})}"


def draw_locked_pages() -> None:
    """Locked pages are seen in the navigation, and dead: Streamlit has no such links, so a style makes them so.

    Who follows one all the same, by the keyboard, is brought back (`session.settings_from_address`).
    """
    if pages_are_held() and not pages_are_hidden():
        links = '[data-testid="stSidebarNav"] a:not([aria-current])'
        st.html(f"<style>{links} {{ pointer-events: none; opacity: 0.6; }}</style>")
        st.sidebar.caption(label("locked", "pages"))
