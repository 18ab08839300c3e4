"""Choosing a measure, with its two sentences, and maps of pairs of heads."""

import numpy as np
import streamlit as st

from attention.figures import similarity_alt
from attention.figures.pairs import pairs_heatmap
from attention.metrics.measures import MEASURES
from pages.parts.controls import linked
from pages.parts.measured import Measured, Subject, effective, off_diagonal
from pages.parts.words import label, number, prose


def measure_name(name: str) -> str:
    return label("lab_measure", name)


def choose_measure() -> str:
    """A box of all measures."""
    title = label("lab", "measure")
    return linked("measure", tuple(MEASURES), measure_name, title, make=st.selectbox)


def draw_sentences(name: str) -> None:
    """What it says, and what it cannot see."""
    says, blind = prose("redundancy")[name].split("\n\n")
    st.markdown(f"**{label('lab', 'says')}** {says}  \n**{label('lab', 'blind')}** {blind}")
    if name.endswith("cka"):
        st.caption(prose("redundancy")["chance"])


def draw_map(name: str, found: Measured, key: str, theme: str, on_select=None, **options) -> None:
    """One map of pairs; a pair that is clicked is given to `on_select`, as (head, other head) from 0."""
    measure = MEASURES[name]
    figure = pairs_heatmap(
        found.values,
        low=measure.low,
        high=measure.high,
        alike=measure.alike,
        measure=measure_name(name),
        theme=theme,
        **options,
    )
    clicks = {"on_select": lambda: _clicked(key, on_select), "selection_mode": "points"} if on_select else {}
    st.plotly_chart(
        figure,
        key=key,
        alt=f"{measure_name(name)}. {similarity_alt(measure.as_similarity(found.values))}",
        theme=None,
        config={"displaylogo": False, "displayModeBar": False},
        **clicks,
    )


def _clicked(key: str, on_select) -> None:
    """A second click on the same cell lets go of it, and says nothing."""
    points = st.session_state[key]["selection"]["points"]
    if points and points[0].get("customdata"):
        first, second = points[0]["customdata"][:2]
        on_select(int(first), int(second))


def summary(subject: Subject, name: str, kind: str, layer: int, found: Measured) -> str:
    """How many heads there are in effect, and how alike two are; the chance level where there is one."""
    pairs = off_diagonal(found.values)
    if len(pairs) == 0:
        return label("lab", "one_head" if len(found.values) == 1 else "undefined")
    measure = MEASURES[name]
    in_effect = effective(subject, name, kind, layer)
    text = label(
        "lab",
        "summary" if in_effect == in_effect else "summary_none",
        effective=number(in_effect, 1),
        heads=len(found.values),
        mean=number(pairs.mean()),
        alike=number(pairs.max() if measure.higher_is_alike else pairs.min()),
    )
    return f"{text}{chance_text(found)}"


def chance_text(found: Measured) -> str:
    """The chance level of a measure that has one, with a dot before it."""
    chance = off_diagonal(found.chance)
    return f" · {label('lab', 'chance', chance=number(float(np.mean(chance))))}" if len(chance) else ""
