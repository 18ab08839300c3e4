"""Step by step: a word decoded step by step against a memory that stays fixed, and what happens when it does not."""

import streamlit as st

from attention.cross_attention import fits
from attention.tasks import get_task
from pages.anchors.experiment import draw_experiment
from pages.shared import session, sidebar
from pages.shared.answer import draw_answer, notice, read_text
from pages.shared.failure import draw_failure
from pages.shared.models import record_of, word_view
from pages.shared.texts import label, prose
from pages.shared.title import draw_title
from pages.shared.training_panel import draw_ways_to_trained

settings = session.for_page()
task = get_task(settings.task)
theme = st.context.theme.type or "light"
texts = prose("anchors")
source, refusals = read_text(settings)
works = fits(settings.config)
record = record_of(settings)
view = word_view(record, source)

draw_title(
    label("app", "anchors"),
    " ".join(label("anchors", name) for name in (("intro", "play") if works else ("intro",))),
)
offered = sidebar.heads_offered()
sidebar.draw(offered=offered)
sidebar.draw_on_phone(offered)
notice(*session.notices(), *refusals)
draw_answer(record, view, broken=not works)
if works:
    if not record.is_trained:
        draw_ways_to_trained(settings)
    experiment_place = st.container()
    st.markdown(texts["measures"])
    st.markdown(texts["player"])
else:
    known = task.join_target(view.answer)
    given = label("failure", "reached_note", answer=known) if known else label("failure", "reached_note_start")
    draw_failure(settings, source, given)
st.divider()
st.header(label("anchors", "term"), anchor=False)
st.markdown(texts["term"])
st.markdown(texts["stores"])
if works:
    # Last, as scoring held-out words takes longest: everything else is on the screen by then.
    with experiment_place:
        draw_experiment(record, source, theme)
