"""Which heads of one layer are alike: cosines of all pairs of heads at once, (heads, heads).

Per head, (W_Q · M, W_K · M⁻ᵀ) and (W_V · N, N⁻¹ · W_O) compute the same function for every invertible M and N. So a
cosine that changes under M or N is about the basis in which a head happens to be written, not about the head: of the
measures here only `pattern_cosine` and `contribution_cosine` do not. (Biases follow: b_Q · M, b_V · N, and so on.)

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
    result = np.full((len(vectors), len(vectors)), np.nan)
    result[np.ix_(defined, defined)] = _as_cosine(unit @ unit.T)
    return result


def map_cosine(w: Float[np.ndarray, "heads width head_dim"], b: Float[np.ndarray, "heads head_dim"]) -> Similarity:
    """Cosine between the matrices, W_Q say, of every two heads: (heads, heads) float64, NaN = undefined.

    A bias counts as one more row of the matrix, the one that an input of 1 meets.

    What it cannot see: anything that is written in another basis, as with `query_cosine`.
    """
    extended = np.concatenate([w, np.asarray(b)[:, None]], axis=1)  # (heads, width + 1, head_dim)
    return cosine_of_rows(extended.reshape(len(extended), -1))


def pattern_cosine(
    w_q: Float[np.ndarray, "heads width head_dim"],
    b_q: Float[np.ndarray, "heads head_dim"],
    w_k: Float[np.ndarray, "heads source_width head_dim"],
) -> Similarity:
    """Cosine between the matrices W_Q · W_Kᵀ of every two heads: (heads, heads) float64, NaN = undefined.

    This matrix makes every attention score out of a query's and a key's input. The bias of the queries counts as one
    more row of W_Q. The bias of the keys has no place in it: it adds the same number to all scores of a row, which
    the softmax takes away again. A head whose keys do not come from the memory by a linear map has NaN in `w_k` and is
    undefined. The product is the QK circuit of Elhage et al. (2021, "A Mathematical Framework for Transformer
    Circuits", on splitting a head into circuits).

    What it cannot see: which inputs really occur. Two matrices that differ only where no input ever points look
    different, and do the same.
    """
    extended = np.concatenate([w_q, np.asarray(b_q)[:, None]], axis=1)  # (heads, width + 1, head_dim)
    return cosine_of_products(extended, np.swapaxes(w_k, 1, 2))


def output_cosine(mixed: Float[np.ndarray, "heads rows head_dim"]) -> Similarity:
    """Cosine between the outputs A·V of every two heads, before W_O: (heads, heads) float64, NaN = undefined.

    The disagreement on outputs of Li et al. (2018, arXiv 1810.10183), over whole batches.

    What it cannot see: a head whose V is written in another basis, with a W_O that undoes it.
    """
    mixed = np.asarray(mixed)
    return cosine_of_rows(mixed.reshape(len(mixed), -1))


def contribution_cosine(
    mixed: Float[np.ndarray, "heads rows head_dim"], w_o: Float[np.ndarray, "heads head_dim d_model"]
) -> Similarity:
    """Cosine between what every two heads add to the hidden states, A·V·W_O: (heads, heads) float64, NaN = undefined.

    Unchanged under every M and N. What it cannot see: that contributions *add*. Of two heads with a cosine of 1 each
    still does its half of the work, and taking one away changes the output, unless its W_O is given to the other.
    """
    return cosine_of_products(mixed, w_o)


def cosine_of_products(left: Float[np.ndarray, "n a r"], right: Float[np.ndarray, "n r b"]) -> Similarity:
    """Cosine between every two of the n matrices left · right, without making them: (n, n) float64, NaN = undefined."""
    narrow, basis, defined = compressed_products(left, right)
    n, rank = len(narrow), basis.shape[1]
    result = np.full((len(defined),) * 2, np.nan)
    if n == 0:
        return result
    unit = narrow / np.linalg.norm(narrow, axis=(1, 2), keepdims=True)  # (n, a, rank)
    # <L·B, L'·B'> = Σ (Lᵀ·L') ∘ (B·B'ᵀ): two Gram matrices, each over all pairs at once.
    unit = unit.transpose(1, 0, 2).reshape(-1, n * rank)
    basis = basis.reshape(n * rank, -1)
    inner = (unit.T @ unit) * (basis @ basis.T)  # (n · rank, n · rank)
    cosine = inner.reshape(n, rank, n, rank).sum(axis=(1, 3))
    result[np.ix_(defined, defined)] = _as_cosine(cosine)
    return result


def compressed_products(
    left: Float[np.ndarray, "n a r"], right: Float[np.ndarray, "n r b"]
) -> tuple[Float[np.ndarray, "d a k"], Float[np.ndarray, "d k b"], Bool[np.ndarray, " n"]]:
    """The products left · right, up to a factor each, as narrow · basis, where the rows of each basis are orthonormal.

    So lengths and angles of the products are those of the narrow matrices, whose columns are no more than r.

    Returns:
        narrow, basis: of the d products that are defined (finite, not zero), largest entry of narrow 1.
        defined: which these are.
    """
    left, right = _brought_to_one(left), _brought_to_one(right)
    defined = np.isfinite(left).all(axis=(1, 2)) & np.isfinite(right).all(axis=(1, 2))
    basis, triangle = np.linalg.qr(np.swapaxes(right[defined], 1, 2))  # rightᵀ = basis · triangle
    narrow = left[defined] @ np.swapaxes(triangle, 1, 2)
    # Two factors of size 1 can make a product of size 0, which rounding leaves at a few units in the last place.
    rounding = 8 * left.shape[2] * np.finfo(np.float64).eps * np.abs(triangle).max(axis=(1, 2), initial=0.0)
    nonzero = np.abs(narrow).max(axis=(1, 2), initial=0.0) > rounding
    defined[defined] = nonzero
    return _brought_to_one(narrow[nonzero]), np.swapaxes(basis[nonzero], 1, 2), defined


def _brought_to_one(x: np.ndarray) -> np.ndarray:
    """(n, …) in float64, each divided by its largest entry, so that squares neither vanish nor overflow; zeros stay."""
    x = np.asarray(x, dtype=np.float64)
    largest = np.abs(x).max(axis=tuple(range(1, x.ndim)), initial=0.0, keepdims=True)
    with np.errstate(invalid="ignore"):  # what is not finite stays so, and is found by the caller
        return np.divide(x, largest, out=x.copy(), where=largest != 0)


def _as_cosine(cosine: np.ndarray) -> np.ndarray:
    """What rounding leaves: symmetric to the last bit, within [−1, 1], exactly 1 on the diagonal."""
    cosine = np.clip((cosine + cosine.T) / 2, -1.0, 1.0)
    np.fill_diagonal(cosine, 1.0)
    return cosine


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
