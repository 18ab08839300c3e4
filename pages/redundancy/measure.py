"""Choosing a measure, with what it says and cannot see, and maps of pairs of heads."""

import numpy as np
import streamlit as st

from attention.figures import pairs_chart
from attention.metrics.measures import MEASURES
from pages.redundancy.address import MEASURE
from pages.redundancy.measured import InEffect, Measured, effective_by_size, in_effect, off_diagonal
from pages.shared.chart import draw_chart, look
from pages.shared.measured import per_head
from pages.shared.models import ModelRecord
from pages.shared.texts import label, listed, number, percent, prose
from pages.shared.widgets import box, linked

DEAD = 0.01  # a contribution below this share of the largest is next to nothing


def measure_name(name: str) -> str:
    return label("lab_measure", name)


def choose_measure() -> str:
    """A box of all measures."""
    title = label("lab", "measure")
    return linked(MEASURE, measure_name, title, make=st.selectbox)


def draw_sentences(name: str) -> None:
    """What it says, and a click away what it cannot see."""
    says, blind = prose("redundancy")[name].split("\n\n")
    st.markdown(says)
    with box("blind", label("lab", "blind")) as behind:
        if behind.open:
            st.markdown(blind)
            if name.endswith("cka"):
                st.markdown(prose("redundancy")["chance"])


def draw_map(name: str, found: Measured, key: str, theme: str, on_select=None, **options) -> None:
    """One map of pairs; a pair that is clicked is given to `on_select`, as (head, other head) from 0."""
    measure = MEASURES[name]
    chart = pairs_chart(
        found.values,
        low=measure.low,
        high=measure.high,
        alike=measure.alike,
        measure=measure_name(name),
        **options,
        **look(theme),
    )
    clicks = {"on_select": lambda: _clicked(key, on_select), "selection_mode": "points"} if on_select else {}
    draw_chart(chart, key, **clicks)


def _clicked(key: str, on_select) -> None:
    """A second click on the same cell lets go of it, and says nothing."""
    points = st.session_state[key]["selection"]["points"]
    if points and points[0].get("customdata"):
        first, second = points[0]["customdata"][:2]
        on_select(int(first), int(second))


def summary(record: ModelRecord, name: str, kind: str, layer: int, found: Measured) -> str:
    """How many heads there are in effect, and how alike two are; the chance level where there is one."""
    pairs = off_diagonal(found.compared)
    left_out = len(off_diagonal(found.values)) - len(pairs)
    if len(pairs) == 0:
        return label("lab", "one_head" if len(found.values) == 1 else "undefined")
    measure = MEASURES[name]
    effective = in_effect(record, name, kind, layer)
    text = label(
        "lab",
        "summary" if effective.number == effective.number else "summary_none",
        in_effect=in_effect_text(effective),
        mean=number(pairs.mean()),
        alike=number(pairs.max() if measure.higher_is_alike else pairs.min()),
    )
    apart = f" · {label('lab', 'no_common_column', count=left_out)}" if left_out else ""
    return f"{text}{apart}{chance_text(found)}"


def in_effect_text(effective: InEffect) -> str:
    """ "7.5 of 8 defined heads; 8 undefined": heads for which the measure is undefined are in neither number."""
    undefined = effective.heads - effective.defined
    return label(
        "lab",
        "in_effect_defined" if undefined else "in_effect",
        effective=number(effective.number, 1),
        heads=effective.defined,
        undefined=undefined,
    )


def sizes_text(record: ModelRecord, kind: str, layer: int) -> str:
    """How much each head adds, as a share of the largest, and what that comes to; what no measure of likeness sees."""
    sizes = per_head(record, kind, layer).size
    effective = number(effective_by_size(record, kind, layer), 1)
    return label("lab", "sizes", sizes=listed(size_text(size) for size in sizes), effective=effective)


def size_text(size: float) -> str:
    """A share of the largest contribution; what is hardly there is not called 0."""
    text = label("lab", "below", limit=percent(DEAD)) if size < DEAD else percent(size)
    return text.replace(" ", "\u00a0")  # not to be parted at the end of a line


def dead_text(sizes: np.ndarray) -> str:
    """How many heads add next to nothing; "" for none."""
    count = int((sizes < DEAD).sum())
    return label("lab", "dead", count=count, limit=percent(DEAD)) if count else ""


def chance_text(found: Measured) -> str:
    """The chance level of a measure that has one, with a dot before it."""
    chance = off_diagonal(found.chance)
    return f" · {label('lab', 'chance', chance=number(float(np.mean(chance))))}" if len(chance) else ""
