"""The heads of one layer as small maps, every layer at a glance, and one head large."""

from collections.abc import Callable

import numpy as np
import streamlit as st

from attention.evaluation import Scores
from attention.figures import attention_alt, attention_heatmap
from attention.inspection import LayerView, WordView
from attention.tasks import get_task
from pages.parts.answer import badge
from pages.parts.chart import draw_chart
from pages.parts.head_grid import Section, Tile, head_grid
from pages.parts.models import Trained
from pages.parts.settings import Settings
from pages.parts.words import label, number, percent, task_label

# The browser draws what it is sent, in order. Charts sent together with the grid would hold up its painting, so whoever
# draws both waits this long between them.
SECONDS_TO_PAINT = 0.3

Captions = tuple[tuple[str, str], ...]


def captions(
    task: str, layer: LayerView, layer_index: int, head: int, kind: str, scores: Scores | None, kv_heads: int
) -> Captions:
    """The numbers under a head, as (label, value) pairs; which K/V head it reads, where heads share them."""
    lines = [
        (label("head", "entropy"), number(layer.entropy[head])),
        (label("head", "distance"), number(layer.distance[head], 1)),
    ]
    if layer.num_source < len(layer.columns):  # the decoder has columns of its own: who reads which?
        reads_source = layer.allowed[head, :, : layer.num_source].any()
        lines.insert(0, (label("head", "reads"), label("head", "reads_source" if reads_source else "reads_own")))
    if kv_heads < (heads := len(layer.weights)):
        lines.append((label("head", "reads_kv_head"), str(head // (heads // kv_heads) + 1)))
    if kind == "cross":
        lines.append((task_label(task, "head", "finds"), percent(layer.alignment[head])))
        if scores is not None:
            lines.append((label("head", "finds_held_out"), percent(scores.alignment[layer_index][head])))
    return tuple(lines)


def draw_grid(settings: Settings, view: WordView, scores: Scores | None, pick: Callable[[int, int], None]) -> None:
    """All heads of the chosen layer, or (view "layers") of every layer that was reached."""
    kind = settings.kind
    layers = view.layers[kind]
    overview = settings.view == "layers"
    kv_heads = settings.shared_by(kind)
    shown = range(len(layers)) if overview else [settings.layer - 1]
    sections = [
        Section(
            label("head", "layer", layer=index + 1) if overview else "",
            index,
            [
                Tile(
                    head,
                    label("head", "title", head=head + 1),
                    () if overview else captions(settings.task, layers[index], index, head, kind, scores, kv_heads),
                    layers[index].weights[head],
                )
                for head in range(len(layers[index].weights))
            ],
        )
        for index in shown
    ]
    layer = layers[shown[0]]
    head_grid(
        sections,
        row_labels=layer.rows,
        col_labels=layer.columns,
        row_title=label("axes", f"{kind}_row"),
        col_title=label("axes", f"{kind}_column"),
        allowed=np.concatenate([layers[index].allowed for index in shown]),
        selected=(settings.layer - 1, settings.head - 1),
        compact=overview,
        key="heads",
        on_select=pick,
    )


def draw_large(settings: Settings, view: WordView, trained: Trained, theme: str) -> None:
    """The chosen head with the numbers in its cells."""
    kind = settings.kind
    layer = view.layers[kind][settings.layer - 1]
    weights, allowed = layer.weights[settings.head - 1], layer.allowed[settings.head - 1]
    axes = {"row_title": label("axes", f"{kind}_row"), "col_title": label("axes", f"{kind}_column")}
    title = label("head", "large", head=settings.head, layer=settings.layer, kind=label("kind", kind).lower())
    if trained.scores is None:
        title = label("model", "mark", title=title, badge=badge(get_task(settings.task), trained))
    st.markdown(f"**{title}**")
    draw_chart(
        attention_heatmap(weights, layer.rows, layer.columns, allowed=allowed, theme=theme, **axes),
        key="large_head",
        alt=attention_alt(weights, layer.rows, layer.columns, allowed=allowed, **axes),
        tools=True,
    )
