"""What heads did with held-out words, measured once and shared by all visitors who ask for the same.

A `Subject` says which model: the one of the settings, or that with a twin planted, folded away, or with heads taken
out. Everything cached is keyed by it, bounded in number, and never changed after it was made.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import partial

import numpy as np
import streamlit as st
from torch import Tensor

from attention import EncoderDecoder, ModelConfig
from attention.inspection import WordView, inspect_word
from attention.metrics.chain import Score, without_heads
from attention.metrics.collect import Collected, HeldOut, collect, held_out_batch
from attention.metrics.heads import Head
from attention.metrics.importance import gradient_importance
from attention.metrics.measures import MEASURES, Measured
from attention.metrics.per_head import HeadFigures, head_figures
from attention.metrics.removal import score
from attention.metrics.structure import cluster_order, effective_heads
from attention.metrics.twins import copy_head, fold
from attention.removal_jobs import RemovalService
from attention.tasks import Tokens, get_task
from pages.parts.models import Trained, in_turn, trained_model
from pages.parts.settings import Settings

NUM_WORDS = 64
MEASURABLE = 20_000_000  # weights; above, one visitor's random model would keep the server from everybody else


@dataclass(frozen=True)
class Twin:
    """The head `target` overwritten with `source` (see `twins.copy_head`), and, if `folded`, folded away again."""

    source: Head
    target: Head
    way: str
    folded: bool = False


@dataclass(frozen=True)
class Subject:
    """Which model, exactly. `origin` and `steps` as in `models.Trained`; `weights` where they are on the way."""

    task: str
    config: ModelConfig
    seed: int
    origin: str
    steps: int = 0
    twin: Twin | None = None
    without: tuple[Head, ...] = ()
    weights: dict[str, Tensor] | None = field(default=None, repr=False, compare=False)

    @property
    def is_random(self) -> bool:
        return self.origin == "random"

    def planted(self, twin: Twin) -> "Subject":
        return replace(self, twin=twin)


def _key(subject: Subject) -> tuple:
    return tuple(getattr(subject, f.name) for f in fields(subject) if f.compare)


cached: Callable = partial(st.cache_resource, show_spinner=False, hash_funcs={Subject: _key})


def subject_of(settings: Settings, trained: Trained) -> Subject:
    """The model of the present settings."""
    return Subject(
        settings.task, settings.config, settings.seed, trained.origin, trained.steps, weights=trained.weights
    )


def shipped_subject(task: str, config: ModelConfig) -> Subject:
    return Subject(task, config, 0, "shipped")


@cached(max_entries=8)
def held_out(task: str) -> HeldOut:
    return held_out_batch(get_task(task), NUM_WORDS)


@cached(max_entries=16)
def model_of(subject: Subject) -> EncoderDecoder:
    """The model itself; not to be changed."""
    if subject.without:
        return without_heads(model_of(replace(subject, without=())), subject.without)
    if subject.twin is not None:
        return _with_twin(model_of(replace(subject, twin=None)), subject.twin)
    if subject.weights is not None:
        return EncoderDecoder.with_weights(subject.config, subject.weights)
    if subject.origin == "random":
        return EncoderDecoder(subject.config, subject.seed).eval()
    return trained_model(subject.task, subject.config, subject.seed, subject.origin)


def _with_twin(model: EncoderDecoder, twin: Twin) -> EncoderDecoder:
    model = copy_head(model, twin.source, twin.target, twin.way)
    return fold(model, twin.source, twin.target).model if twin.folded else model


@cached(max_entries=6)
def collected(subject: Subject) -> Collected:
    """What every head did with the held-out words, padding left out."""
    with in_turn(subject.config):
        return collect(model_of(subject), held_out(subject.task).batch)


@cached(max_entries=1024)
def measured(subject: Subject, measure: str, kind: str, layer: int) -> Measured:
    """One measure over all pairs of heads; the layer counts from 0."""
    return MEASURES[measure](getattr(collected(subject), kind)[layer])


@cached(max_entries=256)
def per_head(subject: Subject, kind: str, layer: int) -> HeadFigures:
    return head_figures(getattr(collected(subject), kind)[layer], held_out(subject.task))


@cached(max_entries=512)
def scored(subject: Subject) -> Score:
    return score(model_of(subject), held_out(subject.task).batch)


@cached(max_entries=64)
def importance(subject: Subject) -> dict[str, np.ndarray]:
    return gradient_importance(model_of(subject), held_out(subject.task).batch)


@cached(max_entries=128)
def seen(subject: Subject, source: Tokens) -> WordView:
    """Every head on one word."""
    return inspect_word(model_of(subject), get_task(subject.task), source)


@cached(max_entries=1)
def removal_service() -> RemovalService:
    """The one service that takes heads away for everybody."""
    return RemovalService()


def effective(subject: Subject, measure: str, kind: str, layer: int) -> float:
    """The effective number of heads of a layer by a measure; NaN where that has none."""
    try:
        return effective_heads(MEASURES[measure].as_similarity(measured(subject, measure, kind, layer).values))
    except ValueError:  # a negative eigenvalue: not from an inner product
        return float("nan")


def clustered(measure: str, found: Measured) -> list[int]:
    """The heads with like beside like."""
    return cluster_order(MEASURES[measure].as_distance(found.values)).tolist()


def off_diagonal(values: np.ndarray | None) -> np.ndarray:
    """The values of all pairs of two different heads that are defined."""
    if values is None:
        return np.empty(0)
    pairs = values[np.triu_indices(len(values), k=1)]
    return pairs[~np.isnan(pairs)]
