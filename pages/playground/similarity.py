"""Which query heads look alike: one similarity map for each kind of attention."""

import streamlit as st

from attention.config import ATTENTION_KINDS
from attention.figures import similarity_chart
from attention.inspection import WordView
from attention.metrics import off_diagonal_summary
from pages.shared.answer import no_skill
from pages.shared.chart import draw_chart, look
from pages.shared.models import ModelRecord
from pages.shared.settings import Settings
from pages.shared.texts import label, number, task_prose


def draw_redundancy(settings: Settings, view: WordView, record: ModelRecord, theme: str) -> None:
    """The chosen layer where a kind has it, its last layer otherwise."""
    st.header(label("redundancy", "title"), anchor=False)
    if not record.is_trained:
        st.caption(no_skill(record))
    for column, kind in zip(st.columns(3), ATTENTION_KINDS, strict=True):
        with column:
            _draw_kind(settings, view, kind, theme)
    st.markdown(task_prose("playground", "redundancy", settings.task))


def _draw_kind(settings: Settings, view: WordView, kind: str, theme: str) -> None:
    layers = view.layers[kind]
    number_shown = min(settings.layer, len(layers))
    st.markdown(f"**{label('kind', kind)}**")
    if not layers:
        st.caption(label("redundancy", "none"))
        return
    where = label("head", "layer", layer=number_shown)
    similarity = layers[number_shown - 1].similarity
    summary = off_diagonal_summary(similarity)
    if len(similarity) == 1 or summary is None:
        st.markdown(label("redundancy", "single"))
        st.caption(f"{where} · {label('redundancy', 'single_note' if len(similarity) == 1 else 'undefined')}")
        return
    st.caption(f"{where} · {label('redundancy', 'mean', mean=number(summary.mean), maximum=number(summary.maximum))}")
    draw_chart(
        similarity_chart(similarity, height=300, show_numbers=len(similarity) <= 8, **look(theme)),
        key=f"similarity_{kind}",
    )
