"""Which query heads look alike: in two numbers for each kind of attention, and on demand as maps of all pairs."""

import numpy as np
import streamlit as st

from attention.config import ATTENTION_KINDS
from attention.figures import similarity_chart
from attention.inspection import WordView
from attention.metrics import PairSummary, off_diagonal_summary
from pages.shared.answer import no_skill
from pages.shared.chart import draw_chart, look
from pages.shared.models import ModelRecord
from pages.shared.settings import Settings
from pages.shared.texts import label, number, task_prose
from pages.shared.widgets import box


def draw_redundancy(settings: Settings, view: WordView, record: ModelRecord, theme: str) -> None:
    """The chosen layer where a kind has it, its last layer otherwise."""
    st.header(label("redundancy", "title"), anchor=False)
    if not record.is_trained:
        st.caption(no_skill(record))
    maps = {}
    for column, kind in zip(st.columns(3), ATTENTION_KINDS, strict=True):
        with column:
            st.markdown(f"**{label('kind', kind)}**")
            if (shown := _draw_numbers(settings, view, kind)) is not None:
                maps[kind] = shown
    if maps:
        with box("similarity", label("redundancy", "maps")) as opened:
            if opened.open:
                _draw_maps(maps, theme)
    st.markdown(task_prose("playground", "redundancy", settings.task))


def _draw_numbers(settings: Settings, view: WordView, kind: str) -> np.ndarray | None:
    """Mean and maximum; gives the (heads, heads) cosines where there is a pair to be drawn."""
    layers = view.layers[kind]
    if not layers:
        st.caption(label("redundancy", "none"))
        return None
    number_shown = min(settings.layer, len(layers))
    similarity = layers[number_shown - 1].similarity
    summary = off_diagonal_summary(similarity)
    st.caption(f"{label('head', 'layer', layer=number_shown)} · {_in_words(similarity, summary)}")
    return None if summary is None else similarity


def _in_words(similarity: np.ndarray, summary: PairSummary | None) -> str:
    if len(similarity) == 1:
        return label("redundancy", "single_note")
    if summary is None:
        return label("redundancy", "undefined")
    return label("redundancy", "mean", mean=number(summary.mean), maximum=number(summary.maximum))


def _draw_maps(maps: dict[str, np.ndarray], theme: str) -> None:
    for column, (kind, similarity) in zip(st.columns(3), maps.items(), strict=False):
        with column:
            st.markdown(f"**{label('kind', kind)}**")
            draw_chart(
                similarity_chart(similarity, height=300, show_numbers=len(similarity) <= 8, **look(theme)),
                key=f"similarity_{kind}",
            )
