"""Which heads are alike: a map for each kind of attention, and two heads beside each other."""

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from attention.figures import attention_alt, attention_heatmap
from attention.figures.pairs import difference_heatmap
from attention.inspection import KINDS, LayerView
from attention.metrics.measures import MEASURES
from attention.tasks import Tokens, get_task
from pages.parts import sidebar
from pages.parts.chart import draw_chart
from pages.parts.controls import choose, keep, kept
from pages.parts.lab_measure import choose_measure, draw_map, draw_sentences, measure_name, summary
from pages.parts.lab_table import Cell, draw_table
from pages.parts.measured import Subject, clustered, measured, per_head, seen
from pages.parts.settings import Settings
from pages.parts.words import label, number, percent, prose

ORDERS = ("by_number", "by_likeness")


def draw(settings: Settings, subject: Subject, source: Tokens) -> None:
    """All of it, for the chosen layer (or a kind's last one, where it has fewer)."""
    theme = st.context.theme.type or "light"
    left, right = st.columns([3, 2], gap="medium", vertical_alignment="bottom")
    with left:
        name = choose_measure()
    with right, st.container(horizontal=True, vertical_alignment="bottom"):
        layers = tuple(range(1, settings.layers_of(settings.kind) + 1))
        sidebar.segments("layer", layers, str, title=label("kind", "layer"))
        order = choose("order", ORDERS, lambda name: label("lab", name), label("lab", "order"))
    draw_sentences(name)
    other = other_head(settings)
    for column, kind in zip(st.columns(3, gap="medium"), KINDS, strict=True):
        with column:
            _draw_kind(settings, subject, name, kind, order, other, theme)
    with st.expander(label("lab", "what_effective"), key="what_effective", on_change="rerun") as box:
        if box.open:
            st.markdown(prose("redundancy")["effective"])
    _draw_pair(settings, subject, source, other, theme)


def other_head(settings: Settings) -> int | None:
    """The head that the chosen one is compared with, from 1; None where there is no other."""
    others = [head for head in range(1, settings.heads_of(settings.kind) + 1) if head != settings.head]
    return kept("other", others) if others else None


def _layer_of(settings: Settings, kind: str) -> int:
    return min(settings.layer, settings.layers_of(kind)) - 1


def _draw_kind(
    settings: Settings, subject: Subject, name: str, kind: str, order: str, other: int | None, theme: str
) -> None:
    layer = _layer_of(settings, kind)
    found = measured(subject, name, kind, layer)
    heads = len(found.values)
    st.markdown(f"**{label('kind', kind)}**")
    where = label("lab", "layer_of", layer=layer + 1, layers=settings.layers_of(kind), heads=heads)
    st.caption(f"{where} · {label('lab', 'map_mark')}" if subject.is_random else where)
    draw_map(
        name,
        found,
        f"pairs_{kind}",
        theme,
        on_select=lambda a, b: _pick(settings, kind, layer, a, b),
        order=clustered(name, found) if order == "by_likeness" else None,
        selected=(settings.head - 1, other - 1) if kind == settings.kind and other else None,
    )
    st.caption(summary(subject, name, kind, layer, found))


def _pick(settings: Settings, kind: str, layer: int, first: int, second: int) -> None:
    """A cell was clicked; one on the diagonal is a head with itself, which there is nothing to say about."""
    if first == second:
        return
    keep("other", second + 1)
    sidebar.change(replace(sidebar.current(), kind=kind, layer=layer + 1, head=first + 1))


def _draw_pair(settings: Settings, subject: Subject, source: Tokens, other: int | None, theme: str) -> None:
    """Both maps of the chosen pair, their difference, and every measure."""
    kind, layer = settings.kind, settings.layer - 1
    st.header(label("lab", "pair"), anchor=False)
    heads = tuple(range(1, settings.heads_of(kind) + 1))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        sidebar.segments("kind", KINDS, lambda kind: label("kind", f"{kind}_short"), title=label("kind", "label"))
        if other:
            _choose_head("a", heads, settings.head, _choose_first)
            _choose_head("b", [head for head in heads if head != settings.head], other, lambda b: keep("other", b))
    if not other:
        st.markdown(label("lab", "only_one"))
        return
    view = seen(subject, source).layers[kind][layer]
    st.caption(
        label("lab", "pair_hint") + " " + label("lab", "on_word", word=get_task(settings.task).join_source(source))
        if _plain(source)
        else label("lab", "pair_hint")
    )
    a, b = settings.head - 1, other - 1
    columns = st.columns(3, gap="medium")
    for column, head in zip(columns, (a, b), strict=False):
        with column:
            _draw_head(subject, kind, layer, view, head, theme)
    with columns[2]:
        st.markdown(f"**{label('lab', 'difference', a=a + 1, b=b + 1)}**")
        st.caption(label("lab", "difference_help", a=a + 1, b=b + 1))
        _draw_difference(kind, view, a, b, theme)
    _draw_all_measures(subject, kind, layer, a, b)


def _plain(source: Tokens) -> bool:
    """Whether the typed text is safe inside Markdown."""
    return all(token.isalnum() for token in source)


def _choose_head(which: str, heads, value: int, take: Callable[[int], None]) -> None:
    key = f"pair_{which}"
    sidebar.put(key, value)
    st.selectbox(
        label("lab", f"head_{which}"),
        heads,
        format_func=lambda head: label("lab", "head", head=head),
        key=key,
        width=140,
        on_change=sidebar.taken,
        args=(key, take),
    )


def _choose_first(head: int) -> None:
    """Choosing the other head as the first one makes them change places."""
    settings = sidebar.current()
    if head == other_head(settings):
        keep("other", settings.head)
    sidebar.change(replace(settings, head=head))


def _axes(kind: str) -> dict[str, str]:
    return {"row_title": label("axes", f"{kind}_row"), "col_title": label("axes", f"{kind}_column")}


def _draw_head(subject: Subject, kind: str, layer: int, view: LayerView, head: int, theme: str) -> None:
    title = label("lab", "head", head=head + 1)
    st.markdown(f"**{title}**" + (f" · {label('lab', 'map_mark')}" if subject.is_random else ""))
    st.caption(_figures_of(subject, kind, layer, head))
    shown = {"allowed": view.allowed[head], **_axes(kind)}
    draw_chart(
        attention_heatmap(view.weights[head], view.rows, view.columns, theme=theme, **shown),
        key=f"pair_map_{head}",
        alt=attention_alt(view.weights[head], view.rows, view.columns, **shown),
    )


def _figures_of(subject: Subject, kind: str, layer: int, head: int) -> str:
    """What can be said of a head by itself."""
    figures = per_head(subject, kind, layer)
    pattern = figures.patterns[head]
    named = label("lab", "pattern_none")
    if pattern.name is not None:
        named = label("lab", "pattern", rule=pattern.name, share=percent(pattern.share))
    text = label(
        "lab",
        "figures",
        entropy=number(figures.entropy[head]),
        peak=number(figures.peakedness[head]),
        pattern=named,
    )
    if figures.alignment is not None:
        found = {"letter": percent(figures.alignment.heads[head]), "diagonal": percent(figures.alignment.diagonal)}
        text += f" · {label('lab', 'figures_letter', **found)}"
    return text


def _draw_difference(kind: str, view: LayerView, a: int, b: int, theme: str) -> None:
    difference = view.weights[a] - view.weights[b]
    either = view.allowed[a] | view.allowed[b]
    draw_chart(
        difference_heatmap(difference, view.rows, view.columns, allowed=either, theme=theme, **_axes(kind)),
        key="pair_difference",
        alt=attention_alt(abs(difference), view.rows, view.columns, allowed=either, **_axes(kind)),
    )


def _draw_all_measures(subject: Subject, kind: str, layer: int, a: int, b: int) -> None:
    rows = []
    for name, measure in MEASURES.items():
        found = measured(subject, name, kind, layer)
        value = number(found.values[a, b]) + (f" {measure.unit}" if measure.unit else "")
        chance = number(found.chance[a, b]) if found.chance is not None else ""
        rows.append((Cell(measure_name(name), below=measure.symbol), value, number(measure.alike, 0), chance))
    title = label("lab", "all_measures", a=a + 1, b=b + 1)
    draw_table(title, ("", label("lab", "value"), label("lab", "same_is"), label("lab", "chance_column")), rows)
