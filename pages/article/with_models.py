"""Experiments with trained models, on a word and on held-out words."""

from dataclasses import dataclass

import numpy as np
import streamlit as st
import torch

from attention.checkpoints import shipped
from attention.experiments.disturbed_memory import Disturbance, held_out_right, run_experiment
from attention.experiments.other_values import OtherValues, with_other_values
from attention.experiments.paired_answers import PairedAnswers
from attention.experiments.silent_failures import SILENT_FAILURES, SilentFailure
from attention.figures import comparison_chart
from attention.functional import attend
from attention.inspection.batch import collect
from attention.metrics.divergence import jensen_shannon
from attention.metrics.structure import effective_heads
from attention.tasks import get_task
from attention.training.stored import Card
from pages.article.situation import settings_for
from pages.shared.answer import badge, output_text
from pages.shared.caching import made_once
from pages.shared.chart import draw_chart, look
from pages.shared.models import ModelRecord, at_work, decoding_of, held_out, record_of, shipped_record
from pages.shared.settings import Settings
from pages.shared.table import Cell, draw_table
from pages.shared.texts import label, number, percent
from pages.shared.turns import aside

STRENGTH = 0.5
NUM_WORDS = 300
CHANCE = 0.05  # a p above it is no difference seen
HARDLY = 0.02  # bits; less is told as no difference
DISTURBANCES = (None, "noise_once", "noise_each", "off")


# ---- A2 ----


@dataclass(frozen=True)
class Disturbed:
    """What a disturbance makes of one word, and of held-out words."""

    answer: str
    drift: float
    right: tuple[bool, ...]


@aside
@made_once()
def _disturbed(record: ModelRecord, text: str, kind: str | None) -> Disturbed:
    task = get_task(record.task)
    source = task.read(text)
    disturbance = None if kind is None else Disturbance(kind, STRENGTH)
    control = decoding_of(record, source)
    with at_work(record) as model:
        found = run_experiment(control, model, task, source, disturbance)
        right = held_out_right(model, task, task.held_out(NUM_WORDS), disturbance)
    answer = output_text(task, task.tgt_vocab.decode(found.free.answer))
    return Disturbed(answer, _mean(found.drift[-1]), right)


def draw_disturbed(theme: str) -> None:
    """The memory as it is, shaken once, shaken at each step, and taken away."""
    settings = settings_for("equal", Settings())
    record = record_of(settings)
    found = {kind: _disturbed(record, settings.text, kind) for kind in DISTURBANCES}
    rows = [
        (
            label("claim_run", kind or "control"),
            one.answer,
            Cell(number(one.drift), "number"),
            Cell(percent(sum(one.right) / len(one.right)), "number"),
        )
        for kind, one in found.items()
    ]
    names = {"what_is_done": {}, "answer": {"word": settings.text}, "drift": {}, "right": {"count": NUM_WORDS}}
    head = [label("claim_run", name, **values) for name, values in names.items()]
    head[2:] = [Cell(name, "number") for name in head[2:]]
    draw_table(label("claim_try", "A2"), head, rows, look="tried", caption=False)
    pairs = PairedAnswers(found["noise_once"].right, found["noise_each"].right)
    name = "moved_same" if pairs.p_value >= CHANCE else "moved_worse"
    st.markdown(label("claim_run", name, lost=pairs.lost, won=pairs.won, p=number(pairs.p_value, 3)))
    st.caption(label("claim_run", "drift_note", size=number(STRENGTH, 1)))
    _draw_which(record)


# ---- A4 ----


@aside
@made_once()
def _other_values(record: ModelRecord, text: str) -> OtherValues:
    task = get_task(record.task)
    with at_work(record) as model:
        return with_other_values(model, task, task.read(text), record.config.decoder.num_layers - 1)


def draw_other_values(theme: str) -> None:
    """Other values in place of a model's own, and values of another size."""
    settings = settings_for("equal", Settings())
    record = record_of(settings)
    found = _other_values(record, settings.text)
    numbers = {"weights": found.num_weights, "changed": found.num_changed, "change": percent(found.output_change)}
    st.markdown(label("claim_run", "values_tried", layer=record.config.decoder.num_layers, **numbers))
    _draw_which(record)
    size, other = 64, 48
    made = _values_of_size(size, other)
    st.markdown(label("claim_run", "values_size", size=size, other=other, made=made))


def _values_of_size(size: int, other: int) -> int:
    """The size of a head's output, by PyTorch's fused attention."""
    q, k, v = torch.zeros(1, 8, 5, size), torch.zeros(1, 8, 6, size), torch.zeros(1, 8, 6, other)
    return attend(q, k, v, need_weights=False)[0].shape[-1]


# ---- A8 and A9 ----


@dataclass(frozen=True)
class LayerApart:
    """How differently pairs of heads of one layer look: neighbours 2i − 1 and 2i, the others, and all in effect."""

    neighbours: float
    others: float
    effective: float


@aside
@made_once()
def _apart(record: ModelRecord) -> tuple[LayerApart, ...]:
    batch = held_out(record.task).batch
    with at_work(record) as model:
        layers = collect(model, batch).cross
    found = []
    for layer in layers:
        apart = jensen_shannon(layer.weights, layer.allowed)
        heads = np.arange(len(apart))
        in_pair = heads[:, None] // 2 == heads // 2
        neighbours = apart[in_pair & (heads[:, None] != heads)]
        others = apart[~in_pair]
        found.append(LayerApart(_mean(neighbours), _mean(others), effective_heads(1 - apart)))
    return tuple(found)


def _mean(values: np.ndarray) -> float:
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else float("nan")


@aside
@made_once(max_bytes=10_000_000)
def _unscaled() -> SilentFailure:
    return SILENT_FAILURES["unscaled_scores"]()


def draw_scores_and_shared_keys(theme: str) -> None:
    """What the division by √head size does; and whether heads on the same keys look alike."""
    failure = _unscaled()
    curve = failure.curve
    lines = {label("silent_curves", name): values for name, values in curve.lines}
    axes = {f"{axis}_title": label("silent_curves", f"{curve.name}_{axis}") for axis in "xy"}
    draw_chart(comparison_chart(curve.x, lines, **axes, **look(theme)), key="article_scores")
    st.caption(label("claim_run", "entropy_note", keys=dict(failure.facts)["keys"]))
    record = record_of(settings_for("fix_2", Settings()))
    layers = _apart(record)
    rows = [
        (str(layer), Cell(number(one.neighbours), "number"), Cell(number(one.others), "number"))
        for layer, one in enumerate(layers, start=1)
    ]
    names = ("layer", "shared_pairs", "other_pairs")
    head = [label("claim_run", name) for name in names]
    draw_table(
        label("situation", "fix_2"),
        [head[0], *(Cell(name, "number") for name in head[1:])],
        rows,
        caption=False,
        look="tried",
    )
    apart = _mean(np.array([one.neighbours - one.others for one in layers]))
    name = "shared_same" if abs(apart) < HARDLY else "shared_more" if apart < 0 else "shared_less"
    st.markdown(label("claim_run", name, hardly=HARDLY))
    decoder = record.config.decoder
    st.caption(label("claim_run", "apart_note", heads=decoder.num_heads, group=2))
    _draw_which(record)


def draw_effective_maps(theme: str) -> None:
    """Shipped models with heads of one size, and more and more of them in the decoder."""
    cards = sorted(filter(_of_size_8, shipped().values()), key=lambda card: card.config.decoder.num_heads)
    rows = []
    for card in cards:
        layers = _apart(shipped_record(card))
        effective = (Cell(number(one.effective, 1), "number") for one in layers)
        rows.append((str(card.config.decoder.num_heads), *effective, percent(card.scores.sequence_accuracy)))
    of_layers = [f"{label('claim_run', 'effective')}, {label('claim_run', 'layer')} {n}" for n in (1, 2)]
    head = (label("claim_run", "decoder_heads"), *(Cell(name, "number") for name in of_layers))
    draw_table(label("claim_try", "A9"), (*head, label("claim_run", "accuracy")), rows, look="tried", caption=False)
    st.caption(label("claim_run", "effective_note"))


def _of_size_8(card: Card) -> bool:
    """Trained on spelling, textbook, heads of size 8 on both sides, two or more of them in the decoder."""
    enc, dec = card.config.encoder, card.config.decoder
    heads = (enc.num_heads, enc.head_dim, dec.head_dim) == (8, 8, 8) and dec.num_heads > 1
    return card.task == "spelling" and card.config.kv == "reproject" and heads and dec.num_layers == 2


def _draw_which(record: ModelRecord) -> None:
    """Which model it was, and how good it is."""
    enc, dec = record.config.encoder.num_heads, record.config.decoder.num_heads
    st.caption(f"{label('claim_run', 'with_model', enc=enc, dec=dec)} {badge(record)}")
