"""Which heads are alike: a map for each kind of attention, and two heads beside each other."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import streamlit as st

from attention.config import ATTENTION_KINDS
from attention.figures import attention_chart, difference_chart
from attention.inspection import LayerView
from attention.metrics.measures import MEASURES
from attention.tasks import Tokens, get_task
from pages.redundancy.address import ORDER, PAIR
from pages.redundancy.measure import (
    choose_measure,
    dead_text,
    draw_map,
    draw_sentences,
    measure_name,
    size_text,
    sizes_text,
    summary,
)
from pages.redundancy.measured import clustered, measured
from pages.shared import session
from pages.shared.chart import draw_chart, look
from pages.shared.measured import per_head
from pages.shared.models import ModelRecord, word_view
from pages.shared.settings import Settings
from pages.shared.table import Cell, draw_table
from pages.shared.texts import label, number, percent, prose
from pages.shared.ways import column_labels
from pages.shared.widgets import box, choose_setting, linked, offers_of, put, segments, taken


def draw(settings: Settings, record: ModelRecord, source: Tokens) -> None:
    """All of it, for the chosen layer (or a kind's last one, where it has fewer)."""
    theme = st.context.theme.type or "light"
    left, right = st.columns(2, gap="medium", vertical_alignment="bottom")
    with left:
        name = choose_measure()
    with right, st.container(horizontal=True, vertical_alignment="bottom"):
        layers = tuple(range(1, settings.layers_of(settings.kind) + 1))
        segments("layer", layers, str, title=label("kind", "layer"))
        order = linked(ORDER, lambda name: label("lab", name), label("lab", "order"))
    draw_sentences(name)
    other = other_head(settings)
    for column, kind in zip(st.columns(3, gap="medium"), ATTENTION_KINDS, strict=True):
        with column:
            _draw_kind(settings, record, name, kind, order, other, theme)
    st.caption(label("lab", "sizes_note"))
    with box("what_effective", label("lab", "what_effective")) as effective:
        if effective.open:
            st.markdown(prose("redundancy")["effective"])
    _draw_pair(settings, record, source, other, theme)


def other_head(settings: Settings) -> int | None:
    """The head that the chosen one is compared with, from 1: the wanted one or the nearest; None without another."""
    others = [head for head in range(1, settings.heads_of(settings.kind) + 1) if head != settings.head]
    wanted = settings[PAIR] or 1
    return min(others, key=lambda head: abs(head - wanted)) if others else None


def _layer_of(settings: Settings, kind: str) -> int:
    return min(settings.layer, settings.layers_of(kind)) - 1


def _draw_kind(
    settings: Settings, record: ModelRecord, name: str, kind: str, order: str, other: int | None, theme: str
) -> None:
    layer = _layer_of(settings, kind)
    found = measured(record, name, kind, layer)
    heads = len(found.values)
    st.markdown(f"**{label('kind', kind)}**")
    where = label("lab", "layer_of", layer=layer + 1, layers=settings.layers_of(kind), heads=heads)
    st.caption(f"{where} · {label('lab', 'map_mark')}" if record.is_random else where)
    draw_map(
        name,
        found,
        f"pairs_{kind}",
        theme,
        on_select=lambda a, b: _pick(settings, kind, layer, a, b),
        order=clustered(name, found) if order == "by_likeness" else None,
        selected=(settings.head - 1, other - 1) if kind == settings.kind and other else None,
    )
    st.caption(summary(record, name, kind, layer, found))
    dead = dead_text(per_head(record, kind, layer).size)
    st.caption(f"{sizes_text(record, kind, layer)} {dead}")


def _pick(settings: Settings, kind: str, layer: int, first: int, second: int) -> None:
    """A cell was clicked; one on the diagonal is a head with itself, which there is nothing to say about."""
    if first == second:
        return
    wanted = session.current().put(PAIR, second + 1)
    session.change(replace(wanted, kind=kind, layer=layer + 1, head=first + 1))


def _draw_pair(settings: Settings, record: ModelRecord, source: Tokens, other: int | None, theme: str) -> None:
    """Both maps of the chosen pair, their difference, and every measure."""
    kind, layer = settings.kind, settings.layer - 1
    st.header(label("lab", "pair"), anchor=False)
    heads = tuple(range(1, settings.heads_of(kind) + 1))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        segments("kind", ATTENTION_KINDS, lambda kind: label("kind", f"{kind}_short"), title=label("kind", "label"))
        if other:
            _choose_head("a", heads, settings.head, _choose_first)
            _choose_head("b", [head for head in heads if head != settings.head], other, partial(choose_setting, PAIR))
    if not other:
        st.markdown(label("lab", "only_one"))
        return
    if settings[PAIR] and settings[PAIR] > heads[-1]:
        st.caption(label("lab", "no_such_pair", wanted=settings[PAIR], used=other))
    view = word_view(record, source).layers[kind][layer]
    st.caption(
        label("lab", "pair_hint") + " " + label("lab", "on_word", word=get_task(settings.task).join_source(source))
        if _plain(source)
        else label("lab", "pair_hint")
    )
    a, b = settings.head - 1, other - 1
    columns = st.columns(3, gap="medium")
    for column, head in zip(columns, (a, b), strict=False):
        with column:
            _draw_head(record, kind, layer, view, head, theme)
    with columns[2]:
        st.markdown(f"**{label('lab', 'difference', a=a + 1, b=b + 1)}**")
        st.caption(label("lab", "difference_help", a=a + 1, b=b + 1))
        _draw_difference(kind, view, a, b, theme)
    _draw_all_measures(record, kind, layer, a, b)


def _plain(source: Tokens) -> bool:
    """Whether the typed text is safe inside Markdown."""
    return all(token.isalnum() for token in source)


def _choose_head(which: str, heads, value: int, take: Callable[[int], None]) -> None:
    key = f"pair_{which}"
    offers = {"options": heads, "format_func": lambda head: label("lab", "head", head=head)}
    put(key, value, offers_of(**offers))
    st.selectbox(
        label("lab", f"head_{which}"),
        **offers,
        key=key,
        width=140,
        on_change=taken,
        args=(key, take),
    )


def _choose_first(head: int) -> None:
    """Choosing the other head as the first one makes them change places."""
    settings = session.current()
    if head == other_head(settings):
        settings = settings.put(PAIR, settings.head)
    session.change(replace(settings, head=head))


def _axes(kind: str) -> dict[str, str]:
    return {"row_title": label("axes", f"{kind}_row"), "col_title": label("axes", f"{kind}_column")}


def _draw_head(record: ModelRecord, kind: str, layer: int, view: LayerView, head: int, theme: str) -> None:
    title = label("lab", "head", head=head + 1)
    st.markdown(f"**{title}**" + (f" · {label('lab', 'map_mark')}" if record.is_random else ""))
    st.caption(_figures_of(record, kind, layer, head))
    shown = {"allowed": view.allowed[head], **_axes(kind), **look(theme)}
    draw_chart(
        attention_chart(view.weights[head], view.rows, column_labels(view.columns), **shown), key=f"pair_map_{head}"
    )


def _figures_of(record: ModelRecord, kind: str, layer: int, head: int) -> str:
    """What can be said of a head by itself."""
    figures = per_head(record, kind, layer)
    pattern = figures.patterns[head]
    named = label("lab", "pattern_none")
    if pattern.name is not None:
        named = label("lab", "pattern", rule=label("rule", pattern.name), share=percent(pattern.share))
    text = label(
        "lab",
        "figures" if figures.on_end[head] != figures.on_end[head] else "figures_end",
        entropy=number(figures.entropy[head]),
        on_end=percent(figures.on_end[head]),
        peak=number(figures.peakedness[head]),
        size=size_text(figures.size[head]),
        pattern=named,
    )
    if figures.alignment is not None:
        found = {"letter": percent(figures.alignment.heads[head]), "diagonal": percent(figures.alignment.diagonal)}
        text += f" · {label('lab', 'figures_letter', **found)}"
    return text


def _draw_difference(kind: str, view: LayerView, a: int, b: int, theme: str) -> None:
    shown = {"allowed": view.allowed[a] | view.allowed[b], **_axes(kind), **look(theme)}
    chart = difference_chart(view.weights[a], view.weights[b], view.rows, column_labels(view.columns), **shown)
    draw_chart(chart, key="pair_difference")


def _draw_all_measures(record: ModelRecord, kind: str, layer: int, a: int, b: int) -> None:
    rows = []
    for name, measure in MEASURES.items():
        found = measured(record, name, kind, layer)
        value = number(found.values[a, b])
        value = label("lab", measure.unit, value=value) if measure.unit else value
        chance = number(found.chance[a, b]) if found.chance is not None else ""
        rows.append((Cell(measure_name(name), below=measure.symbol), value, number(measure.alike, 0), chance))
    title = label("lab", "all_measures", a=a + 1, b=b + 1)
    draw_table(title, ("", label("lab", "value"), label("lab", "same_is"), label("lab", "chance_column")), rows)
