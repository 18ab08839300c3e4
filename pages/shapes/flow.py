"""One attention operation of the ledger: the picture, one step at a time, and the table."""

import streamlit as st

from attention.shapes.ledger import LedgerStep
from pages.shapes.address import LEDGER
from pages.shapes.table import draw_shape_table
from pages.shared.answer import notice
from pages.shared.ledger import dims_of, formula, latex, note_text, part_name, step_name, symbol_name
from pages.shared.shape_picture import shape_flow
from pages.shared.texts import label, listed
from pages.shared.widgets import box, choose_setting, setting


def draw_flow(steps: tuple[LedgerStep, ...], chosen: int | None) -> None:
    """A slider through the steps, the chosen one by itself, and the picture of all of them."""
    current, failed = step_shown(steps, chosen), steps[-1]
    if not failed.ok:
        where = {"part": label("kind", failed.part), "number": len(steps), "step": step_name(failed)}
        notice(label("shapes", "stops_here", **where, note=note_text(failed.note)))
    if len(steps) > 1:
        _draw_stepper(current + 1, len(steps))
    _draw_step(steps[current], current, len(steps))
    said = label("shapes", "picture", part=part_name(failed.part), steps=listed(map(step_name, steps)))
    st.html(shape_flow(steps, current, description=said))


def step_shown(steps: tuple[LedgerStep, ...], chosen: int | None) -> int:
    """The chosen step, counted from 0; where none is chosen, the one that fails, or the first one."""
    first = 1 if steps[-1].ok else len(steps)
    return min(chosen or first, len(steps)) - 1


def draw_all_steps(steps: tuple[LedgerStep, ...], part: str, chosen: int | None) -> None:
    """What holds of the whole picture, and all steps as a table."""
    st.caption(label("shapes", "scale_note"))
    title = label("shapes", "table", part=part_name(part))
    with box("ledger_table", title):
        draw_shape_table(steps, step_shown(steps, chosen), title)
        st.caption(label("shapes", "zero_based"))


def _draw_stepper(number: int, count: int) -> None:
    def move(title: str, name: str, text: str, to: int) -> None:
        here = to == number
        step = {"on_click": choose_setting, "args": (LEDGER, to), "disabled": here}
        st.button(title, key=f"ledger_{name}", help=label("shapes", text), **step)

    with st.container(horizontal=True, vertical_alignment="center"):
        move("◀", "back", "previous", max(number - 1, 1))
        move("▶", "next", "next", min(number + 1, count))
        look = {"min_value": 1, "max_value": count, "label_visibility": "collapsed"}
        setting(st.slider, LEDGER, label("shapes", "step"), value=number, **look)


def _draw_step(step: LedgerStep, number: int, count: int) -> None:
    title = label("shapes", "step_of", number=number + 1, count=count, step=step_name(step))
    made = label("shapes", "no_output")
    if step.output:
        made = f"**{symbol_name(step.output.symbol)}**: {dims_of(step.output)}"
    given = (f"{label('shapes', 'given')} **{symbol_name(shape.symbol)}**: {dims_of(shape)}" for shape in step.inputs)
    # An inline formula: a displayed one is a scrolling region of its own.
    for column, lines in zip(
        st.columns([4, 5]),
        (
            (f"**{title}**", f"${latex(step)}$", f"`{formula(step)}`"),
            (*given, f"{label('shapes', 'made')} {made}"),
        ),
        strict=True,
    ):
        with column:
            st.markdown("  \n".join(lines))
    if step.note and step.ok:
        st.markdown(note_text(step.note))
