"""What the cross-attention heads of a trained model do, in a few numbers over all its layers.

Shape letters: heads, q_len = target tokens, kv_len = columns.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float

from attention.inspection.heads import head_weights
from attention.metrics import answer_diagonal, entropy, mean_distance, off_diagonal_summary
from attention.metrics.cosines import contribution_cosine
from attention.metrics.divergence import common_column, js_of_rows
from attention.metrics.sizes import contribution_sizes
from attention.metrics.structure import effective_heads
from attention.model import EncoderDecoder
from attention.tasks import PAD, Example, Task, make_batch


@dataclass(frozen=True)
class HeadMeasures:
    """Means over layers, of cross-attention alone; NaN where undefined, as a mean over pairs is for a single head.

    The same model can be cut into twice as many heads: each head's W_Q and W_K twice, with half of its V. Entropy,
    distance and the effective number of maps are the same for both. A mean over pairs of heads is not, so it is
    comparable only between models with as many heads.

    Attributes:
        entropy: mean over heads; 0 = one key, 1 = uniform, over the columns of the source.
        distance: mean over heads, in tokens from the diagonal, or from the anti-diagonal for a task whose answers go
            backwards (`answer_diagonal`).
        same_pattern: mean over pairs of heads of 1 − Jensen-Shannon divergence between their rows, in bits (Clark et
            al. 2019, section 6): 1 = the same map. Pairs that have no column in common are left out. Unchanged when
            W_Q and W_K are re-based; blind to V.
        same_contribution: mean over pairs of heads of the cosine between what they add, A·V·W_O. Unchanged when any
            of a head's matrices is re-based: 1 = the same function on these examples.
        effective_maps: the effective number of different maps, from the same likeness; heads that have no column in
            common have a likeness of 0 in it.
        contribution_sizes: what each head adds, as a share of the largest in its layer; all layers, one after another.
    """

    entropy: float
    distance: float
    same_pattern: float
    same_contribution: float
    effective_maps: float
    contribution_sizes: tuple[float, ...]


@torch.no_grad()
def measure_heads(model: EncoderDecoder, task: Task, examples: Sequence[Example]) -> HeadMeasures:
    """Look at all cross-attention heads on these examples, teacher-forced on the usual answer of each."""
    pairs = [(example.source, example.targets[0]) for example in examples]
    batch = make_batch(task, pairs)
    encoded = model.encode(batch.src_ids, need_maps=False)
    _, _, cross = model.decoder(batch.tgt_in, encoded.memory)
    real = batch.tgt_out != PAD
    found, sizes = [], []
    for layer, did in enumerate(cross):
        cropped = _each_example(did.weights.numpy(), did.mask.expand_as(did.weights).numpy(), pairs, task.backwards)
        likeness = np.mean([1 - mean_divergence(rows) for rows, _, _, _ in cropped], axis=0)
        comparable = np.any([common_column(mask) for _, mask, _, _ in cropped], axis=0)
        mixed = did.mixed.transpose(1, 2)[real].transpose(0, 1).numpy()  # (heads, rows, head_dim)
        w_o = head_weights(model, "cross", layer).w_o
        found.append(
            (
                _mean([entropy(w[..., :s], a[..., :s]) for w, a, s, _ in cropped]),
                _mean([mean_distance(w[..., :s], a[..., :s], expected=at) for w, a, s, at in cropped]),
                _off_diagonal(np.where(comparable, likeness, np.nan)),
                _off_diagonal(contribution_cosine(mixed, w_o)),
                effective_heads(np.where(comparable, likeness, 0.0)),
            )
        )
        sizes += contribution_sizes(mixed, w_o).tolist()
    return HeadMeasures(*(float(np.mean(column)) for column in zip(*found, strict=True)), tuple(sizes))


def mean_divergence(weights: Float[np.ndarray, "heads q_len kv_len"]) -> Float[np.ndarray, "heads heads"]:
    """Jensen-Shannon divergence between the rows of every two heads, in bits, mean over all rows."""
    weights = np.asarray(weights, dtype=np.float64)
    first, second = np.triu_indices(len(weights), k=1)
    result = np.zeros((len(weights), len(weights)))
    result[first, second] = result[second, first] = js_of_rows(weights, first, second).mean(-1)
    return result


def _each_example(weights: np.ndarray, masks: np.ndarray, pairs, backwards: bool) -> list[tuple]:
    """Each example without its padding: map and mask of its rows, source length, diagonal.

    Columns of the decoder's own stand after those of the longest source, so those of the padding lie between.
    """
    longest = max(len(source) for source, _ in pairs) + 1
    cropped = []
    for rows, mask, (source, target) in zip(weights, masks, pairs, strict=True):
        src_len, tgt_len = len(source) + 1, len(target) + 1  # with the end token
        columns = [*range(src_len), *range(longest, rows.shape[-1])]
        diagonal = answer_diagonal(tgt_len, src_len, backwards=backwards)
        cropped.append((rows[:, :tgt_len, columns], mask[:, :tgt_len, columns], src_len, diagonal))
    return cropped


def _off_diagonal(similarity: np.ndarray) -> float:
    summary = off_diagonal_summary(similarity)
    return summary.mean if summary else float("nan")


def _mean(per_head: list[np.ndarray]) -> float:
    """Mean over examples and heads, those without a figure left out."""
    values = np.concatenate(per_head)
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else float("nan")
