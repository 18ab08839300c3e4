"""The failures that raise nothing: choose one, and it is run."""

import streamlit as st

from attention.figures import (
    attention_alt,
    attention_heatmap,
    comparison_alt,
    comparison_chart,
    similarity_alt,
    similarity_heatmap,
)
from attention.silent import SILENT_FAILURES
from attention.silent.result import Damage, Map, SilentFailure
from pages.parts import sidebar
from pages.parts.chart import draw_chart
from pages.parts.words import label, number, percent, prose

IN_A_ROW = 3


@st.cache_resource(max_entries=len(SILENT_FAILURES), show_spinner=False)
def _run(name: str) -> SilentFailure:
    return SILENT_FAILURES[name]()


def draw_silent(chosen: str | None, theme: str) -> None:
    """One of the failures, run and shown; nothing is run before one is chosen."""
    st.header(label("shapes", "silent"), anchor=False)
    st.markdown(prose("silent")["introduction"])
    sidebar.pills("demo", tuple(SILENT_FAILURES), lambda name: label("silent_titles", name))
    if chosen is None:
        return
    failure = _run(chosen)
    st.subheader(label("silent_titles", chosen), anchor=False)
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown(prose("silent")[chosen].format(**dict(failure.facts)))
        for name, code in (("wrong_code", failure.wrong_code), ("right_code", failure.right_code)):
            st.caption(label("silent", name))
            st.code(code, language="python", wrap_lines=True)
    with right:
        _draw_numbers(failure)
    _draw_pictures(failure, theme)


def _draw_numbers(failure: SilentFailure) -> None:
    rows = [
        f"| {label('silent', 'measured')} | {label('silent', 'right')} | {label('silent', 'wrong')} |",
        "|---|--:|--:|",
    ]
    for damage in failure.numbers:
        name = label("silent_numbers", damage.name, at=damage.at)
        rows.append(f"| {name} | {_written(damage, damage.right)} | **{_written(damage, damage.wrong)}** |")
    st.markdown("\n".join(rows))
    st.caption(label("silent", failure.weights))


def _written(damage: Damage, value: float) -> str:
    return {"share": percent, "count": lambda count: f"{count:.0f}", "number": number}[damage.unit](value)


def _draw_pictures(failure: SilentFailure, theme: str) -> None:
    if failure.curve is not None:
        curve = failure.curve
        lines = {label("silent_curves", name): values for name, values in curve.lines}
        axes = {f"{axis}_title": label("silent_curves", f"{curve.name}_{axis}") for axis in "xy"}
        if curve.marked is not None:
            axes |= {"marked": curve.marked, "mark": label("silent_curves", f"{curve.name}_mark")}
        draw_chart(
            comparison_chart(curve.x, lines, theme=theme, **axes),
            key=f"silent_{failure.name}",
            alt=comparison_alt(curve.x, lines, **axes),
        )
    for first in range(0, len(failure.maps), IN_A_ROW):
        columns = st.columns(min(len(failure.maps), IN_A_ROW))
        for place, shown in zip(columns, failure.maps[first:], strict=False):
            with place:
                _draw_map(failure, shown, theme)


def _draw_map(failure: SilentFailure, shown: Map, theme: str) -> None:
    title = label("silent_maps", shown.name, at=shown.at)
    if failure.weights == "random":
        title = label("model", "mark", title=title, badge=label("model", "random"))
    st.markdown(f"**{title}**")
    key = f"silent_{failure.name}_{shown.name}_{shown.at}"
    if shown.kind == "similarity":
        draw_chart(similarity_heatmap(shown.values, theme=theme), key=key, alt=similarity_alt(shown.values))
        return
    if shown.kind == "readers":
        axes = {"row_title": label("silent_maps", "query_head"), "col_title": label("silent_maps", "kv_head")}
    else:
        row, column = (label("axes", f"{shown.attention}_{axis}") for axis in ("row", "column"))
        axes = {"row_title": row, "col_title": column}
    draw_chart(
        attention_heatmap(shown.values, shown.rows, shown.columns, allowed=shown.allowed, theme=theme, **axes),
        key=key,
        alt=attention_alt(shown.values, shown.rows, shown.columns, allowed=shown.allowed, **axes),
    )
