"""How attention rows change: from step to step, and from what they would have been.

A row that may look nowhere (all zeros) is no distribution, so every figure about it is NaN.
"""

import numpy as np
from jaxtyping import Float

from attention.metrics.alignment import Gold, gold_mask
from attention.metrics.divergence import variation


def movement(weights: Float[np.ndarray, "heads q_len kv_len"]) -> Float[np.ndarray, "heads q_len"]:
    """Total variation from the row before: how far a head's attention moved in each step. NaN for the first row.

    A head that follows the letters has to move; this alone is nothing bad.
    """
    if weights.ndim != 3:
        raise ValueError(f"weights need the shape (heads, q_len, kv_len), got {weights.shape}")
    moved = np.full(weights.shape[:2], np.nan)
    moved[:, 1:] = _apart(weights[:, 1:], weights[:, :-1])
    return moved


def drift(
    weights: Float[np.ndarray, "heads q_len kv_len"], undisturbed: Float[np.ndarray, "heads q_len kv_len"]
) -> Float[np.ndarray, "heads q_len"]:
    """Total variation from the row that the undisturbed run gives at the same step, on the same tokens.

    Raises:
        ValueError: the maps have other shapes, so they are not of the same heads, tokens and keys.
    """
    if weights.shape != undisturbed.shape:
        raise ValueError(
            f"drift compares maps of one shape; got {weights.shape} and {undisturbed.shape} (heads, q_len, kv_len)"
        )
    return _apart(weights, undisturbed)


def gold_distance(weights: Float[np.ndarray, "heads q_len kv_len"], gold: Gold) -> Float[np.ndarray, "heads q_len"]:
    """How many tokens away from what makes it a token's attention lies, on average: Σ weight · distance.

    The distance of a key is the one to the nearest source token in `gold[t]`. NaN for tokens that nothing makes and for
    rows after the last token of `gold`.
    """
    heads, q_len, kv_len = weights.shape
    if q_len < len(gold):
        raise ValueError(f"the map has {q_len} rows, but the gold alignment has {len(gold)} target tokens")
    makes = gold_mask(gold, kv_len)  # (target tokens, kv_len)
    away = np.abs(np.arange(kv_len)[:, None] - np.arange(kv_len))  # from each key to each other
    nearest = np.where(makes[:, None, :], away, np.inf).min(-1)  # (target tokens, kv_len); inf where nothing makes it
    known = makes.any(-1)
    distances = np.full((heads, q_len), np.nan)
    rows = np.flatnonzero(known)
    distances[:, rows] = (np.asarray(weights, dtype=np.float64)[:, rows] * nearest[known]).sum(-1)
    distances[~_has_keys(weights)] = np.nan
    return distances


def _apart(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Total variation of two rows: 0 where they are equal, 1 where they share no key, NaN where one has no keys."""
    apart = variation(np.asarray(rows, dtype=np.float64), np.asarray(others, dtype=np.float64))
    return np.where(_has_keys(rows) & _has_keys(others), np.minimum(apart, 1.0), np.nan)


def _has_keys(weights: np.ndarray) -> np.ndarray:
    return weights.any(-1)
