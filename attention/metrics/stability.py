"""How attention rows change: from step to step, and from what they would have been.

A row that may look nowhere (all zeros) is no distribution, so every figure about it is NaN.
"""

import numpy as np
from jaxtyping import Float

from attention.metrics.alignment import Gold, gold_mask


def total_variation(
    first: Float[np.ndarray, "*rows kv_len"], second: Float[np.ndarray, "*rows kv_len"]
) -> Float[np.ndarray, "*rows"]:
    """Half the sum of absolute differences of two rows: 0 where they are equal, 1 where they share no key."""
    first, second = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    apart = np.abs(first - second).sum(-1) / 2
    return np.where(_has_keys(first) & _has_keys(second), np.minimum(apart, 1.0), np.nan)


def movement(weights: Float[np.ndarray, "heads q_len kv_len"]) -> Float[np.ndarray, "heads q_len"]:
    """Total variation from the row before: how far a head's look moved in each step. NaN for the first row.

    A head that spells has to move; this alone is nothing bad.
    """
    moved = np.full(weights.shape[:2], np.nan)
    moved[:, 1:] = total_variation(weights[:, 1:], weights[:, :-1])
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
    return total_variation(weights, undisturbed)


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


def _has_keys(weights: np.ndarray) -> np.ndarray:
    return weights.any(-1)
