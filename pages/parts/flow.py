"""One attention operation of the ledger: the picture, one step at a time, and the table."""

import streamlit as st

from attention.figures.shape_flow import shape_flow
from attention.figures.shape_table import shape_table
from attention.ledger import Step
from pages.parts.words import label

PARTS = {
    "encoder": "encoder self-attention",
    "decoder": "decoder self-attention",
    "cross": "cross-attention",
}


def draw_flow(steps: tuple[Step, ...], part: str) -> None:
    """The picture with a slider through its steps, the chosen step's formula, and all steps as a table."""
    key = f"ledger_step_{part}"
    if st.session_state.get("ledger_steps") != steps:  # another ledger: its end is what everybody wants to see
        st.session_state[key] = len(steps)
    st.session_state["ledger_steps"] = steps
    current = st.session_state[key] - 1

    names = ", ".join(step.name for step in steps)
    st.html(shape_flow(steps, current, description=label("shapes", "picture", part=part, steps=names)))
    st.caption(label("shapes", "scale_note"))
    if len(steps) > 1:
        _draw_stepper(key, len(steps))
    _draw_step(steps[current], current, len(steps))
    title = label("shapes", "table", part=part)
    with st.expander(title):
        st.html(shape_table(steps, current, caption=title))
        st.caption(label("shapes", "zero_based"))


def _draw_stepper(key: str, count: int) -> None:
    def move(by: int) -> None:
        st.session_state[key] = min(max(st.session_state[key] + by, 1), count)

    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.button("◀", help=label("shapes", "previous"), on_click=move, args=(-1,), disabled=st.session_state[key] <= 1)
        st.button("▶", help=label("shapes", "next"), on_click=move, args=(1,), disabled=st.session_state[key] >= count)
        st.slider(label("shapes", "step"), 1, count, key=key)


def _draw_step(step: Step, number: int, count: int) -> None:
    st.markdown(f"**{label('shapes', 'step_of', number=number + 1, count=count, step=step.name)}**")
    left, right = st.columns(2)
    with left:
        st.markdown(f"${step.latex}$")  # inline: a displayed formula is a scrolling region of its own
        st.code(step.formula, language=None, wrap_lines=True)
    with right:
        for shape in step.inputs:
            st.markdown(f"{label('shapes', 'given')} **{shape.symbol}**: {shape}")
        made = f"**{step.output.symbol}**: {step.output}" if step.output else label("shapes", "no_output")
        st.markdown(f"{label('shapes', 'made')} {made}")
        if step.note:
            st.markdown(step.note)
