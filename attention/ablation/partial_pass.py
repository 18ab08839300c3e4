"""The score of a model without some of its heads, on a batch: what a removal runs, and runs again."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from attention.ablation.silence import Means, silence, with_own_w_o
from attention.config import PAD
from attention.cross_attention import Memory
from attention.functional import causal_mask
from attention.inspection.heads import Head, HeadSet, all_heads, attention_of, require_heads
from attention.model import EncoderDecoder
from attention.tasks import Batch
from attention.training.accuracy import token_accuracy


class Score(NamedTuple):
    """How good a model is on a batch, teacher-forced.

    loss: mean cross-entropy in nats over all target tokens, the end token included, as in training.
    token_accuracy: share of target tokens predicted right, the end token not counted, as in `evaluate`.
    """

    loss: float
    token_accuracy: float


class State(NamedTuple):
    """What goes into one layer: hidden states, and the memory once there is one."""

    hidden: Tensor
    memory: Memory | None = None


class PartialPass:
    """All layers of a model in a row, encoder first, with what went into each on one batch.

    When a head is taken away, the layers below its own need not run again. The model given stays as it is.
    `means`: what a head that is taken away goes on adding, as in `silence`.

    Raises:
        ValueError: a head in `already` that the model does not have.
    """

    def __init__(
        self, model: EncoderDecoder, batch: Batch, already: Iterable[Head] = (), means: Means | None = None
    ) -> None:
        already = tuple(already)
        require_heads(model.config, already)
        self._model, self._batch, self._means = with_own_w_o(model, all_heads(model.config), means), batch, means
        self._away = set(already)
        silence(self._model, self._away, means)
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
        silence(self._model, set(heads) - self._away, self._means)
        self._away |= set(heads)
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
        changed = {attention_of(self._model, head.kind, head.layer).w_o for head in heads}
        numbers = [parameter for w_o in changed for parameter in w_o.parameters()]
        kept = [parameter.clone() for parameter in numbers]
        try:
            silence(self._model, set(heads) - self._away, self._means)
            yield
        finally:
            for parameter, before in zip(numbers, kept, strict=True):
                parameter.copy_(before)

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
        return Score(loss.item(), token_accuracy(logits, wanted))
