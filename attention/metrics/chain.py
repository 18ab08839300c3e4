"""A model without some of its heads, and its score on a batch: what a removal runs, and runs again."""

import copy
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from attention.config import END, PAD
from attention.cross_attention import Memory
from attention.functional import causal_mask
from attention.metrics.heads import Head, HeadSet, output_slice, require_heads
from attention.model import EncoderDecoder
from attention.tasks import Batch


class Score(NamedTuple):
    """How good a model is on a batch, the right tokens before given.

    loss: mean cross-entropy in nats over all target tokens, the end token included, as in training.
    token_accuracy: share of target tokens predicted right, the end token not counted, as in `evaluate`.
    """

    loss: float
    token_accuracy: float


def without_heads(model: EncoderDecoder, heads: Iterable[Head]) -> EncoderDecoder:
    """A copy of `model` in which these heads contribute nothing. Bit for bit the model with their W_O slices at zero.

    Raises:
        ValueError: a head that the model does not have.
    """
    heads = tuple(heads)
    require_heads(model.config, heads)
    model = copy.deepcopy(model)
    _silence(model, heads)
    return model


@torch.no_grad()
def _silence(model: EncoderDecoder, heads: Iterable[Head]) -> None:
    for head in heads:
        output_slice(model, head).zero_()


class State(NamedTuple):
    """What goes into one layer: hidden states, and the memory once there is one."""

    hidden: Tensor
    memory: Memory | None = None


class Chain:
    """All layers of a model in a row, encoder first, with what went into each on one batch.

    When a head changes, the layers below its own need not run again.
    """

    def __init__(self, model: EncoderDecoder, batch: Batch, already: Iterable[Head] = ()) -> None:
        self._model, self._batch = without_heads(model, already), batch
        self._encoder_layers = model.config.encoder.num_layers
        self._layers = self._encoder_layers + model.config.decoder.num_layers
        self._src_mask = (batch.src_ids != PAD)[:, None, None, :]
        self._tgt_mask = causal_mask(batch.tgt_in.shape[1]) & (batch.tgt_in != PAD)[:, None, None, :]
        with torch.no_grad():
            self._states = [State(self._model.encoder.embedding(batch.src_ids))]
        self._states += self._run_from(0)
        self.score = self._score(self._states[-1])

    def score_without(self, heads: HeadSet) -> Score:
        """The score when these are gone too; they come back."""
        with self._gone(heads):
            later = self._run_from(self._lowest(heads))
        return self._score(later[-1]) if later else self.score

    def remove(self, heads: HeadSet) -> Score:
        """Take these away for good."""
        _silence(self._model, heads)
        lowest = self._lowest(heads)
        self._states[lowest + 1 :] = self._run_from(lowest)
        self.score = self._score(self._states[-1])
        return self.score

    def _lowest(self, heads: HeadSet) -> int:
        """The first layer that changes; the number of layers when none does."""
        numbers = (head.layer + (0 if head.kind == "encoder" else self._encoder_layers) for head in heads)
        return min(numbers, default=self._layers)

    @contextmanager
    @torch.no_grad()
    def _gone(self, heads: HeadSet) -> Iterator[None]:
        slices = [output_slice(self._model, head) for head in heads]
        kept = [w.clone() for w in slices]
        try:
            _silence(self._model, heads)
            yield
        finally:
            for w, numbers in zip(slices, kept, strict=True):
                w.copy_(numbers)

    @torch.no_grad()
    def _run_from(self, first: int) -> list[State]:
        """What comes out of every layer from `first` on."""
        states, state = [], self._states[first] if first < self._layers else None
        for number in range(first, self._layers):
            state = self._step(number, state)
            states.append(state)
        return states

    def _step(self, number: int, state: State) -> State:
        encoder, decoder = self._model.encoder, self._model.decoder
        if number < self._encoder_layers:
            hidden, _ = encoder.layers[number](state.hidden, self._src_mask, False, None)
            if number < self._encoder_layers - 1:
                return State(hidden)
            memory = encoder.to_memory(encoder.norm(hidden), self._src_mask)
            return State(decoder.embedding(self._batch.tgt_in), memory)
        layer = decoder.layers[number - self._encoder_layers]
        hidden, _, _ = layer(state.hidden, self._tgt_mask, state.memory, False, None)
        return State(hidden, state.memory)

    @torch.no_grad()
    def _score(self, state: State) -> Score:
        decoder, wanted = self._model.decoder, self._batch.tgt_out
        logits = decoder.to_logits(decoder.norm(state.hidden))
        loss = F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=PAD)
        counts = (wanted != PAD) & (wanted != END)
        right = (logits.argmax(-1) == wanted) & counts
        return Score(loss.item(), (right.sum().double() / counts.sum()).item())
