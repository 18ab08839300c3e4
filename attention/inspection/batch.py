"""What every head of a model did with a held-out batch, padding left out: the one thing all measures start from.

    held_out = held_out_batch(task, 64)
    collected = collect(model, held_out.batch)
    collected.cross[1].weights       # (heads, rows, kv_len): all rows of all words, one after the other

Nothing is kept on the model: the arrays come from the recordings that every forward pass with maps returns.
"""

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool
from torch import Tensor

from attention.config import ATTENTION_KINDS, PAD
from attention.inspection.heads import head_weights
from attention.metrics.layer_heads import HeadWeights, LayerHeads
from attention.metrics.locality import answer_diagonal
from attention.model import EncoderDecoder, Recording
from attention.tasks import Alignment, Batch, Task, make_batch


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
    places = {
        "encoder": ([_places_within(n, end=n - 1) for n in src_len], src_real),
        "decoder": ([_places_within(n, end=-1) for n in tgt_len], tgt_real),
        "cross": ([_places_across(*lengths) for lengths in zip(tgt_len, src_len, strict=True)], tgt_real),
    }
    recordings = dict(zip(ATTENTION_KINDS, (encoded.recordings, own, cross), strict=True))
    return Collected(
        **{
            kind: tuple(
                _layer_heads(kind, number, recording, head_weights(model, kind, number), *places[kind])
                for number, recording in enumerate(recordings[kind])
            )
            for kind in ATTENTION_KINDS
        }
    )


def _places_within(length: int, end: int) -> tuple[np.ndarray, ...]:
    """For each row of one sequence that looks at itself: its own place, that from the other end, the end token's."""
    return np.arange(length), np.arange(length)[::-1], np.full(length, end)


def _places_across(tgt_len: int, src_len: int) -> tuple[np.ndarray, ...]:
    """The same, for a target and a source that both end with the end token, which is the target's last row."""
    forwards, backwards = (answer_diagonal(tgt_len, src_len, backwards=way) for way in (False, True))
    return forwards, backwards, np.full(tgt_len, src_len - 1)


def _layer_heads(
    kind: str,
    layer: int,
    recording: Recording,
    projections: HeadWeights,
    places: list,
    real: Bool[Tensor, "batch q_len"],
) -> LayerHeads:
    example, position = (index.numpy() for index in real.nonzero(as_tuple=True))
    did = (recording.weights, recording.mask.expand_as(recording.weights), recording.queries, recording.mixed)
    # (batch, heads, q_len, …) → (heads, rows, …)
    pick = [x.transpose(1, 2)[real].transpose(0, 1) for x in did]
    return LayerHeads(
        kind,
        layer,
        *(x.contiguous().numpy() for x in pick),
        *(np.concatenate(column) for column in zip(*places, strict=True)),
        example,
        position,
        projections,
    )
