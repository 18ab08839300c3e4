"""Shared keys: models that differ in how decoder heads get keys, side by side."""

from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from attention.checkpoints import Card, shipped
from attention.metrics.measures import MEASURES
from attention.tasks import TASKS, get_task
from pages.parts import sidebar
from pages.parts.lab_measure import chance_text, choose_measure, draw_map, draw_sentences
from pages.parts.lab_table import Cell, draw_table
from pages.parts.measured import effective, measured, shipped_subject
from pages.parts.settings import Settings
from pages.parts.words import label, number, percent, prose

BLIND_TO_KEYS = ("query_cosine", "query_map_cosine", "query_cka")
ORDER = ("reproject", "direct", "grouped", "projection", "extra")
NEARLY_COPIES, HARDLY = 0.9, 0.02  # likeness, and a difference in it


@dataclass(frozen=True)
class Compared:
    """One model: its card, its effective heads, and how alike two heads are that share keys, and two that do not."""

    card: Card
    effective: float
    within: float
    across: float

    @property
    def name(self) -> str:
        return label("sharing", self.card.config.kv)

    @property
    def group(self) -> int:
        """How many heads read one K/V head."""
        config = self.card.config
        return config.decoder.num_heads // config.encoder.num_kv_heads if config.kv == "grouped" else 1


def draw(settings: Settings, subject, source) -> None:
    theme = st.context.theme.type or "light"
    texts = prose("redundancy")
    cards = comparable(settings.task)
    if len({card.config.kv for card in cards}) < 2:
        _draw_none()
        return
    st.markdown(texts["shared"])
    name = choose_measure()
    draw_sentences(name)
    layer = min(settings.layer, min(card.config.decoder.num_layers for card in cards))
    layers = tuple(range(1, settings.layers_of(settings.kind) + 1))
    sidebar.segments("layer", layers, str, title=label("kind", "layer"))
    models = [compare(card, name, layer - 1) for card in cards]
    _draw_figures(models, name, layer)
    for grouped in (one for one in models if one.group > 1):
        st.markdown(f"**{grouped.name}.** {verdict(grouped, name)} {control(grouped, models)}")
    if name in BLIND_TO_KEYS:
        st.caption(label("sharing", "blind_to_keys"))
    st.caption(texts["shared_note"])
    _draw_maps(models, name, layer, theme)


def comparable(task: str) -> list[Card]:
    """Shipped models with 8 encoder heads of size 8, and 8 or 16 decoder heads of the same size."""
    found = [card for card in shipped().values() if card.task == task and _fits(card)]
    return sorted(found, key=lambda card: (card.config.decoder.num_heads, ORDER.index(card.config.kv)))


def _fits(card: Card) -> bool:
    enc, dec = card.config.encoder, card.config.decoder
    return (enc.num_heads, enc.head_dim, dec.head_dim) == (8, 8, 8) and dec.num_heads in (8, 16)


def compare(card: Card, name: str, layer: int) -> Compared:
    """Cross-attention of one layer. Heads 2i − 1 and 2i are the pairs looked at: in groups they share keys."""
    subject = shipped_subject(card.task, card.config)
    likeness = MEASURES[name].as_similarity(measured(subject, name, "cross", layer).values)
    heads = np.arange(len(likeness))
    same_pair = (heads[:, None] // 2 == heads // 2) & (heads[:, None] != heads)
    other = heads[:, None] // 2 != heads // 2
    return Compared(card, effective(subject, name, "cross", layer), _mean(likeness[same_pair]), _mean(likeness[other]))


def _mean(values: np.ndarray) -> float:
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else float("nan")


def verdict(model: Compared, name: str) -> str:
    """What the figures say of heads that share keys."""
    difference = model.within - model.across
    more_or_less = "verdict_more" if difference > 0 else "verdict_less"
    text = more_or_less if abs(difference) > HARDLY else "verdict_same"
    said = label("sharing", text, within=number(model.within), across=number(model.across))
    if not (MEASURES[name].finds_copies and MEASURES[name].sees_values):
        return said  # such a measure cannot say whether two heads are copies
    return f"{said} {label('sharing', 'copies' if model.within >= NEARLY_COPIES else 'no_copies')}"


def control(model: Compared, models: list[Compared]) -> str:
    """The same pairs of heads where they share nothing, in a model with as many; "" where none ships."""
    heads = model.card.config.decoder.num_heads
    for other in models:
        if other.card.config.kv == "reproject" and other.card.config.decoder.num_heads == heads:
            return label("sharing", "control", heads=heads, within=number(other.within))
    return ""


def _draw_figures(models: list[Compared], name: str, layer: int) -> None:
    rows = []
    for one in models:
        config = one.card.config
        heads = config.decoder.num_heads
        sharing = label("sharing", "group_of", group=one.group) if one.group > 1 else label("sharing", "own")
        rows.append(
            (
                Cell(one.name, below=sharing),
                f"{config.encoder.num_heads} / {heads}",
                label("sharing", "of", effective=number(one.effective, 1), heads=heads),
                Cell(number(one.within), "chosen" if one.group > 1 else ""),
                number(one.across),
                percent(one.card.scores.sequence_accuracy),
            )
        )
    columns = ("kv", "heads", "effective", "pairs", "others", "accuracy")
    draw_table(label("sharing", "table", layer=layer), [label("sharing", column) for column in columns], rows)


def _draw_maps(models: list[Compared], name: str, layer: int, theme: str) -> None:
    for begin in range(0, len(models), 3):
        for column, one in zip(st.columns(3, gap="medium"), models[begin : begin + 3], strict=False):
            with column:
                heads = one.card.config.decoder.num_heads
                found = measured(shipped_subject(one.card.task, one.card.config), name, "cross", layer - 1)
                st.markdown(f"**{label('sharing', 'map', keys=one.name, heads=heads)}**")
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
        on_click=lambda: sidebar.change(replace(sidebar.current(), task=task, text=text)),
    )
