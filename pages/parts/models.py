"""Models and what they did with a word, made once and shared by all visitors who ask for the same.

Everything cached is keyed by frozen settings, bounded in number, and never changed after it was made.
"""

from dataclasses import dataclass

import streamlit as st

from attention import ConfigError, EncoderDecoder, ModelConfig
from attention.checkpoints import find, load
from attention.cross_attention import check_fit
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


@st.cache_resource(show_spinner=False)
def training_service() -> TrainingService:
    """The one service that trains for everybody."""
    return TrainingService()


def training_settings(settings: Settings) -> TrainingSettings:
    """What the button "train this model" starts."""
    return TrainingSettings.quick(get_task(settings.task), settings.config, settings.seed)


def fits(config: ModelConfig) -> bool:
    """Whether encoder and decoder work together."""
    try:
        check_fit(config)
    except ConfigError:
        return False
    return True


def provenance(settings: Settings) -> Trained:
    """Whether these settings have trained weights: shipped with the app, or trained in it."""
    card = find(settings.task, settings.config)
    if card is not None and card.settings.seed == settings.seed:
        return Trained("shipped", card.scores, card.settings.num_steps)
    finished = training_service().finished(training_settings(settings)) if fits(settings.config) else None
    if finished is not None:
        return Trained("here", finished.scores, training_settings(settings).num_steps)
    return RANDOM


@st.cache_resource(max_entries=64, show_spinner=False)
def _model(task: str, config: ModelConfig, seed: int, origin: str) -> EncoderDecoder:
    if origin == "shipped":
        model, _ = load(task, config)
        return model
    model = EncoderDecoder(config, seed)
    if origin == "here":
        settings = TrainingSettings.quick(get_task(task), config, seed)
        model.load_state_dict(training_service().finished(settings).weights)
    return model.eval()


@st.cache_resource(max_entries=512, show_spinner=False)
def _view(task: str, config: ModelConfig, seed: int, origin: str, source: Tokens) -> WordView:
    if not fits(config):
        return inspect_reached(config, seed, get_task(task), source)
    return inspect_word(_model(task, config, seed, origin), get_task(task), source)


def view_word(settings: Settings, source: Tokens, trained: Trained) -> WordView:
    """Every head of the settings' model on one input."""
    return _view(settings.task, settings.config, settings.seed, trained.origin, source)
