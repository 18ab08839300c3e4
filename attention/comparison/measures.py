"""What the cross-attention heads of a trained model do, as four numbers: means over heads and layers.

Shape letters: heads, q_len = target tokens, kv_len = columns, width = the decoder's d_model.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention.functional import share_kv_heads
from attention.inspection import straight_way
from attention.metrics import entropy, mean_distance, off_diagonal_summary
from attention.model import CrossAttention, EncoderDecoder
from attention.tasks import Example, Task, make_batch


@dataclass(frozen=True)
class HeadMeasures:
    """Means over the cross-attention heads of all layers; NaN where undefined, as redundancy is for a single head.

    Attributes:
        entropy: 0 = one key, 1 = uniform, over the columns of the source.
        distance: in tokens from the straight way through the source.
        same_pattern: mean over pairs of heads of 1 − Jensen-Shannon divergence between their rows, in bits (Clark et
            al. 2019, section 6): 1 = the same map. Unchanged when W_Q and W_K are re-based; blind to V.
        same_contribution: mean over pairs of heads of the cosine between what they add, A·V·W_O. Unchanged when any
            of a head's matrices is re-based: 1 = the same function on these examples.
    """

    entropy: float
    distance: float
    same_pattern: float
    same_contribution: float


@torch.no_grad()
def measure_heads(model: EncoderDecoder, task: Task, examples: Sequence[Example]) -> HeadMeasures:
    """Look at all cross-attention heads on these examples, teacher-forced on the usual answer of each."""
    pairs = [(example.source, example.targets[0]) for example in examples]
    batch = make_batch(task, pairs)
    out, contributions = _with_contributions(model, batch.src_ids, batch.tgt_in)
    found = []
    for weights, mask, added in zip(out.maps.cross, out.masks.cross, contributions, strict=True):
        cropped = _each_example(weights.numpy(), mask.expand_as(weights).numpy(), pairs)
        same_pattern = np.mean([1 - divergence(rows) for rows, _, _, _ in cropped], axis=0)
        real = (batch.tgt_out != 0)[:, None, :, None]  # (batch, 1, q_len, 1)
        found.append(
            (
                _mean([entropy(w[..., :s], a[..., :s]) for w, a, s, _ in cropped]),
                _mean([mean_distance(w[..., :s], a[..., :s], expected=way) for w, a, s, way in cropped]),
                _off_diagonal(same_pattern),
                _off_diagonal(_cosine(added * real)),
            )
        )
    return HeadMeasures(*(float(np.mean(column)) for column in zip(*found, strict=True)))


def divergence(weights: Float[np.ndarray, "heads q_len kv_len"]) -> Float[np.ndarray, "heads heads"]:
    """Jensen-Shannon divergence between the rows of every two heads, in bits, mean over rows."""
    weights = np.asarray(weights, dtype=np.float64)
    mixed = (weights[:, None] + weights) / 2  # (heads, heads, q_len, kv_len)
    own = _entropy_bits(weights)  # (heads, q_len)
    between = _entropy_bits(mixed) - (own[:, None] + own) / 2
    return np.clip(between, 0.0, 1.0).mean(-1)


def _entropy_bits(rows: np.ndarray) -> np.ndarray:
    logs = np.log2(rows, out=np.zeros_like(rows), where=rows > 0)
    return -(rows * logs).sum(-1)


def _with_contributions(model: EncoderDecoder, src_ids: Tensor, tgt_in: Tensor):
    """A pass with maps, and for each layer what every head adds: (batch, heads, q_len, width)."""
    inputs: dict[CrossAttention, tuple] = {}

    def keep(module: CrossAttention, args: tuple) -> None:
        inputs[module] = args[:3]

    layers = [layer.cross for layer in model.decoder.layers]
    hooks = [cross.register_forward_pre_hook(keep) for cross in layers]
    try:
        out = model(src_ids, tgt_in)
    finally:
        for hook in hooks:
            hook.remove()
    contributions = []
    for cross, weights in zip(layers, out.maps.cross, strict=True):
        x, memory, own_mask = inputs[cross]
        values = share_kv_heads(cross.feed(memory, x, own_mask).v, cross.num_heads)
        w_o = cross.w_o.weight.unflatten(1, (cross.num_heads, -1))  # (width, heads, head_dim)
        contributions.append(torch.einsum("bhqd,whd->bhqw", weights @ values, w_o))
    return out, contributions


def _each_example(weights: np.ndarray, masks: np.ndarray, pairs) -> list[tuple]:
    """Each example without its padding: map and mask of its rows, source length, straight way.

    Columns of the decoder's own stand after those of the longest source, so those of the padding lie between.
    """
    longest = max(len(source) for source, _ in pairs) + 1
    cropped = []
    for rows, mask, (source, target) in zip(weights, masks, pairs, strict=True):
        src_len, tgt_len = len(source) + 1, len(target) + 1  # with the end token
        columns = [*range(src_len), *range(longest, rows.shape[-1])]
        way = straight_way((*target, "</s>"), src_len)
        cropped.append((rows[:, :tgt_len, columns], mask[:, :tgt_len, columns], src_len, way))
    return cropped


def _cosine(added: Float[Tensor, "batch heads q_len width"]) -> np.ndarray:
    """Cosine of what heads add, all examples laid end to end."""
    added = added.double()
    products = torch.einsum("bhqw,bgqw->hg", added, added).numpy()
    length = np.sqrt(np.diag(products))
    with np.errstate(invalid="ignore", divide="ignore"):
        return products / np.outer(length, length)


def _off_diagonal(similarity: np.ndarray) -> float:
    summary = off_diagonal_summary(similarity)
    return summary.mean if summary else float("nan")


def _mean(per_head: list[np.ndarray]) -> float:
    """Mean over examples and heads, those without a figure left out."""
    values = np.concatenate(per_head)
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else float("nan")
