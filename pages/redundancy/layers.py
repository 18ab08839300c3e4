"""Effective heads against layers, and how they came about in training."""

from dataclasses import replace

import numpy as np
import streamlit as st

from attention.config import ATTENTION_KINDS
from attention.figures import lines_chart
from attention.metrics.measures import MEASURES
from attention.tasks import Tokens
from pages.redundancy.measure import choose_measure, draw_sentences, in_effect_text, measure_name
from pages.redundancy.measured import in_effect, measured, off_diagonal
from pages.shared import session
from pages.shared.chart import draw_chart, look
from pages.shared.models import ModelRecord, training_service
from pages.shared.settings import MAX_SEED, Settings
from pages.shared.texts import label, prose
from pages.shared.training_panel import draw_training, watch
from pages.shared.widgets import jump


def draw(settings: Settings, record: ModelRecord, source: Tokens) -> None:
    theme = st.context.theme.type or "light"
    name = choose_measure()
    draw_sentences(name)
    st.header(label("lab", "effective_layers"), anchor=False)
    if record.is_random:
        st.caption(label("lab", "map_mark"))
    x, y, notes, undefined = {}, {}, {}, []
    for kind in ATTENTION_KINDS:
        line = label("lab", "line", kind=label("kind", kind), heads=settings.heads_of(kind))
        x[line] = list(range(1, settings.layers_of(kind) + 1))
        found = [in_effect(record, name, kind, layer) for layer in range(settings.layers_of(kind))]
        y[line] = [effective.number for effective in found]
        notes[line] = [in_effect_text(effective) for effective in found]
        undefined += [
            label("lab", "undefined_in", kind=label("kind", kind), layer=layer, in_effect=in_effect_text(effective))
            for layer, effective in enumerate(found, start=1)
            if effective.defined < effective.heads
        ]
    most = max(settings.enc_heads, settings.dec_heads)
    _draw_lines(x, y, "layer_axis", "effective_axis", most, "layers", theme, notes)
    if undefined:
        st.caption(" ".join(undefined))
    st.markdown(prose("redundancy")["effective"])
    _draw_growth(settings, record, name, theme)


def _draw_growth(settings: Settings, record: ModelRecord, name: str, theme: str) -> None:
    """Over the recorded snapshots of a training in the app; drawn again and again while one is under way."""
    st.header(label("lab", "grew"), anchor=False)
    if record.origin == "shipped":
        st.markdown(label("lab", "no_moments"))
        jump(label("lab", "other_seed"), seed=(settings.seed + 1) % MAX_SEED)
        return

    def draw_so_far(seconds: float | None) -> None:
        if seconds is not None and st.session_state.get("touched"):
            st.rerun()  # something in here was changed: the sidebar and the address have to follow
        draw_training(session.current(), theme)
        if recorded := _recorded(record):
            _draw_lines_over_steps(settings, recorded, name, theme)

    watch(settings, draw_so_far)


def _recorded(record: ModelRecord) -> list[ModelRecord]:
    """The model at each step that was recorded, and where a training was stopped."""
    service, training = training_service(), record.training
    found = [replace(record, origin="snapshot", step=snapshot.step) for snapshot in service.snapshots(training)]
    progress = service.progress(training)
    if found and progress and not progress.open and progress.step > found[-1].step:
        found.append(replace(record, origin="stopped", step=progress.step))
    return found


def _draw_lines_over_steps(settings: Settings, recorded: list[ModelRecord], name: str, theme: str) -> None:
    effective, likeness = ({label("kind", kind): [] for kind in ATTENTION_KINDS} for _ in range(2))
    with st.spinner(label("lab", "measuring")):
        for then in recorded:  # one after the other, as what was collected is kept of a few only
            for kind in ATTENTION_KINDS:
                layer = min(settings.layer, settings.layers_of(kind)) - 1
                effective[label("kind", kind)].append(in_effect(then, name, kind, layer).number)
                likeness[label("kind", kind)].append(_mean_likeness(then, name, kind, layer))
    x = {line: [then.step for then in recorded] for line in effective}
    last = recorded[0].training.num_steps
    st.caption(label("lab", "growth_of", measure=measure_name(name), layer=settings.layer))
    left, right = st.columns(2, gap="medium")
    with left:
        most = max(settings.enc_heads, settings.dec_heads)
        _draw_lines(x, effective, "step_axis", "effective_axis", most, "growth", theme, last=last)
    with right:
        _draw_lines(x, likeness, "step_axis", "similarity_axis", 1.0, "growth_likeness", theme, last=last)
    st.markdown(prose("redundancy")["growth"])


def _mean_likeness(record: ModelRecord, name: str, kind: str, layer: int) -> float:
    """Of two heads: 1 is the same, whichever way the measure points."""
    pairs = off_diagonal(MEASURES[name].as_similarity(measured(record, name, kind, layer).compared))
    return float(np.mean(pairs)) if len(pairs) else float("nan")


def _draw_lines(
    x: dict,
    y: dict,
    x_title: str,
    y_title: str,
    top: float,
    key: str,
    theme: str,
    notes: dict | None = None,
    last: int | None = None,
) -> None:
    titles = {"x_title": label("lab", x_title), "y_title": label("lab", y_title)}
    whole = x_title == "layer_axis"
    bottom = min(0.0, np.nanmin([*np.concatenate(list(y.values())), 0.0]))  # a mean cosine may be below 0
    shown = {"bottom": bottom, "top": top, "whole": whole, "notes": notes, "last": last, **titles, **look(theme)}
    draw_chart(lines_chart(x, y, **shown), key=f"lines_{key}")
