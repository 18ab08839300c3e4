"""Navigation and what every page shares: the settings, the address bar, and the look."""

import streamlit as st

from pages.shared.cold_start import ask_again_if_not_found

ask_again_if_not_found()  # before anything that takes long to import

from pages.shared import presenting, session
from pages.shared.arrival import begin_at_top
from pages.shared.component import send_scripts
from pages.shared.copy_link import draw_link, tell_outer_address
from pages.shared.drawer import draw_drawer
from pages.shared.every_page import PAGES, all_declared, declared, script
from pages.shared.links import draw_locked_pages
from pages.shared.models import anew
from pages.shared.style import draw_look
from pages.shared.terms import draw_terms
from pages.shared.texts import label
from pages.shared.turns import TURNS

with TURNS.turn():
    # Before the navigation: otherwise the icon of the page is asked of an outside host, to stand in the browser's tab.
    st.set_page_config(page_icon="🔎", layout="wide")
    first = next(iter(PAGES))
    visibility = "hidden" if session.pages_are_hidden() else "visible"
    page = st.navigation(
        [
            st.Page(script(name), title=label("app", name), icon=icon, default=name == first, visibility=visibility)
            for name, icon in PAGES.items()
        ]
    )
    title = label("app", "title") if page.url_path == "" else f"{page.title} · {label('app', 'title')}"
    st.set_page_config(page_title=title)
    session.settings_from_address(page.url_path, all_declared(), declared(page.url_path or first))
    draw_look(presenting.larger_type() if presenting.is_presented() else "")
    if not presenting.is_presented():
        draw_locked_pages()
    with st.container(key="unseen"):
        send_scripts()
        draw_drawer(page.url_path)
        begin_at_top(page.url_path)
        draw_terms()
        presenting.draw_keys()
    presenting.draw_bar()
    session.settings_to_address()
    with anew():
        page.run()
    if not presenting.is_presented():
        with st.sidebar:
            draw_link()
    tell_outer_address()
    session.page_is_drawn()
