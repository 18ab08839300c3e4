"""The playground: a word, a model, every head on the screen."""

import time
from dataclasses import replace

import streamlit as st

from attention.config import ATTENTION_KINDS
from attention.cross_attention import KV_WAYS, fits, sharing_name
from attention.inspection import WordView
from attention.tasks import get_task
from attention.training.evaluation import Scores
from pages.playground import heads
from pages.playground.address import COLUMN, ROW, VIEW
from pages.playground.heads import BESIDE, draw_figures, draw_grid
from pages.playground.large import draw_large
from pages.playground.miniature import draw_miniature_line
from pages.playground.similarity import draw_redundancy
from pages.playground.square import draw_square
from pages.playground.taken import draw_code
from pages.playground.tries import draw_tries, outcome
from pages.playground.watch import what_to_look_for
from pages.shared import session, sidebar
from pages.shared.answer import draw_answer, draw_notes, known_of, notice, read_text
from pages.shared.failure import draw_failure
from pages.shared.models import ModelRecord, record_of, scores_of, word_view
from pages.shared.presenting import is_presented
from pages.shared.settings import Settings
from pages.shared.situations import draw_explanation
from pages.shared.style import draw_stylesheet
from pages.shared.terms import draw_glossary
from pages.shared.texts import label, percent, prose, task_label, task_prose
from pages.shared.title import draw_title
from pages.shared.training_panel import draw_training, has_snapshots, watch
from pages.shared.turns import TURNS
from pages.shared.ways import way_text
from pages.shared.widgets import box, segments, setting


def pick_head(layer: int, head: int, cell: tuple[int, int] | None) -> None:
    """A head was chosen, perhaps at one of its cells; all are counted from 0."""
    settings = replace(session.current(), layer=layer + 1, head=head + 1)
    if cell is not None:
        for parameter, at in zip((ROW, COLUMN), cell, strict=True):
            settings = settings.put(parameter, at + 1)
    session.change(settings)


def draw_choices(settings: Settings) -> None:
    """Which kind of attention, which layer, one layer's heads or all layers."""
    layers = tuple(range(1, settings.layers_of(settings.kind) + 1))
    with st.container(horizontal=True, vertical_alignment="center", key="choices"):
        for field, options, show, title in (
            ("kind", ATTENTION_KINDS, lambda kind: label("kind", f"{kind}_short"), label("kind", "label")),
            ("layer", layers, lambda layer: label("head", "layer", layer=layer), label("kind", "layer")),
            (VIEW, VIEW.allowed, lambda view: label("view", view), label("kind", "view")),
        ):
            segments(field, options, show, title=title, label_visibility="collapsed")


def draw_opening(settings: Settings, refusals: tuple[str, ...]) -> None:
    """The question, in one line what the model does, and what the visitor has to be told."""
    draw_title(label("app", "headline"), label(settings.task, "does"))
    notice(*session.notices(), *refusals)


def draw_word(settings: Settings, record: ModelRecord, view: WordView, tried: bool) -> None:
    """The word, to be typed, and beside it the answer; `tried`: what was done to the model is told and undone below."""
    if is_presented():  # the word is in the row at the top
        draw_answer(record, view, broken=not fits(settings.config))
        return
    with st.container(horizontal=True, vertical_alignment="center", key="word"):
        setting(st.text_input, "text", label(settings.task, "text"), label_visibility="collapsed", width=150)
        with st.container():
            draw_answer(record, view, broken=not fits(settings.config), beside_word=True)
    draw_notes(record, said_elsewhere=tried)


def draw_baseline(settings: Settings, view: WordView, scores: Scores | None) -> None:
    """What "finds the letter" has to be compared with, and why it may be empty."""
    if settings.kind != "cross":
        return
    known = view.diagonal == view.diagonal  # not NaN
    right = view.ended and view.answer in get_task(settings.task).answers(view.source)
    sentences = [] if known else [task_label(settings.task, "head", "unknown_right" if right else "unknown")]
    if scores is not None:
        name = "baseline" if known else "baseline_test"
        shares = {"here": percent(view.diagonal), "test": percent(scores.diagonal)}
        sentences.append(task_label(settings.task, "head", name, **shares))
    if sentences:
        st.caption(" ".join(sentences))


def draw_text(settings: Settings, record: ModelRecord, scores: Scores | None) -> None:
    """The situation, what to look for, what a row, a column and a cell are, and whose keys and values these are."""
    draw_explanation(settings)
    if watch := what_to_look_for(record, settings.kind, scores):
        st.markdown(watch)
    draw_paragraph(settings, settings.kind)
    if settings.kind == "cross":
        way, values = way_text(settings.config)
        draw_paragraph(settings, way, **values)
    heads, kv_heads = settings.heads_of(settings.kind), settings.shared_by(settings.kind)
    if kv_heads < heads and not (settings.kind == "cross" and KV_WAYS[settings.kv].hands_over_heads):  # which said it
        shared = label("way", "kv_heads", count=kv_heads, group=heads // kv_heads)
        draw_paragraph(
            settings, "shared", heads=heads, kv_heads=shared, name=label("way", sharing_name(heads, kv_heads))
        )


def draw_numbers(settings: Settings, view: WordView, record: ModelRecord) -> None:
    """What is measured of all heads, and what these numbers say."""
    draw_figures(settings, view, record)
    if settings.kind != "cross":
        draw_paragraph(settings, "numbers")
        return
    for column, name in zip(st.columns(2, gap="large"), ("numbers", f"finds_{settings.task}"), strict=True):
        with column:
            draw_paragraph(settings, name)


def draw_paragraph(settings: Settings, name: str, /, **values: object) -> None:
    """A paragraph in the words of the task."""
    st.markdown(task_prose("playground", name, settings.task, **values))


def draw_where_it_stops(settings: Settings, view: WordView) -> None:
    """What stands in place of maps, or is to be said of those that are left, when cross-attention cannot run."""
    given = label("failure", "reached_note_start")
    if view.answer:
        given = label("failure", "reached_note", answer=get_task(settings.task).join_target(view.answer))
    if settings.kind == "cross":
        draw_failure(settings, view.source, given)
    elif settings.kind == "decoder" and settings.layer > 1:
        notice(label("failure", "not_reached", layer=settings.layer))
    elif settings.kind == "decoder":
        notice(given)


def draw_page(seconds: float | None = None) -> None:
    """Everything but the session. `seconds`: how often it is drawn again, while a training is under way."""
    if seconds is not None and st.session_state.get("touched"):
        st.rerun()  # something in here was changed: the sidebar and the address have to follow
    settings = session.current()
    theme = st.context.theme.type or "light"
    source, refusals = read_text(settings)
    works = fits(settings.config)
    record = record_of(settings)
    view, scores = word_view(record, source), scores_of(record)
    reached = settings.layer <= len(view.layers[settings.kind])
    told = outcome(settings)

    # Each part has its place on the page, so that the grid keeps its own (and with it the keyboard's focus) whatever
    # comes and goes above it. It is sent first, as it is what everybody waits for.
    places = ("opening_place", "tries_place", "choices_place", "trouble_place", "grid_place")
    opening_place, tries_place, choices_place, trouble_place, grid_place = (
        st.container(key=place, gap="small") for place in places
    )
    with grid_place:
        if reached:
            beside = settings.heads_of(settings.kind) <= BESIDE and settings[VIEW] != "layers"
            # The same places in either case, and a stylesheet puts the second one below: the grid stays where it is.
            with st.container(key="heads_and_large"):
                small_place, large_place = st.columns([5, 3], gap="medium")
            with large_place:
                large_place = st.container(key="large_beside" if beside else "large_below")
            with small_place:
                draw_grid(settings, view, record, pick=pick_head)
                if scores is not None and settings[VIEW] != "layers":
                    st.caption(task_label(settings.task, "head", f"rules_{settings.kind}"))
                draw_baseline(settings, view, scores)
                if known := known_of(record, view):
                    st.caption(known)
    with opening_place:
        draw_opening(settings, refusals)
        if settings.moment is not None and (record.origin == "shipped" or not has_snapshots(settings)):
            notice(label("train", "no_moments", moment=settings.moment))
        draw_word(settings, record, view, bool(told))
        draw_miniature_line(settings)
    with tries_place:
        draw_tries(settings)
        if told:
            st.markdown(told)
        sidebar.draw_on_phone(offered, text=False)  # which has its place above
    with choices_place:
        draw_choices(settings)
        if reached:
            as_lines = settings[VIEW] == "lines"
            note = task_label(settings.task, "kind", f"{settings.kind}_line")
            st.caption(label("view", "lines_note") if as_lines else note)
    with trouble_place:
        if not works:
            if not reached and not told:
                draw_explanation(settings)
            draw_where_it_stops(settings, view)
        elif record.origin != "shipped":
            draw_training(settings, theme)
    if seconds is None:
        with TURNS.pause():
            time.sleep(heads.SECONDS_TO_PAINT)
    if reached:
        with large_place:
            draw_large(settings, view, record, pick_head)
            draw_text(settings, record, scores)
        draw_square(settings, view, record)
        with box("head_numbers", label("head", "figures")) as numbers:
            if numbers.open:
                draw_numbers(settings, view, record)
        draw_code(settings, view, record)
    if seconds is None:
        draw_redundancy(settings, view, record, theme)
    else:
        st.caption(label("train", "replay_later"))
    st.divider()
    st.markdown(prose("playground")["unequal"])


settings = session.for_page()
draw_stylesheet("playground")
# Before the heads, though these are what everybody waits for: a control that is told of its new value late would report
# the old one with the next click, as if it had been chosen.
offered = sidebar.heads_offered()
sidebar.draw(text=is_presented(), offered=offered)  # otherwise the word is in the page
watch(settings, draw_page)
draw_glossary()
