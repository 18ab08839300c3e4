"""The shape ledger: every tensor of one pass, where shapes break and why, and what would fit."""

from collections.abc import Callable, Iterable
from functools import partial

import streamlit as st

from attention.config import ATTENTION_KINDS
from attention.shapes import trace_shapes
from pages.shapes.address import DEMO, FAULT, LEDGER
from pages.shapes.cost_table import draw_costs
from pages.shapes.flow import draw_all_steps, draw_flow
from pages.shapes.silent_failures import draw_silent
from pages.shapes.situations import BREAKS, apply_break, break_of
from pages.shapes.values import draw_values
from pages.shared import session, sidebar
from pages.shared.answer import notice, read_text
from pages.shared.claims import OF_SITUATION, draw_claim
from pages.shared.failure import draw_failed_step, draw_without_fault
from pages.shared.ledger import note_text, part_name
from pages.shared.models import lengths_of
from pages.shared.settings import Settings
from pages.shared.situations import SITUATIONS, apply_situation, is_full_size, scaled, situation_of
from pages.shared.style import draw_stylesheet
from pages.shared.texts import label, prose
from pages.shared.title import draw_title
from pages.shared.widgets import jump, put, segments


def draw_choices(settings: Settings) -> None:
    """The article's situations, the kinds of failure, and which attention to look at: all in one row."""
    situations, breaks, kinds = st.columns([3, 3, 4], vertical_alignment="bottom")
    with situations:
        choice = ("shapes_situation", label("shapes", "article"), SITUATIONS, situation_of(settings))
        draw_choice(*choice, lambda name: label("situation", name), partial(apply_situation, settings))
    with breaks:
        choice = ("shapes_break", label("shapes", "breaks"), BREAKS, break_of(settings))
        draw_choice(*choice, lambda name: label("break", name), partial(apply_break, settings))
    with kinds:
        shown = {"title": label("kind", "label"), "label_visibility": "collapsed"}
        segments("kind", ATTENTION_KINDS, lambda kind: label("kind", f"{kind}_short"), **shown)


def draw_choice(key: str, title: str, names: Iterable[str], shown: str | None, show: Callable, apply: Callable) -> None:
    """One of some named settings; its title stands where none of them is what is shown."""
    put(key, shown)
    look = {"index": None, "placeholder": title, "label_visibility": "collapsed", "filter_mode": None}
    st.selectbox(title, tuple(names), format_func=show, key=key, on_change=choose, args=(key, apply), **look)


def draw_situation(settings: Settings) -> None:
    """What is said of the present situation, and where to go from it."""
    here = situation_of(settings)
    if here is None:
        if not break_of(settings):
            st.caption(label("shapes", "none"))
        return
    draw_claim(OF_SITUATION[here])
    st.markdown(prose("shapes")[here].replace("\n", "  \n"))
    full = is_full_size(settings)
    with st.container(horizontal=True):
        other = scaled(settings, up=not full)
        st.button(label("shapes", "small" if full else "full"), on_click=session.change, args=(other,))
        if here == "problem_3":
            grouped = apply_situation(settings, "fix_2")
            st.button(label("shapes", "shared_keys"), on_click=session.change, args=(grouped,))


def choose(key: str, apply) -> None:
    """A situation was clicked; clicking the present one again changes nothing."""
    if name := st.session_state.get(key):
        settings = apply(name)
        if settings[FAULT]:
            session.put_fault_in(settings)
        else:
            session.change(settings, afresh=True)


settings = session.for_page()
source, refusals = read_text(settings)
trace = trace_shapes(settings.config, *lengths_of(settings, source), fault=settings[FAULT])
failure = trace.failure

draw_stylesheet("shapes")
draw_title(label("app", "shapes"), label("shapes", "intro"))
offered = sidebar.heads_offered()
sidebar.draw(offered=offered)
sidebar.draw_on_phone(offered)
notice(*session.notices(), *refusals)
steps = tuple(step for step in trace.steps if step.part == settings.kind)
with st.container(gap="xsmall"):  # a step is seen whole on one screen
    draw_choices(settings)
    if failure is not None and not steps:
        notice(label("shapes", "stops_before", part=part_name(failure.part), note=note_text(failure.note)))
        jump(label("shapes", "go_there"), kind=failure.part)
    if steps:
        draw_flow(steps, settings[LEDGER])
if failure is not None and failure.part == settings.kind:
    draw_failed_step(settings, failure)
elif settings[FAULT] and failure is None:
    notice(label("shapes", "unnoticed", fault=label("ledger_fault", settings[FAULT])))
    draw_without_fault()
draw_situation(settings)
if steps:
    draw_all_steps(steps, settings.kind, settings[LEDGER])
draw_values(settings)
draw_silent(settings[DEMO], st.context.theme.type or "light")
st.header(label("shapes", "costs"), anchor=False)
draw_costs(settings.config)
