"""How differently two heads look: distances between their attention rows, for all pairs of heads at once.

Means over the rows in which both heads have a choice: a row with a single allowed key, or none, is the same for every
head and says nothing. Padding is no row. A pair without such a row is undefined: NaN.

What neither can see: V and W_O. Two heads may look at the same places and say different things about them. And broad
heads look alike because they are broad, so entropy belongs beside these figures.
"""

import math

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention.metrics.locality import Mask, normalised_rows

Divergence = Float[np.ndarray, "heads heads"]

# Numbers in hand at a time: all pairs of 16 heads over some thousand weights. It stays in the processor's cache.
BLOCK = 200_000


def jensen_shannon(
    weights: Float[np.ndarray, "heads q_len kv_len"],
    allowed: Mask,
    *,
    real: Bool[np.ndarray, " q_len"] | None = None,
) -> Divergence:
    """Jensen-Shannon divergence between the rows of every two heads, in bits: (heads, heads) float64, or NaN.

    Per row the entropy of the mean of both distributions less the mean of their entropies: 0 = the same row,
    1 = no key in common. SciPy's `jensenshannon(p, q, base=2)` is its square root. (Lin 1991, section IV; for heads
    Clark et al. 2019, section 6.)

    Arguments as in `entropy`.
    """
    return _over_pairs(weights, allowed, real, _js_of_rows)


def total_variation(
    weights: Float[np.ndarray, "heads q_len kv_len"],
    allowed: Mask,
    *,
    real: Bool[np.ndarray, " q_len"] | None = None,
) -> Divergence:
    """Total-variation distance between the rows of every two heads: (heads, heads) float64, or NaN.

    Per row half the sum of the differences in size: the share of attention that would have to be moved to turn one row
    into the other. 0 = the same row, 1 = no key in common. (Levin and Peres 2017, section 4.1.)

    Arguments as in `entropy`.
    """
    return _over_pairs(weights, allowed, real, lambda p, q: (p - q).abs().sum(-1) / 2)


def _js_of_rows(p: Float[Tensor, "*rows kv_len"], q: Float[Tensor, "*rows kv_len"]) -> Float[Tensor, "*rows"]:
    """In bits, between 0 and 1; `entr` is −p · log p with 0 · log 0 = 0."""
    entr = torch.special.entr
    nats = entr((p + q) / 2).sum(-1) - (entr(p).sum(-1) + entr(q).sum(-1)) / 2
    return (nats / math.log(2)).clamp(0.0, 1.0)  # rounding can leave −1e-17


def _over_pairs(weights, allowed, real, distance) -> Divergence:
    """Mean of `distance` over the rows that count for both heads of each pair."""
    rows, _, counted = normalised_rows(weights, allowed, real)
    rows, counted = torch.from_numpy(rows), torch.from_numpy(counted)
    heads, q_len, kv_len = rows.shape
    first, second = torch.triu_indices(heads, heads, offset=1)
    total = rows.new_zeros(len(first))
    step = max(1, BLOCK // max(1, len(first) * kv_len))
    for begin in range(0, q_len, step):
        block, counts = rows[:, begin : begin + step], counted[:, begin : begin + step]
        apart = distance(block[first], block[second])  # (pairs, rows of the block)
        total += torch.where(counts[first] & counts[second], apart, 0.0).sum(-1)
    number = (counted[first] & counted[second]).sum(-1)
    result = rows.new_zeros(heads, heads).masked_fill(~counted.any(-1)[:, None], torch.nan)
    result[first, second] = result[second, first] = torch.where(number > 0, total / number, torch.nan)
    return result.numpy()
