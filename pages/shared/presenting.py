"""For a lecture hall (`present=1`): no sidebar, larger type, what one changes in a row at the top, keys for steps."""

import json
from pathlib import Path

import streamlit as st

from attention.figures.layout import TEXT_SIZE
from pages.shared.every_page import PAGES
from pages.shared.locked import PRESENT, hidden_groups
from pages.shared.session import current, pages_are_held, present, touch
from pages.shared.texts import label
from pages.shared.widgets import put, taken

LARGER = 1.4  # times the usual type
SMALLEST_NUMBER = 18  # px, of numbers in maps

# What the keys press: a button of the page, or behind ">>>" one in a component's own tree.
KEYS = {
    "ArrowLeft": [
        ".st-key-lesson_back button",
        ".st-key-ledger_back button",
        ".st-key-player >>> [data-step=back]",
    ],
    "ArrowRight": [
        ".st-key-lesson_hands button",
        ".st-key-lesson_happens button",
        ".st-key-lesson_next button",
        ".st-key-ledger_next button",
        ".st-key-player >>> [data-step=next]",
    ],
    "Escape": [".st-key-present_end button"],
}
CONTROL = "a, button, input, select, textarea, summary, [role], [contenteditable]"
PAGE_ITSELF = 'body, [data-testid="stMain"], [data-testid="stApp"]'
OPEN = '[role="dialog"], [role="listbox"], [role="menu"], [data-baseweb="popover"], :popover-open'


def is_presented() -> bool:
    """Whether the page is shown to an audience."""
    return current()[PRESENT] is not None


def draw_bar() -> None:
    """The row at the top; what has an effect on the page puts its controls there with `with controls()`."""
    if not is_presented():
        return
    with st.container(key="bar", horizontal=True, vertical_alignment="bottom", gap="xsmall"):
        st.session_state["bar_controls"] = st.container(key="bar_controls", horizontal=True, gap="xsmall")
        if "pages" not in hidden_groups(current()):
            put("bar_page", _page())
            look = {"format_func": lambda name: label("app", name), "on_change": taken, "args": ("bar_page", _open)}
            look["disabled"] = pages_are_held()
            st.selectbox(label("present", "page"), tuple(PAGES), key="bar_page", width=240, **look)
        st.button(label("present", "end"), key="present_end", icon=":material/close:", on_click=present, args=(False,))


def names(title: str) -> bool:
    """Whether the row says as much as this title does."""
    return is_presented() and "pages" not in hidden_groups(current()) and title == label("app", _page())


def _page() -> str:
    return st.session_state["page"] or next(iter(PAGES))


def controls():
    """Where a page puts the controls of the row."""
    return st.session_state["bar_controls"]


def _open(page: str) -> None:
    st.session_state["to_page"] = page
    touch()


def draw_keys() -> None:
    """The keys that walk through steps and end it; without a presentation, nothing listens."""
    given = {"on": is_presented(), "keys": KEYS, "control": CONTROL, "pageItself": PAGE_ITSELF, "open": OPEN}
    script = (Path(__file__).parent / "presenting.js").read_text(encoding="utf-8")
    data = json.dumps(given).replace("<", "\\u003c")
    st.html(f"<script>\n({script})({data});\n</script>", unsafe_allow_javascript=True)


def enlarged(figure: dict) -> dict:
    """A plotly figure, as its dictionary, with larger type."""

    def larger(node: object, name: str = "") -> object:
        if isinstance(node, dict):
            return {key: node[key] * LARGER if key == "size" and name.endswith("font") else larger(node[key], key)
                    for key in node}  # fmt: skip
        return [larger(item, name) for item in node] if isinstance(node, list) else node

    return larger(figure)


def larger_type() -> str:
    """The style sheet of a presentation: all sizes are in rem, so that all grow."""
    numbers = ", ".join(f'[style*="font-size: {size}px"]' for size in range(TEXT_SIZE, SMALLEST_NUMBER))
    own = (Path(__file__).parent / "presenting.css").read_text(encoding="utf-8")
    return f"""
        {own}
        :root {{ font-size: {100 * LARGER:g}%; }}
        .heatmap-label text:is({numbers}) {{ display: none; }}
        [data-testid="stSidebar"], [data-testid="stExpandSidebarButton"], [data-testid="stToolbar"] {{ display: none; }}
    """
