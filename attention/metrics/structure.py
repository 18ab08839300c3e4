"""What a whole layer's similarities come to: how many different heads it has, and which belong together."""

import numpy as np
from jaxtyping import Float, Int

from attention.metrics.cosines import Similarity

# Eigenvalues of a Gram matrix are not negative; this much of the trace is left to rounding.
TOLERANCE = 1e-6


def effective_heads(similarity: Similarity) -> float:
    """How many heads there are in effect, from 1 (all alike) to the number of heads (no two alike), or NaN.

    The exponential of the entropy of the eigenvalues of the similarity matrix divided by its trace (the effective rank
    of Roy and Vetterli 2007; with a unit diagonal it is the Vendi score of Friedman and Dieng 2023, arXiv 2210.02410).
    Heads that are undefined are left out. For a divergence give 1 − divergence.

    What it cannot see: with a signed cosine a head and its negation count as the same one, as they span the same line.
    And it takes the measure at its word: heads that the measure cannot tell apart are one, heads that it cannot
    recognise in another basis are two.

    Raises:
        ValueError: not a square matrix with a unit diagonal, or one with a negative eigenvalue, which no inner product
            gives (|cosine|, for example).
    """
    similarity = _square(similarity)
    defined = ~np.isnan(np.diag(similarity))
    similarity = similarity[np.ix_(defined, defined)]
    if similarity.size == 0 or np.isnan(similarity).any():
        return float("nan")
    if not np.allclose(np.diag(similarity), 1.0, atol=TOLERANCE):
        raise ValueError(
            f"a similarity matrix has 1 on its diagonal, this one has {np.diag(similarity).min():.3g} … "
            f"{np.diag(similarity).max():.3g}; give 1 − divergence for a divergence"
        )
    eigenvalues = np.linalg.eigvalsh(similarity)
    if eigenvalues.min() < -TOLERANCE * len(similarity):
        raise ValueError(
            f"the similarity matrix has a negative eigenvalue ({eigenvalues.min():.3g}), so it has no effective number "
            "of heads; use a signed cosine, CKA, 1 − Jensen-Shannon divergence or 1 − total variation"
        )
    return effective_number(similarity)


def effective_number(gram: Float[np.ndarray, "n n"]) -> float:
    """The exponential of the entropy of the eigenvalues of a Gram matrix divided by its trace; NaN where that is 0.

    What rounding leaves below 0 counts as 0.
    """
    gram = _square(gram)
    trace = np.trace(gram)
    if not (np.isfinite(trace) and trace > 0):
        return float("nan")
    share = np.clip(np.linalg.eigvalsh(gram / trace), 0.0, None)
    share = share[share > 0] / share.sum()
    return float(np.exp(-(share * np.log(share)).sum()))


def cluster_order(distance: Float[np.ndarray, "heads heads"]) -> Int[np.ndarray, " heads"]:
    """The heads in an order that puts like beside like: (heads,) numbers; undefined heads come last.

    Average linkage, leaves turned so that neighbours are as close as they can be (Bar-Joseph et al. 2001).

    distance: 0 = alike, such as 1 − similarity or a divergence, symmetric; NaN = undefined.
    """
    from scipy.cluster.hierarchy import leaves_list

    defined, links = _links(distance)
    order = np.flatnonzero(defined)
    if links is not None:
        order = order[leaves_list(links)]
    return np.concatenate([order, np.flatnonzero(~defined)])


def _links(distance) -> tuple[np.ndarray, np.ndarray | None]:
    """Which heads are defined, and SciPy's linkage of these; None for fewer than two."""
    # Imported where they are used: SciPy takes a moment that the first page need not wait for.
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    distance = _square(distance)
    defined = ~np.isnan(np.diag(distance))
    between = distance[np.ix_(defined, defined)]
    if len(between) < 2:
        return defined, None
    # A pair that cannot be compared is as far apart as any two are.
    between = np.where(np.isnan(between), np.nanmax(between), between)
    return defined, linkage(squareform(between, checks=False), method="average", optimal_ordering=True)


def _square(matrix) -> np.ndarray:
    matrix = np.asarray(matrix, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"a matrix over pairs of heads is square, got shape {matrix.shape}")
    return matrix
