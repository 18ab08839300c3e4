"""Heads whose redundancy is known: one copied over another, and which measures notice."""

from dataclasses import replace

import streamlit as st

from attention.inspection import KINDS
from attention.metrics.heads import Head
from attention.metrics.measures import MEASURES, Measure
from attention.metrics.twins import PATTERN, WAYS
from attention.tasks import Tokens, get_task
from pages.parts import sidebar
from pages.parts.controls import choose
from pages.parts.lab_measure import measure_name
from pages.parts.lab_table import Cell, draw_table
from pages.parts.measured import NUM_WORDS, Subject, Twin, measured, scored
from pages.parts.settings import Settings
from pages.parts.words import label, number, prose

# On the scale on which 1 is "the same": from where on a measure says that two heads are alike, and where it does not.
ALIKE, DIFFERENT = 0.97, 0.9


def draw(settings: Settings, subject: Subject, source: Tokens) -> None:
    kind, layer, heads = settings.kind, settings.layer - 1, settings.heads_of(settings.kind)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        sidebar.segments("kind", KINDS, lambda kind: label("kind", f"{kind}_short"), title=label("kind", "label"))
        layers = tuple(range(1, settings.layers_of(kind) + 1))
        sidebar.segments("layer", layers, str, title=label("kind", "layer"))
        if heads > 1:
            source_head = _choose_head("source", range(heads), 0)
            target_head = _choose_head("target", [head for head in range(heads) if head != source_head], None)
    if heads == 1:
        st.markdown(label("twin", "one_head"))
        return
    pair = Head(kind, layer, source_head), Head(kind, layer, target_head)
    st.markdown(prose("redundancy")["twins"])
    planted, refusal = _planted(subject, *pair)
    shown = choose("way", tuple(planted), lambda way: label("twin", way), label("twin", "way")) if planted else None
    _draw_noticed(subject, planted, pair, shown)
    if refusal:
        st.caption(refusal)
    if shown:
        _draw_score(planted[shown])


def _choose_head(which: str, heads, usual: int | None) -> int:
    return choose(
        f"twin_{which}",
        tuple(heads),
        lambda head: label("lab", "head", head=head + 1),
        label("twin", which),
        make=st.selectbox,
        usual=usual,
    )


def _planted(subject: Subject, source: Head, target: Head) -> tuple[dict[str, Subject], str]:
    """A model for each way of copying that is possible, and why the others are not."""
    found, refusal = {}, ""
    for way in WAYS:
        twin = subject.planted(Twin(source, target, way))
        try:
            measured(twin, next(iter(MEASURES)), source.kind, source.layer)
        except ValueError as error:  # heads that share keys cannot be rewritten one by one
            refusal = f"{label('twin', 'cannot')}: {error}."
        else:
            found[way] = twin
    return found, refusal


def _draw_noticed(subject: Subject, planted: dict[str, Subject], pair: tuple[Head, Head], shown: str | None) -> None:
    """The table: a row for each measure, a column for each way."""
    first, second = pair
    rows = []
    for name, measure in MEASURES.items():

        def value(one: Subject, name: str = name) -> float:
            return float(measured(one, name, first.kind, first.layer).values[first.number, second.number])

        cells = [_judged(measure, value(twin), way) for way, twin in planted.items()]
        rows.append((Cell(measure_name(name), below=measure.symbol), number(value(subject)), *cells))
    head = [label("twin", "measure"), label("twin", "before"), *(label("twin", way) for way in planted)]
    caption = label("twin", "table", source=first.number + 1, target=second.number + 1)
    draw_table(caption, head, rows, chosen=2 + list(planted).index(shown) if shown else None)
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


def _draw_score(planted: Subject) -> None:
    """The model as it was, with the twin, with the twin taken away, and with the twin folded into the survivor."""
    twin, task = planted.twin, get_task(planted.task)
    models = {
        "whole": replace(planted, twin=None),
        "planted": planted,
        "removed": replace(planted, without=(twin.target,)),
    }
    if twin.way != PATTERN:
        models["folded"] = planted.planted(replace(twin, folded=True))
    try:
        scores = {name: scored(subject) for name, subject in models.items()}
    except ValueError:  # values that do not come from the source cannot be folded
        models.pop("folded")
        scores = {name: scored(subject) for name, subject in models.items()}
    accuracy = label("switches", "accuracy", target_words=task.target_words)
    below = label("switches", "words", count=NUM_WORDS)
    rows = [
        (Cell(accuracy, below=below), *(f"{100 * score.token_accuracy:.1f}\u00a0%" for score in scores.values())),
        (Cell(label("switches", "loss"), below=below), *(number(score.loss, 4) for score in scores.values())),
    ]
    caption = label("twin", "score_title", way=label("twin", twin.way))
    draw_table(caption, ("", *(label("twin", name) for name in scores)), rows)
    st.markdown(prose("redundancy")["fold_pattern" if twin.way == PATTERN else "fold"])
