"""How differently two heads look: distances between their attention rows, for all pairs of heads at once.

Means over the rows in which both heads have a choice: a row with a single allowed key, or none, is the same for every
head and says nothing. Padding is no row. A pair without such a row is undefined: NaN.

What neither can see: V and W_O. Two heads may look at the same places and contribute different things. And broad
heads look alike because they are broad, so entropy belongs beside these figures.
"""

import numpy as np
from jaxtyping import Bool, Float

from attention.metrics.locality import Mask, normalised_rows

Divergence = Float[np.ndarray, "heads heads"]

# Numbers in hand at a time, for all pairs together: they stay in the processor's cache.
BLOCK = 20_000


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
    return _over_pairs(weights, allowed, real, js_of_rows)


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
    return _over_pairs(weights, allowed, real, lambda rows, first, second: variation(rows[first], rows[second]))


def common_column(allowed: Bool[np.ndarray, "heads q_len kv_len"]) -> Bool[np.ndarray, "heads heads"]:
    """Whether two heads may look at one and the same column in any row; where not, their distance says nothing."""
    places = allowed.reshape(len(allowed), -1).astype(np.float32)
    return places @ places.T > 0


def js_of_rows(rows: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Jensen-Shannon divergence of each row, in bits, for each pair of heads: (heads, rows, kv_len) → (pairs, rows)."""
    own = _entropy_in_bits(rows)
    apart = _entropy_in_bits((rows[first] + rows[second]) / 2) - (own[first] + own[second]) / 2
    return np.clip(apart, 0.0, 1.0)  # rounding can leave −1e-17


def variation(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Total-variation distance of each row from the other in its place: (…, kv_len) → (…)."""
    return np.abs(rows - others).sum(-1) / 2


def _entropy_in_bits(rows: np.ndarray) -> np.ndarray:
    return -(rows * np.log2(np.where(rows > 0, rows, 1.0))).sum(-1)  # 0 · log 0 = 0


def _over_pairs(weights, allowed, real, distance) -> Divergence:
    """Mean of `distance` over the rows that count for both heads of each pair."""
    rows, _, counted = normalised_rows(weights, allowed, real)
    heads, q_len, kv_len = rows.shape
    first, second = np.triu_indices(heads, k=1)
    total = np.zeros(len(first))
    step = max(1, BLOCK // max(1, len(first) * kv_len))
    for begin in range(0, q_len, step):
        block = slice(begin, begin + step)
        both = counted[first, block] & counted[second, block]  # (pairs, rows of the block)
        total += (distance(rows[:, block], first, second) * both).sum(-1)
    number = (counted[first] & counted[second]).sum(-1)
    result = np.where(counted.any(-1)[:, None], np.zeros((heads, heads)), np.nan)
    mean = np.divide(total, number, out=np.full(len(first), np.nan), where=number > 0)
    result[first, second] = result[second, first] = mean
    return result
