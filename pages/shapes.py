"""The shape ledger: every tensor of one pass, where shapes break and why, and what mends them."""

from pathlib import Path

import streamlit as st

from attention.inspection import KINDS
from attention.tasks import get_task
from attention.trace import FAULTS, trace_shapes
from pages.parts import sidebar
from pages.parts.answer import notice, read_text
from pages.parts.breaks import BREAKS, apply_break, break_of, is_full_size, scaled, situation_in_any_size
from pages.parts.costs import draw_costs
from pages.parts.failure import draw_failed_step
from pages.parts.flow import PARTS, draw_flow
from pages.parts.settings import PRESETS, Settings, apply_preset
from pages.parts.silent import draw_silent
from pages.parts.words import label, prose


def draw_situations(settings: Settings) -> None:
    """The article's situations and the kinds of failure, one click each, and what is said of the present one."""
    here, broken = situation_in_any_size(settings), break_of(settings)
    if settings.fault:
        here = None
    for key, title, names, shown, apply in (
        ("shapes_situation", "article", PRESETS, here, lambda name: apply_preset(settings, name)),
        ("shapes_break", "breaks", BREAKS, broken, lambda name: apply_break(settings, name)),
    ):
        section = "situation" if names is PRESETS else "break"
        sidebar.put(key, shown)
        st.pills(
            label("shapes", title),
            tuple(names),
            format_func=lambda name, section=section: label(section, name),
            key=key,
            on_change=choose,
            args=(key, apply),
        )
    if here:
        st.markdown(prose("shapes")[here].replace("\n", "  \n"))
        full = is_full_size(settings)
        other = scaled(settings, up=not full)
        st.button(label("shapes", "small" if full else "full"), on_click=sidebar.change, args=(other,), type="tertiary")
    elif not broken:
        st.caption(label("shapes", "none"))


def choose(key: str, apply) -> None:
    """A situation was clicked; clicking the present one again changes nothing."""
    if name := st.session_state[key]:
        sidebar.change(apply(name))


def lengths(settings: Settings) -> tuple[int, int]:
    """Source and target positions, end tokens included: of the typed text and its known answer."""
    source, _ = read_text(settings)
    answers = get_task(settings.task).answers(source)
    return len(source) + 1, len(answers[0] if answers else source) + 1


settings = sidebar.for_page()
trace = trace_shapes(settings.config, *lengths(settings), fault=settings.fault)
part = PARTS[settings.kind]
failure = trace.failure

st.html(Path(__file__).parent / "parts" / "shapes.html")
st.header(label("shapes", "title"), anchor=False)
st.caption(label("shapes", "intro"))
notice(*sidebar.notices())
draw_situations(settings)
sidebar.segments("kind", KINDS, lambda kind: label("kind", f"{kind}_short"), title=label("kind", "label"))
steps = tuple(step for step in trace.steps if step.part == part)
if failure is not None and failure.part == part:
    draw_failed_step(settings, failure)
elif failure is not None and not steps:
    notice(label("shapes", "stops_before", part=failure.part, note=failure.note))
    stopped = next(kind for kind, name in PARTS.items() if name == failure.part)
    sidebar.jump(label("shapes", "go_there"), kind=stopped)
elif settings.fault and failure is None:
    notice(label("shapes", "unnoticed", fault=FAULTS[settings.fault]))
if steps:
    draw_flow(steps, part)
draw_silent(settings.demo, st.context.theme.type or "light")
st.header(label("shapes", "costs"), anchor=False)
draw_costs(settings.config)
st.caption(label("share", "address"))
