"""Shared keys: models that differ in how decoder heads get keys, side by side."""

from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from attention.config import KV_VARIANTS
from attention.cross_attention import KV_WAYS
from attention.metrics.measures import MEASURES
from attention.tasks import TASKS, Tokens, get_task
from attention.training.stored import Card
from pages.redundancy.measure import chance_text, choose_measure, dead_text, draw_map, draw_sentences, in_effect_text
from pages.redundancy.measured import InEffect, in_effect, measured
from pages.shared import session
from pages.shared.measured import per_head
from pages.shared.models import ModelRecord, shipped_record
from pages.shared.settings import Settings
from pages.shared.table import Cell, draw_table
from pages.shared.texts import label, number, percent, prose, task_label
from pages.shared.trained import cards_of
from pages.shared.widgets import segments

BLIND_TO_KEYS = ("query_cosine", "query_map_cosine", "query_cka")
NEARLY_COPIES, HARDLY = 0.9, 0.02  # likeness, and a difference in it


@dataclass(frozen=True, eq=False)
class KeySharing:
    """One model: its effective heads, how much each adds, how alike two that share keys are, and two others."""

    card: Card
    in_effect: InEffect
    sizes: np.ndarray
    within: float
    across: float

    @property
    def name(self) -> str:
        return label("sharing", self.card.config.kv)

    @property
    def num_heads(self) -> int:
        return self.card.config.decoder.num_heads

    @property
    def group(self) -> int:
        """How many heads read one K/V head."""
        config = self.card.config
        return config.decoder.num_heads // KV_WAYS[config.kv].kv_heads_shared(config)


def draw(settings: Settings, record: ModelRecord | None, source: Tokens) -> None:
    theme = st.context.theme.type or "light"
    texts = prose("redundancy")
    cards = comparable(settings.task)
    if len({card.config.kv for card in cards}) < 2:
        _draw_none()
        return
    st.markdown(texts["shared"])
    name = choose_measure()
    draw_sentences(name)
    layers = tuple(range(1, min(settings.dec_layers, *(card.config.decoder.num_layers for card in cards)) + 1))
    layer = min(settings.layer, layers[-1])
    segments("layer", layers, str, take=_choose_layer, title=label("kind", "layer"), key="cards_layer", value=layer)
    models = [key_sharing(card, name, layer - 1) for card in cards]
    # A table for each head count: cutting the heads of one model into halves changes these figures, and nothing else.
    for heads in sorted({one.num_heads for one in models}):
        _draw_figures([one for one in models if one.num_heads == heads], heads, layer)
    for grouped in (one for one in models if one.group > 1):
        st.markdown(f"**{grouped.name}.** {sharing_sentence(grouped, name)} {control_sentence(grouped, models)}")
    if name in BLIND_TO_KEYS:
        st.caption(label("sharing", "blind_to_keys"))
    st.caption(texts["shared_note"])
    _draw_maps(models, name, layer, theme)


def _choose_layer(layer: int) -> None:
    session.change(replace(session.current(), kind="cross", layer=layer))


def comparable(task: str) -> list[Card]:
    """Shipped models with 8 encoder heads of size 8, and 8 or 16 decoder heads of the same size."""
    found = [card for card in cards_of(task) if _fits(card)]
    return sorted(found, key=lambda card: (card.config.decoder.num_heads, tuple(KV_VARIANTS).index(card.config.kv)))


def _fits(card: Card) -> bool:
    enc, dec = card.config.encoder, card.config.decoder
    return (enc.num_heads, enc.head_dim, dec.head_dim) == (8, 8, 8) and dec.num_heads in (8, 16)


def key_sharing(card: Card, name: str, layer: int) -> KeySharing:
    """Cross-attention of one layer. Heads 2i − 1 and 2i are the pairs looked at: in groups they share keys."""
    record = shipped_record(card)
    likeness = MEASURES[name].as_similarity(measured(record, name, "cross", layer).compared)
    heads = np.arange(len(likeness))
    same_pair = (heads[:, None] // 2 == heads // 2) & (heads[:, None] != heads)
    other = heads[:, None] // 2 != heads // 2
    return KeySharing(
        card,
        in_effect(record, name, "cross", layer),
        per_head(record, "cross", layer).size,
        _mean(likeness[same_pair]),
        _mean(likeness[other]),
    )


def _mean(values: np.ndarray) -> float:
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else float("nan")


def sharing_sentence(model: KeySharing, name: str) -> str:
    """What the figures say of heads that share keys."""
    difference = model.within - model.across
    more_or_less = "verdict_more" if difference > 0 else "verdict_less"
    name_of_text = more_or_less if abs(difference) > HARDLY else "verdict_same"
    text = label("sharing", name_of_text, within=number(model.within), across=number(model.across))
    if not (MEASURES[name].finds_copies and MEASURES[name].sees_values):
        return text  # such a measure cannot say whether two heads are copies
    copies = "copies" if model.within >= NEARLY_COPIES else "no_copies"
    return f"{text} {label('sharing', copies, limit=number(NEARLY_COPIES, 1))}"


def control_sentence(model: KeySharing, models: list[KeySharing]) -> str:
    """The same pairs of heads where they share nothing, in a model with as many; "" where none ships."""
    for other in models:
        if other.card.config.kv == "reproject" and other.num_heads == model.num_heads:
            return label("sharing", "control", heads=model.num_heads, within=number(other.within))
    return ""


def _draw_figures(models: list[KeySharing], heads: int, layer: int) -> None:
    """Models with as many decoder heads, a row each."""
    rows = []
    for one in models:
        sharing = label("sharing", "group_of", group=one.group) if one.group > 1 else label("sharing", "own")
        rows.append(
            (
                Cell(one.name, below=sharing),
                Cell(in_effect_text(one.in_effect), below=dead_text(one.sizes)),
                Cell(number(one.within), "chosen" if one.group > 1 else ""),
                number(one.across),
                percent(one.card.scores.sequence_accuracy),
            )
        )
    card = models[0].card
    values = {"count": card.scores.num_examples, "steps": card.settings.num_steps}
    right = task_label(card.task, "sharing", "accuracy", **values)
    head = [*(label("sharing", column) for column in ("kv", "effective", "pairs", "others")), right]
    draw_table(label("sharing", "table", layer=layer, heads=heads), head, rows)


def _draw_maps(models: list[KeySharing], name: str, layer: int, theme: str) -> None:
    for begin in range(0, len(models), 3):
        for column, one in zip(st.columns(3, gap="medium"), models[begin : begin + 3], strict=False):
            with column:
                found = measured(shipped_record(one.card), name, "cross", layer - 1)
                st.markdown(f"**{label('sharing', 'map', keys=one.name, heads=one.num_heads)}**")
                draw_map(name, found, f"shared_{one.card.name}", theme)
                if chance := chance_text(found):
                    st.caption(chance.lstrip(" ·"))


def _draw_none() -> None:
    """A task of which no models ship that could be compared, and one of which they do."""
    task = next((task for task in TASKS if len({card.config.kv for card in comparable(task)}) > 1), None)
    if task is None:
        return
    title = label(task, "title")
    st.markdown(label("sharing", "none", task=title))
    text = get_task(task).examples[0]
    st.button(
        label("sharing", "go", task=title),
        on_click=lambda: session.change(replace(session.current(), task=task, text=text)),
    )
