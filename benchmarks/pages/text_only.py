"""The playground itself, with one line of text in place of all its pictures."""

import runpy
from pathlib import Path

import streamlit as st

from pages.playground import heads, large, similarity


def one_line(settings, view, *_, **__) -> None:
    st.markdown(f"{len(view.layers[settings.kind][settings.layer - 1].weights)} heads")


def nothing(*_, **__) -> None:
    pass


heads.draw_grid, large.draw_large, similarity.draw_redundancy = one_line, nothing, nothing
heads.SECONDS_TO_PAINT = 0
runpy.run_path(str(Path(__file__).parents[2] / "app.py"))
