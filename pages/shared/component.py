"""Components of our own: JavaScript and CSS that Streamlit draws as a part of the page."""

from collections.abc import Callable, Iterable
from pathlib import Path

import streamlit as st

from attention.notebook import joined

BUTTON_CSS = Path(__file__).parent / "button.css"


def component(name: str, css: Iterable[Path], js: Iterable[Path]) -> Callable:
    """The component of this name; its files are joined, so that the later ones know what the earlier ones define.

    What is sent as a dict arrives as the one item of a list: of a dict Streamlit would look at each value whether it is
    a data frame, which takes longer than all else that is done for a component.
    """
    mount = st.components.v2.component(name, css=joined(css), js=joined(js))

    def draw(*, data: object = None, **options: object) -> object:
        return mount(data=[data] if isinstance(data, dict) else data, **options)

    return draw
