"""The playground: a word, a model, every head on the screen."""

import time

import streamlit as st

from attention.cross_attention import fits, sharing_name
from attention.inspection import KINDS, WordView
from attention.tasks import get_task
from pages.parts import heads, sidebar
from pages.parts.answer import draw_answer, notice, read_text
from pages.parts.failure import draw_failure
from pages.parts.heads import draw_grid, draw_large
from pages.parts.models import Trained, provenance, view_word
from pages.parts.real_models import draw_miniature_line
from pages.parts.redundancy import draw_redundancy
from pages.parts.settings import VIEWS, Settings
from pages.parts.training import draw_training, has_moments, watch
from pages.parts.ways import way_text
from pages.parts.words import label, percent, prose, task_label, task_prose


def draw_choices(settings: Settings) -> None:
    """Which kind of attention, which layer, one layer's heads or all layers."""
    layers = tuple(range(1, settings.layers_of(settings.kind) + 1))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        sidebar.segments("kind", KINDS, lambda kind: label("kind", f"{kind}_short"), title=label("kind", "label"))
        sidebar.segments("layer", layers, str, title=label("kind", "layer"))
        sidebar.segments("view", VIEWS, lambda view: label("view", view), title=label("kind", "view"))


def draw_baseline(settings: Settings, view: WordView, trained: Trained) -> None:
    """What "finds the letter" has to be compared with, and why it may be empty."""
    if settings.kind != "cross":
        return
    known = view.diagonal == view.diagonal  # not NaN
    sentences = [] if known else [task_label(settings.task, "head", "unknown")]
    if trained.scores is not None:
        name = "baseline" if known else "baseline_held_out"
        shares = {"here": percent(view.diagonal), "held_out": percent(trained.scores.diagonal)}
        sentences.append(task_label(settings.task, "head", name, **shares))
    if sentences:
        st.caption(" ".join(sentences))


def draw_text(settings: Settings) -> None:
    """What to look for, what a row, a column and a cell are, and whose keys and values these are."""
    st.markdown(f"**{label('help', 'title')}**")
    say(settings, f"watch_{settings.task}")
    say(settings, settings.kind)
    if settings.kind == "cross":
        way, values = way_text(settings.config)
        say(settings, way, **values)
    heads, kv_heads = settings.heads_of(settings.kind), settings.shared_by(settings.kind)
    if kv_heads < heads and not (settings.kind == "cross" and settings.kv == "grouped"):  # which has said it
        name = sharing_name(heads, kv_heads)
        say(settings, "shared", heads=heads, kv_heads=kv_heads, group=heads // kv_heads, name=name)


def draw_numbers(settings: Settings) -> None:
    """What the numbers under the heads say."""
    if settings.kind != "cross":
        say(settings, "numbers")
        return
    for column, name in zip(st.columns(2, gap="large"), ("numbers", f"finds_{settings.task}"), strict=True):
        with column:
            say(settings, name)


def say(settings: Settings, name: str, /, **values: object) -> None:
    """A paragraph in the words of the task."""
    st.markdown(task_prose("playground", name, settings.task, **values))


def draw_where_it_stops(settings: Settings, view: WordView) -> None:
    """What stands in place of maps, or is to be said of those that are left, when cross-attention cannot run."""
    given = label("failure", "reached_note_start")
    if view.answer:
        given = label("failure", "reached_note", answer=get_task(settings.task).join_target(view.answer))
    if settings.kind == "cross":
        draw_failure(settings, len(view.source) + 1, len(view.answer) + 1, given)
    elif settings.kind == "decoder" and settings.layer > 1:
        notice(label("failure", "not_reached", layer=settings.layer))
    elif settings.kind == "decoder":
        notice(given)


def draw_page(seconds: float | None = None) -> None:
    """Everything but the sidebar. `seconds`: how often it is drawn again, while a training is under way."""
    if seconds is not None and st.session_state.get("touched"):
        st.rerun()  # something in here was changed: the sidebar and the address have to follow
    settings = sidebar.current()
    task = get_task(settings.task)
    theme = st.context.theme.type or "light"
    source, refusal = read_text(settings)
    works = fits(settings.config)
    trained = provenance(settings)
    view = view_word(settings, source, trained)
    reached = settings.layer <= len(view.layers[settings.kind])

    # Each part has its place on the page, so that the grid keeps its own (and with it the keyboard's focus) whatever
    # comes and goes above it. It is sent first, as it is what everybody waits for.
    answer_place, choices_place, trouble_place, grid_place = (st.container() for _ in range(4))
    with grid_place:
        if reached:
            draw_grid(settings, view, trained.scores, pick=sidebar.pick_head)
            draw_baseline(settings, view, trained)
    with answer_place:
        st.caption(task_label(settings.task, "app", "intro"))
        notice(*sidebar.notices())
        if refusal:
            notice(f"{refusal} {label('answer', 'shown_instead', text=task.join_source(source))}")
        if settings.moment is not None and (trained.origin == "shipped" or not has_moments(settings)):
            notice(label("train", "no_moments", moment=settings.moment))
        draw_answer(settings, view, trained, broken=not works)
        draw_miniature_line(settings)
    with choices_place:
        draw_choices(settings)
        if reached:
            st.caption(task_label(settings.task, "kind", f"{settings.kind}_line"))
    with trouble_place:
        if not works:
            draw_where_it_stops(settings, view)
        elif trained.origin != "shipped":
            draw_training(settings, theme)
    if seconds is None:
        time.sleep(heads.SECONDS_TO_PAINT)
    if reached:
        left, right = st.columns([3, 2], gap="large")
        with left:
            draw_large(settings, view, trained, theme)
        with right:
            draw_text(settings)
        draw_numbers(settings)
    if seconds is None:
        draw_redundancy(settings, view, trained, theme)
    else:
        st.caption(label("train", "replay_later"))
    st.divider()
    st.markdown(prose("playground")["unequal"])
    st.caption(label("share", "address"))


watch(sidebar.for_page(), draw_page)
