"""Models and what they did with a word, made once and shared by all visitors who ask for the same.

Everything cached is keyed by frozen settings, bounded in number, and never changed after it was made.
"""

import threading
from contextlib import nullcontext
from dataclasses import dataclass

import streamlit as st
import torch

from attention import EncoderDecoder, ModelConfig
from attention.checkpoints import find, load
from attention.cross_attention import KV_FEEDS, fits, num_feed_weights
from attention.evaluation import Scores
from attention.inspection import WordView, inspect_reached, inspect_word
from attention.jobs import TrainingService
from attention.tasks import Tokens, get_task
from attention.training import TrainingSettings
from pages.parts.settings import Settings


@dataclass(frozen=True)
class Trained:
    """Where a model's weights come from. `scores` is None for random weights."""

    origin: str  # "shipped", "here" or "random"
    scores: Scores | None = None
    steps: int = 0


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
    """Whether these settings have trained weights: shipped with the app, or trained in it."""
    card = find(settings.task, settings.config)
    if card is not None and card.settings.seed == settings.seed:
        return Trained("shipped", card.scores, card.settings.num_steps)
    finished = training_service().finished(training_settings(settings)) if fits(settings.config) else None
    if finished is not None:
        return Trained("here", finished.scores, training_settings(settings).num_steps)
    return RANDOM


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
def _trained_model(task: str, config: ModelConfig, seed: int, origin: str) -> EncoderDecoder:
    if origin == "shipped":
        model, _ = load(task, config)
        return model
    model = EncoderDecoder(config, seed)
    settings = TrainingSettings.quick(get_task(task), config, seed)
    model.load_state_dict(training_service().finished(settings).weights)
    return model.eval()


@st.cache_resource(max_entries=128, show_spinner=False)
def _view(task: str, config: ModelConfig, seed: int, origin: str, source: Tokens) -> WordView:
    if origin != "random":
        return inspect_word(_trained_model(task, config, seed, origin), get_task(task), source)
    # Random weights follow from the seed, so such a model is not kept; and a few large ones at once would be gigabytes.
    with _one_large_model_at_a_time if num_weights(config) > LARGE else nullcontext():
        if not fits(config):
            return inspect_reached(config, seed, get_task(task), source)
        return inspect_word(EncoderDecoder(config, seed).eval(), get_task(task), source)


def view_word(settings: Settings, source: Tokens, trained: Trained) -> WordView:
    """Every head of the settings' model on one input."""
    return _view(settings.task, settings.config, settings.seed, trained.origin, source)
