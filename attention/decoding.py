"""Greedy decoding, one token at a time, each step working out only what is new.

A teacher-forced pass reads all target tokens at once. Here the decoder reads one token, generates one, and keeps the
keys and values of what it has read in `attention.cache`. On the same tokens both give the same numbers.

`greedy_decode` answers a batch; `decode_word` answers one sequence and tells what every head did on the way; both go
through `decode_steps`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention.cache import DecoderCache
from attention.config import END, PAD, START
from attention.cross_attention import Memory
from attention.model import Attention, EncoderDecoder, Recording

# Which memory the decoder looks at in a step (the first is 1), given the one that the encoder left. The same object as
# in the step before: nothing is worked out again. None: cross-attention is off in this step.
Anchor = Callable[[int, Memory], Memory | None]


class DecodingStep(NamedTuple):
    """One step of all sequences of a batch.

    Attributes:
        number: 1 for the first.
        output: the token generated; PAD for a sequence that has ended.
        logits: of this step; padding and the start token are no answers and have −∞.
        own, cross: per layer what the newest query did. There is a column for each key that there is by now, so rows
            of decoder self-attention get longer.
        cache: what is kept after this step. The next step changes it.
    """

    number: int
    output: Int[Tensor, " batch"]
    logits: Float[Tensor, "batch tgt_vocab_size"]
    own: tuple[Recording, ...]
    cross: tuple[Recording, ...]
    cache: DecoderCache


def decode_steps(
    model: EncoderDecoder,
    memory: Memory,
    max_len: int,
    *,
    forced: Int[Tensor, "batch tgt_len"] | None = None,
    anchor: Anchor | None = None,
) -> Iterator[DecodingStep]:
    """Generate token after token from what the encoder left, until each sequence has ended or has `max_len` tokens.

    Args:
        forced: generate these tokens whatever the model prefers (no more steps than there are).
        anchor: which memory the decoder looks at in each step; None: always the one that the encoder left.

    The weights are worked out in the open, not by the fused kernel, which is slower for a single query.
    """
    if forced is not None and len(forced) != len(memory.hidden):
        raise ValueError(f"batch of forced ({len(forced)}) must equal that of the memory ({len(memory.hidden)})")
    cache = DecoderCache.empty(model.config, memory)
    newest = torch.full((len(memory.hidden),), START)
    finished = torch.zeros(len(newest), dtype=torch.bool)
    shown: Memory | None = memory
    num_steps = max_len if forced is None else min(max_len, forced.shape[1])
    for number in range(1, num_steps + 1):
        with torch.no_grad():  # not around the `yield`: what the caller does in between is the caller's
            if anchor is not None and (new := anchor(number, memory)) is not shown:
                cache.move_anchor(new)
                shown = new
            logits, own, cross = model.step(newest[:, None], cache)
            logits = logits[:, 0].index_fill(1, torch.tensor([PAD, START]), -torch.inf)  # (batch, tgt_vocab_size)
            newest = forced[:, number - 1] if forced is not None else logits.argmax(-1).masked_fill(finished, PAD)
        yield DecodingStep(number, newest, logits, own, cross, cache)
        finished |= newest == END
        if finished.all():
            return


def greedy_decode(
    model: EncoderDecoder, src_ids: Int[Tensor, "batch src_len"], max_len: int, anchor: Anchor | None = None
) -> list[list[int]]:
    """The most likely next token, again and again, until each row has the end token or `max_len` tokens.

    Padding and the start token are no answers and are never chosen. `anchor` as in `decode_steps`.

    Returns:
        Per row the generated ids, without the start token, with the end token where it was reached.
    """
    with torch.no_grad():
        memory = model.encode(src_ids, need_maps=False).memory
    outputs = [step.output for step in decode_steps(model, memory, max_len, anchor=anchor)]
    if not outputs:
        return [[] for _ in src_ids]
    return [[token for token in row if token != PAD] for row in torch.stack(outputs, dim=1).tolist()]


@dataclass(frozen=True, eq=False)
class LayerRecord:
    """What all heads of one layer did with one sequence.

    Attributes:
        weights: attention weights, rows sum to 1; zero where there was nothing to look at yet.
        allowed: where a query may look.
        queries: the query vectors.
        keys: those of each K/V head, as they are in the last step.
        lengths: of what each head adds to the hidden states in each row, A·V·W_O.
    """

    weights: Float[np.ndarray, "heads q_len kv_len"]
    allowed: Bool[np.ndarray, "heads q_len kv_len"]
    queries: Float[np.ndarray, "heads q_len head_dim"]
    keys: Float[np.ndarray, "kv_heads kv_len head_dim"]
    lengths: Float[np.ndarray, "heads q_len"]


@dataclass(frozen=True, eq=False)
class Decoding:
    """One sequence, generated to its end, and what every head did on the way: all from a single decoding.

    Attributes:
        output: the tokens, with the end token where it was reached.
        probabilities: of each step's candidates.
        encoder, own, cross: one record per layer. Row t of `own` and `cross` is the query that predicts token t.
    """

    output: tuple[int, ...]
    probabilities: Float[np.ndarray, "steps tgt_vocab_size"]
    encoder: tuple[LayerRecord, ...]
    own: tuple[LayerRecord, ...]
    cross: tuple[LayerRecord, ...]

    @property
    def ended(self) -> bool:
        """Whether the end token was generated, and not the limit reached."""
        return bool(self.output) and self.output[-1] == END

    @property
    def answer(self) -> tuple[int, ...]:
        """The tokens without the end token."""
        return self.output[:-1] if self.ended else self.output

    def candidates(self, step: int, count: int = 5) -> list[tuple[int, float]]:
        """The likeliest tokens of a step (the first is 1) and their probabilities, the likeliest first."""
        row = self.probabilities[step - 1]
        return [(int(token), float(row[token])) for token in np.argsort(-row, kind="stable")[:count]]


def decode_word(
    model: EncoderDecoder,
    src_ids: Int[Tensor, "1 src_len"],
    max_len: int,
    *,
    forced: tuple[int, ...] | None = None,
    anchor: Anchor | None = None,
) -> Decoding:
    """A single sequence, generated as by `decode_steps`, of at least one step, with what every head did."""
    if max_len < 1:
        raise ValueError(f"max_len ({max_len}) must be at least 1")
    with torch.no_grad():
        encoded = model.encode(src_ids)
    if len(src_ids) != 1:
        raise ValueError(f"a batch of {len(src_ids)} sequences was given; this decodes 1 (greedy_decode takes more)")
    wanted = None if forced is None else torch.tensor([forced])
    steps = list(decode_steps(model, encoded.memory, max_len, forced=wanted, anchor=anchor))
    return Decoding(
        output=tuple(int(step.output[0]) for step in steps),
        probabilities=torch.cat([step.logits for step in steps]).softmax(-1).numpy(),
        encoder=_records([encoded.recordings], (layer.attention for layer in model.encoder.layers)),
        own=_records([step.own for step in steps], (layer.attention for layer in model.decoder.layers)),
        cross=_records([step.cross for step in steps], (layer.cross for layer in model.decoder.layers)),
    )


def _records(steps: Sequence[Sequence[Recording]], attentions: Iterable[Attention]) -> tuple[LayerRecord, ...]:
    """A record per layer of what each step has of all layers."""
    return tuple(map(_record, zip(*steps, strict=True), attentions))


@torch.no_grad()
def _record(parts: Sequence[Recording], attention: Attention) -> LayerRecord:
    """One layer's recordings of a single sequence, one after the other, each with as many columns as the last."""
    longest = parts[-1].weights.shape[-1]
    mixed = torch.cat([part.mixed[0] for part in parts], dim=1)  # (heads, q_len, head_dim)
    added = mixed @ attention.w_o.weight.T.unflatten(0, (attention.num_heads, -1))  # (heads, q_len, d_model)

    def stacked(rows: Iterator[Tensor]) -> np.ndarray:
        return torch.cat([F.pad(x[0], (0, longest - x.shape[-1])) for x in rows], dim=1).numpy()  # (heads, q_len, …)

    return LayerRecord(
        weights=stacked(part.weights for part in parts),
        allowed=stacked(part.mask.expand_as(part.weights) for part in parts),
        queries=torch.cat([part.queries[0] for part in parts], dim=1).numpy(),
        keys=parts[-1].keys[0].numpy(),
        lengths=added.norm(dim=-1).numpy(),
    )
