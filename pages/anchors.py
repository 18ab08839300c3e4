"""Anchors: a word said step by step against a memory that stays fixed, and what happens when it does not."""

import streamlit as st

from attention.cross_attention import fits
from attention.tasks import get_task
from pages.parts import sidebar
from pages.parts.answer import draw_answer, notice, read_text
from pages.parts.decoding import draw_player
from pages.parts.experiment import draw_experiment
from pages.parts.failure import draw_failure
from pages.parts.models import RANDOM, provenance, view_word
from pages.parts.words import label, prose

settings = sidebar.for_page()
task = get_task(settings.task)
theme = st.context.theme.type or "light"
texts = prose("anchors")
source, refusal = read_text(settings)
works = fits(settings.config)
trained = provenance(settings)
if trained.weights is not None:  # a training that is not at its end: its first weights are shown, and labelled so
    trained = RANDOM
view = view_word(settings, source, trained)

st.caption(label("anchors", "intro"))
notice(*sidebar.notices())
if refusal:
    notice(f"{refusal} {label('answer', 'shown_instead', text=task.join_source(source))}")
draw_answer(settings, view, trained, broken=not works)
if works:
    draw_player(settings, source, trained)
    st.markdown(texts["player"])
    st.header(label("experiment", "title"), anchor=False)
    experiment_place = st.container()
    st.markdown(texts["measures"])
else:
    known = task.join_target(view.answer)
    given = label("failure", "reached_note", answer=known) if known else label("failure", "reached_note_start")
    draw_failure(settings, len(source) + 1, len(view.answer) + 1, given)
st.divider()
st.header(label("anchors", "term"), anchor=False)
st.markdown(texts["term"])
st.markdown(texts["stores"])
st.caption(label("anchors", "share"))
if works:
    # Last, as scoring held-out words takes longest: everything else is on the screen by then.
    with experiment_place:
        draw_experiment(settings, source, trained, theme)
