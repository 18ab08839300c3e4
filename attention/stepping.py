"""Decoding one token at a time, each step working out only what is new.

A teacher-forced pass reads all target tokens at once; here the decoder reads one, says one, and keeps the keys and
values of both stores in `attention.cache`. On the same tokens both give the same numbers.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from attention.cache import DecoderCache
from attention.config import END, PAD, START
from attention.cross_attention import Memory
from attention.model import EncoderDecoder

# Which memory the decoder looks at in a step (the first is 1), given the one that the encoder left. The same object as
# in the step before: nothing is worked out again. None: cross-attention is off in this step.
Anchor = Callable[[int, Memory], Memory | None]


class Step(NamedTuple):
    """One step of all sequences of a batch.

    Attributes:
        number: 1 for the first.
        chosen: the token said; PAD for a sequence that has ended.
        logits: of this step; padding and the start token are no answers and have −∞.
        own, cross: per layer the new row of every map. A row is as long as what there is to look at, so rows of
            decoder self-attention get longer.
        cache: what is kept after this step. The next step changes it.
    """

    number: int
    chosen: Int[Tensor, " batch"]
    logits: Float[Tensor, "batch tgt_vocab_size"]
    own: tuple[Float[Tensor, "batch heads number"], ...]
    cross: tuple[Float[Tensor, "batch heads kv_len"], ...]
    cache: DecoderCache


def decode_steps(
    model: EncoderDecoder,
    src_ids: Int[Tensor, "batch src_len"],
    max_len: int,
    *,
    forced: Int[Tensor, "batch tgt_len"] | None = None,
    anchor: Anchor | None = None,
) -> Iterator[Step]:
    """Read the source once, then say token after token, until each sequence has ended or `max_len` tokens are said.

    Args:
        forced: say these tokens whatever the model prefers (no more steps than there are); otherwise the most likely.
        anchor: which memory the decoder looks at in each step; None: always the one that the encoder left.

    The weights are worked out in the open, not by the fused kernel, which is slower for a single query.
    """
    with torch.no_grad():
        memory = model.encode(src_ids, need_maps=False).memory
    cache = DecoderCache.empty(model.config, memory)
    said = torch.full((len(src_ids),), START)
    finished = torch.zeros(len(src_ids), dtype=torch.bool)
    shown: Memory | None = memory
    num_steps = max_len if forced is None else min(max_len, forced.shape[1])
    for number in range(1, num_steps + 1):
        with torch.no_grad():  # not around the `yield`: what the caller does in between is the caller's
            if anchor is not None and (new := anchor(number, memory)) is not shown:
                cache.move_anchor(new)
                shown = new
            logits, own, cross = model.step(said[:, None], cache)
            logits = logits[:, 0].index_fill(1, torch.tensor([PAD, START]), -torch.inf)  # (batch, tgt_vocab_size)
            said = forced[:, number - 1] if forced is not None else logits.argmax(-1).masked_fill(finished, PAD)
        own, cross = (tuple(layer.weights[:, :, 0] for layer in layers) for layers in (own, cross))
        yield Step(number, said, logits, own, cross, cache)
        finished |= said == END
        if finished.all():
            return


@dataclass(frozen=True)
class Decoding:
    """One sequence, said to its end.

    Attributes:
        said: the tokens, with the end token where it was reached.
        probabilities: (steps, tgt_vocab_size), of each step's candidates.
        own: per layer (heads, steps, steps): row t is the query that predicts token t, shorter rows padded with zeros.
        cross: per layer (heads, steps, kv_len), likewise.
    """

    said: tuple[int, ...]
    probabilities: np.ndarray
    own: tuple[np.ndarray, ...]
    cross: tuple[np.ndarray, ...]

    @property
    def ended(self) -> bool:
        """Whether the end token was said, and not the limit reached."""
        return bool(self.said) and self.said[-1] == END

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
    """`decode_steps` of a single sequence, put together."""
    wanted = None if forced is None else torch.tensor([forced])
    said, logits, own, cross = [], [], [], []
    for step in decode_steps(model, src_ids, max_len, forced=wanted, anchor=anchor):
        said.append(int(step.chosen[0]))
        logits.append(step.logits[0])
        own.append(step.own)
        cross.append(step.cross)
    return Decoding(
        said=tuple(said),
        probabilities=torch.stack(logits).softmax(-1).numpy(),
        own=tuple(map(_stack_rows, zip(*own, strict=True))),
        cross=tuple(map(_stack_rows, zip(*cross, strict=True))),
    )


def _stack_rows(rows: tuple[Tensor, ...]) -> np.ndarray:
    """Rows (1, heads, kv_len), none shorter than the one before, as one map (heads, steps, longest kv_len)."""
    longest = rows[-1].shape[-1]
    return torch.cat([F.pad(row, (0, longest - row.shape[-1])) for row in rows]).transpose(0, 1).numpy()
