"""Which model is shown: one frozen record, and whatever is looked up by it, made once for all visitors.

    record = record_of(settings)          # where its weights come from, as things stand now
    with at_work(record) as model: ...    # the model itself
    word_view(record, source)             # what every head did with one word

A record never carries weights. Those of a training are looked up where it is kept; where they have gone since the
record was made (the training moved on, or was forgotten), WeightsGone is raised, and `anew` draws the page once more.
"""

import threading
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Literal, Self

import streamlit as st
import torch

from attention import EncoderDecoder, ModelConfig
from attention.ablation.silence import MEAN, ZERO, mean_contributions, without_heads
from attention.ablation.twins import copy_head, fold
from attention.checkpoints import find, load
from attention.cross_attention import fits
from attention.decoding import Decoding
from attention.inspection import WordView, decode_source, inspect_reached, view_of
from attention.inspection.batch import HeldOut, held_out_batch
from attention.inspection.heads import Head
from attention.jobs.training_service import TrainingService
from attention.shapes.costs import num_parameters
from attention.tasks import Tokens, get_task
from attention.training import TrainingSettings
from attention.training.evaluation import Scores
from attention.training.stored import Card
from pages.shared.caching import made_once
from pages.shared.settings import Settings
from pages.shared.starters import is_connected
from pages.shared.switched_off import OFF_BY
from pages.shared.trained import card_of

LARGE = 3_000_000  # weights; above, a model is not trained on the page, and made one at a time
NUM_WORDS = 64  # held-out ones, on which heads are measured
_one_large_model_at_a_time = threading.RLock()

# Visitors are served by threads of their own; a pool of threads for each of them would only be in each other's way.
torch.set_num_threads(1)


class WeightsGone(Exception):
    """The weights of a training that were there when the record was made are there no longer."""


@dataclass(frozen=True)
class Twin:
    """The head `target` overwritten with `source` (see `twins.copy_head`), and, if `folded`, folded away again."""

    source: Head
    target: Head
    way: str
    folded: bool = False


@dataclass(frozen=True)
class ModelRecord:
    """Which model, exactly.

    Attributes:
        origin: of the weights: made from the seed, shipped with the app, or of a training in the app: its end
            ("here"), recorded on the way ("snapshot"), or the newest of one that is under way or stopped.
        step: of training behind the weights.
        twin: a head planted into it.
        without: heads taken away from it, in the model's order.
        off_by: what these add instead: nothing ("zero"), or the mean of what they added over the held-out words
            ("mean"). For a model without any taken away it stays "zero", so that one model has one record.
    """

    task: str
    config: ModelConfig
    seed: int
    origin: Literal["random", "shipped", "here", "snapshot", "training", "stopped"] = "random"
    step: int = 0
    twin: Twin | None = None
    without: tuple[Head, ...] = ()
    off_by: Literal["zero", "mean"] = ZERO

    def without_heads(self, heads: Iterable[Head], off_by: str) -> Self:
        """The same model with these heads taken away, or none."""
        heads = tuple(heads)
        return replace(self, without=heads, off_by=off_by if heads else ZERO)

    @property
    def is_random(self) -> bool:
        return self.origin == "random"

    @property
    def is_trained(self) -> bool:
        """Whether these are the weights of a whole training."""
        return self.origin in ("shipped", "here")

    @property
    def is_half_trained(self) -> bool:
        return self.origin in ("snapshot", "training", "stopped")

    @property
    def training(self) -> TrainingSettings:
        """What the button "train this one" starts."""
        return TrainingSettings.quick(get_task(self.task), self.config, self.seed)


@made_once()
def training_service() -> TrainingService:
    """The one service that trains for everybody."""
    return TrainingService(is_here=is_connected)


def training_settings(settings: Settings) -> TrainingSettings:
    """What the button "train this one" starts."""
    return _untrained(settings).training


def _untrained(settings: Settings) -> ModelRecord:
    return ModelRecord(settings.task, settings.config, settings.seed)


def shipped_record(card: Card) -> ModelRecord:
    """The model of a card."""
    return ModelRecord(card.task, card.config, card.settings.seed, "shipped", card.settings.num_steps)


def leads_to_trained(settings: Settings) -> bool:
    """Whether the model of these settings is trained, when it is first shown."""
    return _whole(replace(settings, moment=None)).is_trained


def record_of(settings: Settings) -> ModelRecord:
    """The model of these settings as it is now, without the heads that are switched off."""
    whole = _whole(settings)
    return whole.without_heads(settings.off, settings[OFF_BY]) if fits(settings.config) else whole


def _whole(settings: Settings) -> ModelRecord:
    """Shipped, trained in the app (in whole or so far), or random."""
    if card := card_of(settings.task, settings.config, settings.seed):
        return shipped_record(card)
    untrained = _untrained(settings)
    progress = training_service().progress(untrained.training) if fits(settings.config) else None
    if progress is None or progress.status == "failed" or not progress.step:
        return untrained
    step = progress.step if settings.moment is None else min(settings.moment, progress.step)
    if step == progress.step:
        origin = "here" if progress.status == "done" else "training" if progress.open else "stopped"
        return replace(untrained, origin=origin, step=step)
    recorded = [snapshot.step for snapshot in training_service().snapshots(untrained.training) if snapshot.step <= step]
    return replace(untrained, origin="snapshot", step=recorded[-1]) if recorded and recorded[-1] else untrained


def num_steps_of(record: ModelRecord) -> int:
    """How many steps the training of this model has altogether."""
    return record.step if record.origin == "shipped" else record.training.num_steps


def scores_of(record: ModelRecord) -> Scores | None:
    """On held-out examples; None for a model that was not trained to the end, or was changed afterwards.

    Raises:
        WeightsGone: the training is not kept any longer.
    """
    if not record.is_trained or record.twin or record.without:
        return None
    if record.origin == "shipped":
        return find(record.task, record.config).scores
    return _there(record, training_service().finished(record.training)).scores


def _weights_of(record: ModelRecord) -> dict[str, torch.Tensor]:
    """The weights of a model that was trained in the app."""
    service, training = training_service(), record.training
    if record.origin == "here":
        kept = service.finished(training)
    elif record.origin == "snapshot":
        kept = next((snapshot for snapshot in service.snapshots(training) if snapshot.step == record.step), None)
    else:
        newest = service.newest(training)
        kept = newest if newest is not None and newest.step == record.step else None
    return _there(record, kept).weights


def _there(record: ModelRecord, kept):
    if kept is None:
        raise WeightsGone(f"{record.origin} weights at step {record.step} are not kept any longer")
    return kept


@contextmanager
def anew() -> Iterator[None]:
    """Draw the page once more, from a record made anew, where weights have gone since the present one was made."""
    try:
        yield
    except WeightsGone:
        st.rerun()


@made_once(max_bytes=10_000_000)
def held_out(task: str) -> HeldOut:
    """The words that heads are measured on."""
    return held_out_batch(get_task(task), NUM_WORDS)


@made_once(max_bytes=300_000_000)
def model_of(record: ModelRecord) -> EncoderDecoder:
    """The model itself, in evaluation mode; not to be changed.

    Raises:
        WeightsGone: those of a training are not kept any longer.
        ValueError: the twin cannot be planted in this model, or not be folded away.
    """
    if record.without:
        whole = model_of(record.without_heads((), ZERO))
        # Worked out here: who makes anything else that is kept may be waiting for the turn that this one has.
        means = mean_contributions(whole, held_out(record.task).batch) if record.off_by == MEAN else None
        return without_heads(whole, record.without, means)
    if record.twin is not None:
        return _with_twin(model_of(replace(record, twin=None)), record.twin)
    if record.is_random:
        return EncoderDecoder(record.config, record.seed).eval()
    if record.origin == "shipped":
        return load(record.task, record.config)[0]
    return EncoderDecoder.with_weights(record.config, _weights_of(record))


def _with_twin(model: EncoderDecoder, twin: Twin) -> EncoderDecoder:
    model = copy_head(model, twin.source, twin.target, twin.way)
    return fold(model, twin.source, twin.target).model if twin.folded else model


def in_turn(config: ModelConfig) -> AbstractContextManager:
    """Wait here before working with a large model: a few of them at once would be gigabytes."""
    return _one_large_model_at_a_time if num_parameters(config) > LARGE else nullcontext()


@contextmanager
def at_work(record: ModelRecord) -> Iterator[EncoderDecoder]:
    """The model, while something is worked out with it; of large ones there is one at a time.

    Meanwhile only models may be asked for: whoever makes another thing may be waiting for this turn to end.
    """
    with in_turn(record.config):
        yield model_of(record)


@made_once(max_bytes=100_000_000)
def decoding_of(record: ModelRecord, source: Tokens) -> Decoding:
    """The model answering one input, step by step."""
    with at_work(record) as model:
        return decode_source(model, get_task(record.task), source)


@made_once(max_bytes=200_000_000)
def word_view(record: ModelRecord, source: Tokens) -> WordView:
    """Every head of the model on one input; where it cannot run, those that are reached."""
    task = get_task(record.task)
    if fits(record.config):
        return view_of(decoding_of(record, source), record.config, task, source)
    with in_turn(record.config):
        return inspect_reached(record.config, record.seed, task, source)


def lengths_of(settings: Settings, source: Tokens) -> tuple[int, int]:
    """Positions of source and target in the pass that is shown for a text, whatever is shown of it: maps or shapes.

    The target is what the model generates; where it cannot run, what its decoder is given.
    """
    layers = word_view(record_of(settings), source).layers
    return tuple(len(layers[kind][0].rows) for kind in ("encoder", "decoder"))
