"""Models and what they did with a word, made once and shared by all visitors who ask for the same.

Everything cached is keyed by frozen settings, bounded in number, and never changed after it was made.
"""

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field

import streamlit as st
import torch

from attention import EncoderDecoder, ModelConfig
from attention.checkpoints import find, load
from attention.cross_attention import KV_FEEDS, fits, num_feed_weights
from attention.evaluation import Scores
from attention.inspection import WordView, inspect_reached, inspect_word
from attention.jobs import Snapshot, TrainingService
from attention.tasks import Tokens, get_task
from attention.training import TrainingSettings
from pages.parts.settings import Settings


@dataclass(frozen=True)
class Trained:
    """Where a model's weights come from.

    Attributes:
        origin: "shipped", "here" (trained in the app), "moment" (on the way there), "training", "stopped" or "random".
        scores: on held-out examples; None for weights that are not those of a whole training.
        steps: of training behind them, of `num_steps` altogether.
        weights: of a training that is not at its end; the others are made from the settings.
    """

    origin: str
    scores: Scores | None = None
    steps: int = 0
    num_steps: int = 0
    weights: dict[str, torch.Tensor] | None = field(default=None, repr=False, compare=False)


RANDOM = Trained("random")
LARGE = 3_000_000  # weights; above, a model is not trained on the page, and made one at a time
_one_large_model_at_a_time = threading.Lock()

# Visitors are served by threads of their own; a pool of threads for each of them would only be in each other's way.
torch.set_num_threads(1)


@st.cache_resource(show_spinner=False)
def training_service() -> TrainingService:
    """The one service that trains for everybody."""
    return TrainingService()


def training_settings(settings: Settings) -> TrainingSettings:
    """What the button "train this model" starts."""
    return TrainingSettings.quick(get_task(settings.task), settings.config, settings.seed)


def provenance(settings: Settings) -> Trained:
    """What weights these settings have: shipped with the app, trained in it (in whole or so far), or random ones."""
    card = find(settings.task, settings.config)
    if card is not None and card.settings.seed == settings.seed:
        return Trained("shipped", card.scores, card.settings.num_steps, card.settings.num_steps)
    if not fits(settings.config):
        return RANDOM
    wanted = training_settings(settings)
    progress = training_service().progress(wanted)
    if progress is None or not progress.step:
        return RANDOM
    step = progress.step if settings.moment is None else min(settings.moment, progress.step)
    if progress.status == "done":
        return _finished(wanted, step)
    newest = _newest(wanted, progress.step) if step == progress.step else None
    if newest is not None:
        origin = "training" if progress.open else "stopped"
        return Trained(origin, None, newest.step, wanted.num_steps, newest.weights)
    return _moment(wanted, step)


def _finished(wanted: TrainingSettings, step: int) -> Trained:
    finished = training_service().finished(wanted)
    if finished is not None and step >= wanted.num_steps:
        return Trained("here", finished.scores, wanted.num_steps, wanted.num_steps)
    return _moment(wanted, step)


def _moment(wanted: TrainingSettings, step: int) -> Trained:
    """The last kept weights up to this step."""
    kept = [snapshot for snapshot in training_service().snapshots(wanted) if snapshot.step <= step]
    if not kept or not kept[-1].step:
        return RANDOM
    return Trained("moment", None, kept[-1].step, wanted.num_steps, kept[-1].weights)


@st.cache_resource(max_entries=16, show_spinner=False)
def _newest(wanted: TrainingSettings, step: int) -> Snapshot | None:
    """The weights of an unfinished training; `step` is part of the key, so that thirty who watch read them once."""
    return training_service().newest(wanted)


def num_weights(config: ModelConfig) -> int:
    """How many weights the matrices of a model of these sizes have, without making it."""
    enc, dec = config.encoder, config.decoder
    stacks = sum(s.num_layers * 2 * s.d_model * (s.total_width + s.kv_width + s.ffn_dim) for s in (enc, dec))
    cross = dec.num_layers * 2 * dec.d_model * dec.total_width
    cross += num_feed_weights(config) if fits(config) else 0
    if KV_FEEDS[config.kv].hands_over_heads:
        cross += 2 * enc.d_model * enc.kv_width
    tokens = config.src_vocab_size * enc.d_model + 2 * config.tgt_vocab_size * dec.d_model
    return stacks + cross + tokens


@st.cache_resource(max_entries=32, show_spinner=False)
def trained_model(task: str, config: ModelConfig, seed: int, origin: str) -> EncoderDecoder:
    if origin == "shipped":
        model, _ = load(task, config)
        return model
    settings = TrainingSettings.quick(get_task(task), config, seed)
    return EncoderDecoder.with_weights(config, training_service().finished(settings).weights)


def in_turn(config: ModelConfig) -> AbstractContextManager:
    """Wait here before working with a large model: a few of them at once would be gigabytes."""
    return _one_large_model_at_a_time if num_weights(config) > LARGE else nullcontext()


@contextmanager
def model_at_work(task: str, config: ModelConfig, seed: int, origin: str) -> Iterator[EncoderDecoder]:
    """The model of these settings, while something is worked out with it.

    Random weights follow from the seed, so such a model is not kept, and of large ones there is one at a time.
    """
    if origin != "random":
        yield trained_model(task, config, seed, origin)
        return
    with in_turn(config):
        yield EncoderDecoder(config, seed).eval()


@st.cache_resource(max_entries=128, show_spinner=False)
def _view(task: str, config: ModelConfig, seed: int, origin: str, source: Tokens) -> WordView:
    if not fits(config):
        with in_turn(config):
            return inspect_reached(config, seed, get_task(task), source)
    with model_at_work(task, config, seed, origin) as model:
        return inspect_word(model, get_task(task), source)


@st.cache_resource(max_entries=64, show_spinner=False)
def _view_on_the_way(
    task: str, config: ModelConfig, seed: int, origin: str, step: int, source: Tokens, _weights: dict
) -> WordView:
    """A view of weights between the first and the last; these are many, so they have a cache of their own."""
    return inspect_word(EncoderDecoder.with_weights(config, _weights), get_task(task), source)


def view_word(settings: Settings, source: Tokens, trained: Trained) -> WordView:
    """Every head of the settings' model on one input."""
    model = (settings.task, settings.config, settings.seed, trained.origin)
    if trained.weights is not None:
        return _view_on_the_way(*model, trained.steps, source, trained.weights)
    return _view(*model, source)
