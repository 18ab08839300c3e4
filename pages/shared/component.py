"""Components of our own: JavaScript and CSS that Streamlit draws as a part of the page."""

from collections.abc import Callable, Iterable
from pathlib import Path

import streamlit as st

from attention.notebook import joined

BUTTON_CSS = Path(__file__).parent / "button.css"


def component(name: str, css: Iterable[Path], js: Iterable[Path]) -> Callable:
    """The component of this name; its files are joined, so that the later ones know what the earlier ones define."""
    return st.components.v2.component(name, css=joined(css), js=joined(js))
