"""An answer as a card: what it is of, and what was answered."""

import streamlit as st

from pages.shared.texts import verbatim


def draw_card(kind: str, title: str, answer: str) -> None:
    """`kind` is "control" or "changed"."""
    st.html(
        f'<div class="card {kind}"><p class="faint">{verbatim(title)}</p><p class="spoken">{verbatim(answer)}</p></div>'
    )
