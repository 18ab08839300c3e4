"""How much each head adds to the hidden states. No measure of likeness sees it: a cosine forgets the length."""

import numpy as np
from jaxtyping import Float

from attention.metrics.structure import effective_number


def contribution_sizes(
    mixed: Float[np.ndarray, "heads rows head_dim"], w_o: Float[np.ndarray, "heads head_dim d_model"]
) -> Float[np.ndarray, " heads"]:
    """Mean norm of A·V·W_O over the rows, as a share of the largest head's: (heads,) float64, or NaN if all add 0.

    Arguments as in `contribution_cosine`. W_O's bias is nobody's and left out.
    """
    return sizes_of(np.linalg.norm(_contributions(mixed, w_o), axis=-1))


def sizes_of(lengths: Float[np.ndarray, "heads rows"]) -> Float[np.ndarray, " heads"]:
    """The same from the length of each contribution."""
    sizes = np.asarray(lengths, dtype=np.float64).mean(axis=-1)
    largest = sizes.max(initial=0.0)
    return sizes / largest if largest > 0 else np.full(len(sizes), np.nan)


def constant_sizes(
    mixed: Float[np.ndarray, "heads rows head_dim"],
    w_o: Float[np.ndarray, "heads head_dim d_model"],
    b_v: Float[np.ndarray, "heads head_dim"],
) -> Float[np.ndarray, " heads"]:
    """The length of b_V·W_O as a share of the mean length of A·V·W_O: (heads,) float64.

    It is what a bias of the values adds in every row alike, as the rows of A sum to 1. NaN where nothing is added, and
    where the values do not come from the source by a linear map.
    """
    lengths = np.linalg.norm(_contributions(mixed, w_o), axis=-1).mean(axis=-1)
    constant = np.linalg.norm(_contributions(np.asarray(b_v)[:, None], w_o)[:, 0], axis=-1)
    return np.divide(constant, lengths, out=np.full(len(lengths), np.nan), where=lengths > 0)


def effective_contributions(
    mixed: Float[np.ndarray, "heads rows head_dim"], w_o: Float[np.ndarray, "heads head_dim d_model"]
) -> float:
    """How many contributions there are in effect, their sizes included: from 1 to the number of heads, or NaN.

    The exponential of the entropy of the eigenvalues of the Gram matrix Σ_rows ⟨contribution, contribution′⟩, divided
    by its trace. A head that adds next to nothing adds nothing to this number either, where the `effective_heads` of a
    matrix with a unit diagonal count it in full.

    It describes one model and does not compare head counts: the same function cut into more, smaller heads has more.
    """
    flat = _contributions(mixed, w_o).reshape(len(mixed), -1)
    return effective_number(flat @ flat.T)


def _contributions(mixed, w_o) -> Float[np.ndarray, "heads rows d_model"]:
    return np.asarray(mixed, dtype=np.float64) @ w_o
