"""Effective heads against layers, and how they came about in training."""

from dataclasses import replace

import numpy as np
import streamlit as st

from attention.figures.lines import lines_alt, lines_chart
from attention.inspection import KINDS
from attention.jobs import Snapshot
from attention.metrics.measures import MEASURES
from attention.tasks import Tokens
from pages.parts import sidebar
from pages.parts.chart import draw_chart
from pages.parts.lab_measure import choose_measure, draw_sentences, measure_name
from pages.parts.measured import Subject, effective, measured, off_diagonal
from pages.parts.models import training_service, training_settings
from pages.parts.settings import MAX_SEED, Settings
from pages.parts.training import draw_training, watch
from pages.parts.words import label, prose


def draw(settings: Settings, subject: Subject, source: Tokens) -> None:
    theme = st.context.theme.type or "light"
    name = choose_measure()
    draw_sentences(name)
    st.header(label("lab", "effective_layers"), anchor=False)
    if subject.is_random:
        st.caption(label("lab", "map_mark"))
    x, y = {}, {}
    for kind in KINDS:
        line = label("lab", "line", kind=label("kind", kind), heads=settings.heads_of(kind))
        x[line] = list(range(1, settings.layers_of(kind) + 1))
        y[line] = [effective(subject, name, kind, layer) for layer in range(settings.layers_of(kind))]
    _draw_lines(x, y, "layer_axis", "effective_axis", max(settings.enc_heads, settings.dec_heads), "layers", theme)
    st.markdown(prose("redundancy")["effective"])
    _draw_growth(settings, subject, name, theme)


def _draw_growth(settings: Settings, subject: Subject, name: str, theme: str) -> None:
    """Over the recorded moments of a training in the app; drawn again and again while one is under way."""
    st.header(label("lab", "grew"), anchor=False)
    if subject.origin == "shipped":
        st.markdown(label("lab", "no_moments"))
        sidebar.jump(label("lab", "other_seed"), seed=(settings.seed + 1) % MAX_SEED)
        return

    def draw_moments(seconds: float | None) -> None:
        if seconds is not None and st.session_state.get("touched"):
            st.rerun()  # something in here was changed: the sidebar and the address have to follow
        draw_training(sidebar.current(), theme)
        if moments := training_service().snapshots(training_settings(settings)):
            _draw_lines_over_steps(settings, subject, name, moments, theme)

    watch(settings, draw_moments)


def _draw_lines_over_steps(
    settings: Settings, subject: Subject, name: str, moments: tuple[Snapshot, ...], theme: str
) -> None:
    in_effect, likeness = ({label("kind", kind): [] for kind in KINDS} for _ in range(2))
    with st.spinner(label("lab", "measuring")):
        for moment in moments:  # one after the other, as what was collected is kept of a few only
            then = replace(subject, origin="moment", steps=moment.step, weights=moment.weights)
            for kind in KINDS:
                layer = min(settings.layer, settings.layers_of(kind)) - 1
                in_effect[label("kind", kind)].append(effective(then, name, kind, layer))
                likeness[label("kind", kind)].append(_mean_likeness(then, name, kind, layer))
    steps = [moment.step for moment in moments]
    x = {line: steps for line in in_effect}
    st.caption(label("lab", "growth_of", measure=measure_name(name), layer=settings.layer))
    left, right = st.columns(2, gap="medium")
    with left:
        most = max(settings.enc_heads, settings.dec_heads)
        _draw_lines(x, in_effect, "step_axis", "effective_axis", most, "growth", theme)
    with right:
        _draw_lines(x, likeness, "step_axis", "similarity_axis", 1.0, "growth_likeness", theme)
    st.markdown(prose("redundancy")["growth"])


def _mean_likeness(subject: Subject, name: str, kind: str, layer: int) -> float:
    """Of two heads: 1 is the same, whichever way the measure points."""
    pairs = off_diagonal(MEASURES[name].as_similarity(measured(subject, name, kind, layer).values))
    return float(np.mean(pairs)) if len(pairs) else float("nan")


def _draw_lines(x: dict, y: dict, x_title: str, y_title: str, top: float, key: str, theme: str) -> None:
    titles = {"x_title": label("lab", x_title), "y_title": label("lab", y_title)}
    whole = x_title == "layer_axis"
    bottom = min(0.0, np.nanmin([*np.concatenate(list(y.values())), 0.0]))  # a mean cosine may be below 0
    figure = lines_chart(x, y, bottom=bottom, top=top, whole=whole, theme=theme, **titles)
    draw_chart(figure, key=f"lines_{key}", alt=lines_alt(x, y, **titles))
