"""What every head of a model did with a held-out batch, padding left out: the one thing all measures start from.

    held_out = held_out_batch(task, 64)
    collected = collect(model, held_out.batch)
    collected.cross[1].weights       # (heads, rows, kv_len): all rows of all words, one after the other

Nothing is kept on the model: the arrays come from the recordings that every forward pass with maps returns.
"""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention.config import PAD
from attention.metrics.heads import KINDS, HeadWeights, head_weights
from attention.metrics.locality import straight_way
from attention.model import EncoderDecoder, Recording
from attention.tasks import Alignment, Batch, Task, make_batch

Rows = Int[np.ndarray, " rows"]


class HeldOut(NamedTuple):
    """A batch of held-out examples, each with its usual answer, and the gold alignments where they are known."""

    batch: Batch
    golds: tuple[Alignment | None, ...]


def held_out_batch(task: Task, num_examples: int = 64) -> HeldOut:
    """The first `num_examples` held-out examples of a task; always the same ones."""
    examples = task.held_out(num_examples)
    if not examples:
        raise ValueError(f"num_examples ({num_examples}) must be at least 1, for a task that has held-out examples")
    pairs = [(example.source, example.targets[0]) for example in examples]
    return HeldOut(make_batch(task, pairs), tuple(example.alignments[0] for example in examples))


@dataclass(frozen=True, eq=False)
class LayerHeads:
    """All heads of one kind and layer: their weights, and what they did at every real query position.

    Attributes:
        kind, layer: which, the layer from 0.
        weights: attention weights; a row sums to 1.
        allowed: where a query may look; heads may differ where some read columns of the decoder's own.
        queries: query vectors.
        mixed: each head's output A·V, before W_O.
        expected: where each row would look if it moved straight on: at its own position, or, in cross-attention, at
            the place in the source that corresponds to its place in the answer. The row that predicts the end token
            belongs to the end token of the source.
        backwards: the same, for an answer that goes from the end of the source to its beginning.
        example, position: which word of the batch a row is from, and which position in it.
        projections: weights and biases of the heads.
    """

    kind: str
    layer: int
    weights: Float[np.ndarray, "heads rows kv_len"]
    allowed: Bool[np.ndarray, "heads rows kv_len"]
    queries: Float[np.ndarray, "heads rows head_dim"]
    mixed: Float[np.ndarray, "heads rows head_dim"]
    expected: Float[np.ndarray, " rows"]
    backwards: Float[np.ndarray, " rows"]
    example: Rows
    position: Rows
    projections: HeadWeights

    @property
    def num_heads(self) -> int:
        return len(self.weights)

    @cached_property
    def contributions(self) -> Float[np.ndarray, "heads rows d_model"]:
        """A·V·W_O: what each head adds to the hidden states, W_O's bias (which is nobody's) left out."""
        return self.mixed @ self.projections.w_o


@dataclass(frozen=True, eq=False)
class Collected:
    """One `LayerHeads` per layer, for each kind of attention."""

    encoder: tuple[LayerHeads, ...]
    decoder: tuple[LayerHeads, ...]
    cross: tuple[LayerHeads, ...]

    def __iter__(self):
        """All layers of all kinds."""
        return (layer for field in fields(self) for layer in getattr(self, field.name))


@torch.no_grad()
def collect(model: EncoderDecoder, batch: Batch) -> Collected:
    """Run `batch` through `model`, teacher-forced, and keep what every head did at the real positions.

    Args:
        batch: sources end with the end token, and `tgt_in` begins with the start token, as `make_batch` makes them.
    """
    encoded = model.encode(batch.src_ids)
    _, own, cross = model.decoder(batch.tgt_in, encoded.memory)
    src_real, tgt_real = batch.src_ids != PAD, batch.tgt_in != PAD
    src_len, tgt_len = src_real.sum(1).tolist(), tgt_real.sum(1).tolist()
    straight = [_ways(*lengths) for lengths in zip(tgt_len, src_len, strict=True)]
    ways = {
        "encoder": ([(np.arange(n), np.arange(n)[::-1]) for n in src_len], src_real),
        "decoder": ([(np.arange(n), np.arange(n)[::-1]) for n in tgt_len], tgt_real),
        "cross": (straight, tgt_real),
    }
    recordings = dict(zip(KINDS, (encoded.recordings, own, cross), strict=True))
    return Collected(
        **{
            kind: tuple(
                _layer_heads(kind, number, recording, head_weights(model, kind, number), *ways[kind])
                for number, recording in enumerate(recordings[kind])
            )
            for kind in KINDS
        }
    )


def _ways(tgt_len: int, src_len: int) -> tuple[np.ndarray, np.ndarray]:
    """Forwards and backwards, for a target and a source that both end with the end token, which is the last row."""
    way, last = straight_way(tgt_len, src_len), src_len - 1
    return way, np.append(max(last - 1, 0) - way[:-1], last)


def _layer_heads(
    kind: str, layer: int, recording: Recording, projections: HeadWeights, ways: list, real: Bool[Tensor, "batch q_len"]
) -> LayerHeads:
    example, position = (index.numpy() for index in real.nonzero(as_tuple=True))
    did = (recording.weights, recording.mask.expand_as(recording.weights), recording.queries, recording.mixed)
    # (batch, heads, q_len, …) → (heads, rows, …)
    pick = [x.transpose(1, 2)[real].transpose(0, 1) for x in did]
    return LayerHeads(
        kind,
        layer,
        *(x.contiguous().numpy() for x in pick),
        *(np.concatenate(way) for way in zip(*ways, strict=True)),
        example,
        position,
        projections,
    )
