"""Which heads of one layer are alike: similarity of all pairs of heads at once, (heads, heads).

Every measure here returns a symmetric matrix and keeps the same promises: a value never leaves [−1, 1], what cannot
be told (a zero vector has no direction) is NaN and not 0 or 1, and nothing is added to a denominator, so that tiny
vectors are compared as well as large ones.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

Similarity = Float[np.ndarray, "heads heads"]


class PairSummary(NamedTuple):
    """Mean and maximum of the similarity of different heads."""

    mean: float
    maximum: float


def query_cosine(
    queries: Float[np.ndarray, "heads q_len head_dim"], real: Bool[np.ndarray, " q_len"] | None = None
) -> Similarity:
    """Cosine between the query vectors of every two heads: (heads, heads) float64, diagonal 1, NaN = undefined.

    Each head's query vectors at the real positions are laid end to end to one long vector, and these are compared.

    queries: (heads, q_len, head_dim).  real: (q_len,) bool, False for padding; None = every position is real.

    What it cannot see: (W_Q · M, W_K · M⁻ᵀ) is the same head for every invertible M, but has other query vectors. Two
    heads can do the same with a cosine of 0. A high value says that the queries agree, a low value says nothing.
    """
    queries = np.asarray(queries, dtype=np.float64)
    if queries.ndim != 3:
        raise ValueError(f"queries need the shape (heads, q_len, head_dim), got {queries.shape}")
    if real is not None:
        real = np.asarray(real)
        if real.dtype != bool or real.shape != queries.shape[1:2]:
            raise ValueError(
                f"real needs to be boolean with one entry per position ({queries.shape[1]}), "
                f"got {real.dtype} {real.shape}"
            )
        queries = queries[:, real]
    return cosine_of_rows(queries.reshape(len(queries), -1))  # (heads, real positions · head_dim)


def cosine_of_rows(vectors: Float[np.ndarray, "n size"]) -> Float[np.ndarray, "n n"]:
    """Cosine between every two rows of (n, size): (n, n) float64; NaN where a row is zero or not finite."""
    vectors = np.asarray(vectors, dtype=np.float64)
    # The largest entry is brought to 1 first: the square of 1e-200 would vanish, the square of 1e200 overflow.
    largest = np.abs(vectors).max(axis=1, initial=0.0)
    defined = np.isfinite(largest) & (largest > 0)
    scaled = vectors[defined] / largest[defined, None]
    unit = scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
    cosine = np.clip(unit @ unit.T, -1.0, 1.0)
    cosine = (cosine + cosine.T) / 2  # a matrix product need not be symmetric to the last bit
    np.fill_diagonal(cosine, 1.0)
    result = np.full((len(vectors), len(vectors)), np.nan)
    result[np.ix_(defined, defined)] = cosine
    return result


def off_diagonal_summary(similarity: Similarity) -> PairSummary | None:
    """Mean and maximum over the pairs of different heads, signed; undefined pairs are left out.

    similarity: (heads, heads), symmetric. None where there is nothing to summarise: a single head, or no defined pair.
    """
    similarity = np.asarray(similarity, dtype=np.float64)
    if similarity.ndim != 2 or similarity.shape[0] != similarity.shape[1]:
        raise ValueError(f"a similarity matrix is square, got shape {similarity.shape}")
    pairs = similarity[np.triu_indices(len(similarity), k=1)]
    pairs = pairs[~np.isnan(pairs)]
    return PairSummary(float(pairs.mean()), float(pairs.max())) if len(pairs) else None
