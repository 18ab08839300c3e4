"""Heads whose redundancy is known: one copied over another, and which measures notice."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from attention.ablation.twins import PATTERN, WAYS
from attention.config import ATTENTION_KINDS
from attention.inspection.heads import Head
from attention.messages import MessageError
from attention.metrics.measures import MEASURES, Measure
from attention.tasks import Tokens, get_task
from pages.redundancy.address import COPIED, REPLACED, TWIN
from pages.redundancy.measure import measure_name
from pages.redundancy.measured import measured
from pages.shared.heads_away import scored
from pages.shared.models import NUM_WORDS, ModelRecord, Twin
from pages.shared.parameters import Parameter
from pages.shared.settings import Settings
from pages.shared.table import Cell, draw_table
from pages.shared.texts import label, number, percent, prose, say, task_label
from pages.shared.widgets import segments, setting

# On the scale on which 1 is "the same": from where on a measure says that two heads are alike, and where it does not.
ALIKE, DIFFERENT = 0.97, 0.9


def draw(settings: Settings, record: ModelRecord, source: Tokens) -> None:
    kind, layer, heads = settings.kind, settings.layer - 1, settings.heads_of(settings.kind)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        segments("kind", ATTENTION_KINDS, lambda kind: label("kind", f"{kind}_short"), title=label("kind", "label"))
        layers = tuple(range(1, settings.layers_of(kind) + 1))
        segments("layer", layers, str, title=label("kind", "layer"))
        if heads > 1:
            source_head = _choose_head(settings, COPIED, range(heads))
            target_head = _choose_head(settings, REPLACED, [head for head in range(heads) if head != source_head])
    if heads == 1:
        st.markdown(label("twin", "one_head"))
        return
    pair = Head(kind, layer, source_head), Head(kind, layer, target_head)
    planted, refusal = _planted(record, *pair)
    st.markdown(prose("redundancy")["twins"])
    if PATTERN in planted:
        st.markdown(prose("redundancy")["twins_pattern"])
    shown = _choose_way(settings, tuple(planted)) if planted else None
    _draw_noticed(record, planted, pair)
    if refusal:
        st.caption(refusal)
    if shown:
        _draw_score(planted[shown])


def _choose_head(settings: Settings, which: Parameter, heads: Sequence[int]) -> int:
    """A head, counted from 0: the wanted one, or the nearest of those there are."""
    wanted = (settings[which] or 1) - 1
    head = min(heads, key=lambda head: abs(head - wanted))
    shown = {"options": [head + 1 for head in heads], "format_func": lambda head: label("lab", "head", head=head)}
    setting(st.selectbox, which, label("twin", which.name), value=head + 1, **shown)
    return head


def _choose_way(settings: Settings, possible: tuple[str, ...]) -> str:
    way = settings[TWIN] if settings[TWIN] in possible else possible[0]
    segments(TWIN, possible, lambda way: label("twin", way), title=label("twin", "way"), value=way)
    return way


def _planted(record: ModelRecord, source: Head, target: Head) -> tuple[dict[str, ModelRecord], str]:
    """A model for each way of copying that is possible, and why the others are not."""
    found, refusal = {}, ""
    for way in WAYS:
        twin = replace(record, twin=Twin(source, target, way))
        try:
            measured(twin, next(iter(MEASURES)), source.kind, source.layer)
        except MessageError as error:  # heads that share keys cannot be rewritten one by one
            refusal = say("twin", error.message)
        else:
            found[way] = twin
    return found, refusal


def _draw_noticed(record: ModelRecord, planted: dict[str, ModelRecord], pair: tuple[Head, Head]) -> None:
    """The table: a row for each measure, a column for each way."""
    first, second = pair
    rows = []
    for name, measure in MEASURES.items():

        def value(one: ModelRecord, name: str = name) -> float:
            return float(measured(one, name, first.kind, first.layer).values[first.number, second.number])

        cells = [_judged(measure, value(twin), way) for way, twin in planted.items()]
        rows.append((Cell(measure_name(name), below=measure.symbol), number(value(record)), *cells))
    head = [label("twin", "measure"), label("twin", "before"), *(label("twin", way) for way in planted)]
    caption = label("twin", "table", source=first.number + 1, target=second.number + 1)
    draw_table(caption, head, rows)
    st.caption(label("twin", "legend", alike=ALIKE, different=DIFFERENT))


def _judged(measure: Measure, value: float, way: str) -> Cell:
    """What a measure says, and whether it is right: copies are alike, one pattern with another V is not."""
    likeness = measure.as_similarity(value)
    if likeness != likeness:
        return Cell("–")
    if DIFFERENT <= likeness < ALIKE:
        return Cell(number(value), "middling")
    says_alike = likeness >= ALIKE
    return Cell(number(value), "good" if says_alike == (way != PATTERN) else "bad")


def _draw_score(planted: ModelRecord) -> None:
    """The model as it was, with the twin, with the twin taken away, and with the twin folded into the survivor."""
    twin, task = planted.twin, get_task(planted.task)
    models = {
        "whole": replace(planted, twin=None),
        "planted": planted,
        "removed": replace(planted, without=(twin.target,)),
    }
    if twin.way != PATTERN:
        models["folded"] = replace(planted, twin=replace(twin, folded=True))
    scores = {name: scored(record) for name, record in models.items()}
    accuracy = task_label(task.name, "switches", "accuracy")
    below = label("switches", "words", count=NUM_WORDS)
    rows = [
        (
            Cell(accuracy, below=below),
            *(percent(score.token_accuracy, 1).replace(" ", "\u00a0") for score in scores.values()),
        ),
        (Cell(label("switches", "loss"), below=below), *(number(score.loss, 4) for score in scores.values())),
    ]
    caption = label("twin", "score_title", way=label("twin", twin.way))
    draw_table(caption, ("", *(label("twin", name) for name in scores)), rows)
    st.markdown(prose("redundancy")["fold_pattern" if twin.way == PATTERN else "fold"])
