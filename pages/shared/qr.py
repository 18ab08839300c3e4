"""A link as a QR code, and as text that can be marked and copied anywhere."""

import io

import segno
import streamlit as st

from attention.figures.palette import BLACK, WHITE


def draw_qr(link: str, caption: str) -> None:
    """On white in a dark page, too; a link that no code can hold is written out alone."""
    try:
        code = segno.make(link, micro=False, error="m")
    except segno.DataOverflowError:
        code = None
    if code is not None:
        drawn = io.BytesIO()
        code.save(drawn, kind="svg", scale=5, border=4, dark=BLACK, light=WHITE)
        st.image(drawn.getvalue().decode(), caption=caption)
    st.code(link, language=None, wrap_lines=True)
