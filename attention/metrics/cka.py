"""Linear CKA: whether two heads arrange the same inputs in the same way, whatever their bases and sizes.

Centred kernel alignment with a linear kernel (Kornblith et al. 2019, section 3), also known as the RV coefficient
(Robert and Escoufier 1976). 1 = the same up to rotation and scale. It is 0 for nobody: by chance alone it grows with
the number of features over the number of rows, so the chance level belongs beside every value.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from attention.metrics.cosines import Similarity, compressed_products


class Cka(NamedTuple):
    """Linear CKA of every two heads, and what the same numbers would give with the rows of one head shuffled."""

    similarity: Similarity
    chance: Similarity


def linear_cka(features: Float[np.ndarray, "heads rows dim"], *, resolution: float | None = None) -> Cka:
    """Linear CKA between the features, query vectors say, of every two heads: two (heads, heads) float64 in [0, 1].

    Unchanged under rotations, a common scale, and a shift of all rows. NaN where a head's features do not vary: rows
    that differ by rounding alone count as equal.

    The chance level is exact, not drawn: the mean over all orders of the rows of one of the two heads, which is
    tr(K) · tr(L) / ((rows − 1) · ‖K‖ · ‖L‖) with K and L the centred Gram matrices (Kazi-Aoual et al. 1995). It is
    the level of heads that have nothing to do with each other. Untrained heads lie above it: they read the same inputs.

    features: (heads, rows, dim), padding left out.
    resolution: what rounding alone can do to the features, as a share of the largest; None = as their precision says.

    What it cannot see: any change of basis is forgiven only as far as it is a rotation; a general one lowers CKA.
    """
    features = np.asarray(features)
    if features.ndim != 3:
        raise ValueError(f"features need the shape (heads, rows, dim), got {features.shape}")
    heads, rows = features.shape[:2]
    defined, centred = _centred(features, resolution or _resolution(features))
    similarity, chance = np.full((2, heads, heads), np.nan)
    if defined.any():
        alignment = _squared_cross_products(centred)
        size = np.sqrt(np.diag(alignment))  # of each head's Gram matrix
        trace = np.square(centred).sum(axis=(1, 2))
        cka = alignment / np.outer(size, size)
        cka = np.clip((cka + cka.T) / 2, 0.0, 1.0)
        np.fill_diagonal(cka, 1.0)
        similarity[np.ix_(defined, defined)] = cka
        chance[np.ix_(defined, defined)] = np.outer(trace / size, trace / size) / (rows - 1)
    return Cka(similarity, np.minimum(chance, 1.0))


def contribution_cka(
    mixed: Float[np.ndarray, "heads rows head_dim"], w_o: Float[np.ndarray, "heads head_dim d_model"]
) -> Cka:
    """`linear_cka` of the contributions A·V·W_O, found from as few features as they have: at most head_dim.

    W_O = triangleᵀ · basis with orthonormal rows of the basis, and CKA does not see the basis.
    """
    narrow, _, defined = compressed_products(mixed, w_o)
    heads = len(defined)
    # A head that contributes nothing stays zero, does not vary, and so is undefined.
    features = np.zeros((heads, narrow.shape[1], narrow.shape[2]))
    features[defined] = narrow
    return linear_cka(features, resolution=_resolution(mixed))


def _resolution(features: np.ndarray) -> float:
    """A few units in the last place, of the precision that the features are given in."""
    return 8 * float(np.finfo(features.dtype if features.dtype.kind == "f" else np.float64).eps)


def _centred(features: np.ndarray, resolution: float) -> tuple[np.ndarray, np.ndarray]:
    """Which heads' features vary, and these, in float64, with mean 0 over the rows and largest entry 1."""
    features = features.astype(np.float64)
    largest = np.abs(features).max(axis=(1, 2), initial=0.0)
    defined = np.isfinite(largest) & (largest > 0)
    scaled = features[defined] / largest[defined, None, None]
    centred = scaled - scaled.mean(axis=1, keepdims=True)
    spread = np.abs(centred).max(axis=(1, 2), initial=0.0)
    varies = spread > resolution
    defined[defined] = varies
    return defined, centred[varies] / spread[varies, None, None]


def _squared_cross_products(features: Float[np.ndarray, "heads rows dim"]) -> Float[np.ndarray, "heads heads"]:
    """‖Xᵀ·Y‖² of every two heads, which is also the inner product of their Gram matrices: the cheaper one is taken."""
    heads, rows, dim = features.shape
    if rows < heads * dim:
        grams = (features @ features.transpose(0, 2, 1)).reshape(heads, -1)  # (heads, rows · rows)
        return grams @ grams.T
    beside = features.transpose(1, 0, 2).reshape(rows, heads * dim)
    products = (beside.T @ beside).reshape(heads, dim, heads, dim)
    return np.square(products).sum(axis=(1, 3))
