"""The failures that raise nothing: choose one, and it is run."""

import streamlit as st

from attention.experiments.silent_failures import SILENT_FAILURES, Damage, Map, SilentFailure, shipped_model
from attention.figures import attention_chart, comparison_chart, similarity_chart
from attention.tasks import get_task
from attention.training.stored import CheckpointError
from pages.shapes.address import DEMO
from pages.shared.answer import notice
from pages.shared.caching import made_once
from pages.shared.chart import draw_chart, look
from pages.shared.table import Cell, draw_table
from pages.shared.take_away.taken import Taken
from pages.shared.texts import label, number, paragraph, percent, prose
from pages.shared.turns import aside
from pages.shared.ways import model_name
from pages.shared.widgets import pills

IN_A_ROW = 3


@aside
@made_once(max_bytes=50_000_000)
def _run(name: str) -> SilentFailure:
    return SILENT_FAILURES[name]()


def draw_silent(chosen: str | None, theme: str) -> None:
    """One of the failures, run and shown; nothing is run before one is chosen."""
    st.header(label("shapes", "silent"), anchor=False)
    st.markdown(prose("silent")["introduction"])
    pills(DEMO, lambda name: label("silent_titles", name))
    if chosen is None:
        return
    try:
        failure = _run(chosen)
    except CheckpointError:
        name = model_name(shipped_model.config_for(get_task(shipped_model.TASK)), with_way=False)
        notice(label("silent", "no_model", task=label(shipped_model.TASK, "title"), name=name))
        return
    st.subheader(label("silent_titles", chosen), anchor=False)
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown(paragraph("silent", chosen, **dict(failure.facts)))
        for name, code in (("wrong_code", failure.wrong_code), ("right_code", failure.right_code)):
            st.caption(label("silent", name))
            st.code(code, language="python", wrap_lines=True)
    with right:
        _draw_numbers(failure)
    _draw_pictures(failure, theme)


def _draw_numbers(failure: SilentFailure) -> None:
    rows = [
        (
            label("silent_numbers", damage.name, at=damage.at),
            Cell(_written(damage, damage.right), "number"),
            Cell(_written(damage, damage.wrong), "number strong"),
        )
        for damage in failure.numbers
    ]
    measured, right, wrong = (label("silent", name) for name in ("measured", "right", "wrong"))
    head = (measured, Cell(right, "number"), Cell(wrong, "number"))
    draw_table(label("silent_titles", failure.name), head, rows, look="boxed", caption=False)
    st.caption(label("silent", failure.weights))


def _written(damage: Damage, value: float) -> str:
    return {"share": percent, "count": lambda count: number(count, 0), "number": number}[damage.unit](value)


def _draw_pictures(failure: SilentFailure, theme: str) -> None:
    if failure.curve is not None:
        curve = failure.curve
        lines = {label("silent_curves", name): values for name, values in curve.lines}
        axes = {f"{axis}_title": label("silent_curves", f"{curve.name}_{axis}") for axis in "xy"}
        if curve.marked is not None:
            axes |= {"marked": curve.marked, "mark": label("silent_curves", f"{curve.name}_mark")}
        draw_chart(
            comparison_chart(curve.x, lines, **axes, **look(theme)),
            key=f"silent_{failure.name}",
            take=_taken(failure, curve.name),
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
    key, take = f"silent_{failure.name}_{shown.name}_{shown.at}", _taken(failure, shown.name, shown.at)
    if shown.kind == "similarity":
        draw_chart(similarity_chart(shown.values, **look(theme)), key=key, take=take)
        return
    if shown.kind == "readers":
        axes = {"row_title": label("silent_maps", "query_head"), "col_title": label("silent_maps", "kv_head")}
    else:
        row, column = (label("axes", f"{shown.attention}_{axis}") for axis in ("row", "column"))
        axes = {"row_title": row, "col_title": column}
    chart = attention_chart(shown.values, shown.rows, shown.columns, allowed=shown.allowed, **axes, **look(theme))
    draw_chart(chart, key=key, take=take)


def _taken(failure: SilentFailure, *what: object) -> Taken:
    """It does not depend on the settings."""
    return Taken("-".join(map(str, (failure.name, *what))), label("silent_titles", failure.name))
