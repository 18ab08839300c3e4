"""The look of the pages: the palette as CSS custom properties, and a stylesheet for each page."""

from dataclasses import fields
from pathlib import Path

import streamlit as st

from attention.figures.layout import TEXT_SIZE
from attention.figures.palette import DARK, LIGHT, Palette

PAGES = Path(__file__).parent.parent


def custom_properties() -> str:
    """Each colour of the palette under its name, such as --faint-ink, in the value of the theme that is shown."""
    names = [field.name for field in fields(Palette) if isinstance(getattr(LIGHT, field.name), str)]
    colors = (
        f"--{name.replace('_', '-')}: light-dark({getattr(LIGHT, name)}, {getattr(DARK, name)});" for name in names
    )
    return f":root {{ {' '.join(colors)} }}"


def no_small_numbers() -> str:
    """Plotly makes the numbers in a map as small as its cells; below the smallest type there are rather none."""
    small = ", ".join(f'[style*="font-size: {size}px"]' for size in range(1, TEXT_SIZE))
    return f".heatmap-label text:is({small}) {{ display: none; }}"


def draw_look(more: str = "") -> None:
    """What all pages share, and `more` behind it."""
    sheet = (PAGES / "shared" / "style.css").read_text(encoding="utf-8")
    st.html(f"<style>\n{custom_properties()}\n{no_small_numbers()}\n{sheet}{more}</style>")


def draw_stylesheet(page: str) -> None:
    """What only this page needs: the stylesheet of its folder."""
    st.html(PAGES / page / f"{page}.css")
