"""How broad a head looks, and how far: entropy and distance of attention rows.

Shape letters: heads, q_len = rows (queries), kv_len = columns (keys). A mask is boolean, True = may attend.

Both figures are means over the rows that have a choice. A row with one allowed key has entropy 0 and a distance that
follows from the mask alone, and a row without any key says nothing at all, so neither tells anything about the head:
such rows are left out. A head with no row left has no figure: NaN, "undefined".
"""

import numpy as np
from jaxtyping import Bool, Float, Int

Mask = Bool[np.ndarray, "q_len kv_len"] | Bool[np.ndarray, "heads q_len kv_len"]


def proportional_diagonal(q_len: int, kv_len: int) -> Float[np.ndarray, " q_len"]:
    """Where each query would look if it moved evenly from the first key to the last: (q_len,) float64 positions.

    Row i lies at i · (kv_len − 1) / (q_len − 1): the first row points at the first key, the last row at the last key,
    equal lengths give the ordinary diagonal. A single row has no slope; it is the *first* row, so it lies at 0.
    Positions are not rounded. Raises ValueError for fewer than one key or a negative number of rows.
    """
    if q_len < 0 or kv_len < 1:
        raise ValueError(f"a diagonal needs q_len of at least 0 and kv_len of at least 1, got {q_len} and {kv_len}")
    return np.arange(q_len) * ((kv_len - 1) / max(q_len - 1, 1))


def answer_diagonal(
    q_len: int, kv_len: int, ended: bool = True, backwards: bool = False
) -> Float[np.ndarray, " q_len"]:
    """The diagonal of a cross-attention map, where each row would look if the answer followed the source evenly.

    The answer's own tokens go along the source's own tokens, from the first to the last, as in
    `alignment.diagonal_baseline`. `ended`: the last row predicts the end token, and belongs to the end token of the
    source, its last column.  `backwards`: for an answer that goes from the source's last token to its first; what ends
    it stays at the end. (q_len,) float64 positions.
    """
    num_tokens = max(kv_len - 1, 1)
    diagonal = proportional_diagonal(q_len - ended, num_tokens)
    if backwards:
        diagonal = num_tokens - 1 - diagonal
    return np.append(diagonal, kv_len - 1) if ended else diagonal


def entropy(
    weights: Float[np.ndarray, "heads q_len kv_len"],
    allowed: Mask,
    *,
    real: Bool[np.ndarray, " q_len"] | None = None,
) -> Float[np.ndarray, " heads"]:
    """Entropy of each head's rows as a share of the possible: (heads,) float64, 0 = one key, 1 = uniform, or NaN.

    Per row −Σ p · log p over the allowed keys, with 0 · log 0 = 0, divided by the logarithm of their number; then the
    mean over the rows with at least two allowed keys. No unit. (Shannon 1948, section 6.)

    weights: (heads, q_len, kv_len), rows sum to 1.  allowed: (q_len, kv_len) or (heads, q_len, kv_len) bool.
    real: (q_len,) bool, False for rows that are padding and stay out; None = every row is real.
    """
    rows, allowed, counted = normalised_rows(weights, allowed, real)
    logs = np.log(rows, out=np.zeros_like(rows), where=rows > 0)
    possible = np.log(np.maximum(allowed.sum(axis=-1), 2))  # 2: any positive number, where the row does not count
    share = -(rows * logs).sum(axis=-1) / possible  # (heads, q_len)
    return mean_over_rows(np.clip(share, 0.0, 1.0), counted)


def mean_distance(
    weights: Float[np.ndarray, "heads q_len kv_len"],
    allowed: Mask,
    *,
    expected: Float[np.ndarray, " q_len"],
    real: Bool[np.ndarray, " q_len"] | None = None,
) -> Float[np.ndarray, " heads"]:
    """How far from the expected position each head looks: (heads,) float64 in tokens, or NaN.

    Per row Σ p_j · |j − expected|, then the mean over the rows with at least two allowed keys.

    weights, allowed, real: as in `entropy`.  expected: (q_len,) positions among the keys, not necessarily whole:
    `np.arange(q_len)` for self-attention, `answer_diagonal(q_len, kv_len)` for cross-attention.
    """
    rows, _, counted = normalised_rows(weights, allowed, real)
    q_len, kv_len = rows.shape[-2:]
    expected = np.asarray(expected, dtype=np.float64)
    if expected.shape != (q_len,):
        raise ValueError(f"expected needs one position per row ({q_len}), got shape {expected.shape}")
    away = np.abs(np.arange(kv_len) - expected[:, None])  # (q_len, kv_len)
    return mean_over_rows((rows * away).sum(axis=-1), counted)


def peakedness(
    weights: Float[np.ndarray, "heads q_len kv_len"],
    allowed: Mask,
    *,
    real: Bool[np.ndarray, " q_len"] | None = None,
) -> Float[np.ndarray, " heads"]:
    """The mean of each row's largest weight: (heads,) float64, 1 = always on one key, or NaN.

    Voita et al. (2019, section 4) call it the confidence of a head, and leave the end token out, which is not
    done here. Arguments and rows that count as in `entropy`.
    """
    rows, _, counted = normalised_rows(weights, allowed, real)
    return mean_over_rows(rows.max(axis=-1, initial=0.0), counted)


def end_weight(
    weights: Float[np.ndarray, "heads rows kv_len"], allowed: Mask, end: Int[np.ndarray, " rows"]
) -> Float[np.ndarray, " heads"]:
    """The share of its attention that each head leaves on the end token of the source: (heads,) float64, or NaN.

    The mean over the rows that have a choice and may look there.

    weights, allowed: as in `entropy`.  end: the column of the end token in each row, −1 where it has none.
    """
    rows, allowed, counted = normalised_rows(weights, allowed)
    if end.shape != rows.shape[1:2]:
        raise ValueError(f"end needs one column per row ({rows.shape[1]}), got shape {end.shape}")
    at = np.arange(rows.shape[1])
    return mean_over_rows(rows[:, at, end], counted & allowed[:, at, end] & (end >= 0))


def normalised_rows(weights, allowed, real=None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows in float64 that sum to 1 over the allowed keys, the mask for each head, and which rows count."""
    weights = np.asarray(weights, dtype=np.float64)
    allowed = np.asarray(allowed)
    if weights.ndim != 3:
        raise ValueError(f"weights need the shape (heads, q_len, kv_len), got {weights.shape}")
    if allowed.dtype != bool or allowed.shape not in (weights.shape, weights.shape[1:]):
        raise ValueError(
            f"allowed needs to be boolean with the shape {weights.shape[1:]} or {weights.shape}, "
            f"got {allowed.dtype} {allowed.shape}"
        )
    allowed = np.broadcast_to(allowed, weights.shape)
    rows = np.where(allowed, weights, 0.0)
    total = rows.sum(axis=-1, keepdims=True)
    # A row that puts nothing anywhere has no distribution, whatever the mask says.
    counted = (allowed.sum(axis=-1) >= 2) & (total[..., 0] != 0)
    if real is not None:
        real = np.asarray(real)
        if real.dtype != bool or real.shape != weights.shape[1:2]:
            raise ValueError(
                f"real needs to be boolean with one entry per row ({weights.shape[1]}), got {real.dtype} {real.shape}"
            )
        counted = counted & real
    # 32-bit rows sum to 1 only to 1e-7; dividing keeps a uniform row at exactly the highest entropy.
    return np.divide(rows, total, out=np.zeros_like(rows), where=total != 0), allowed, counted


def mean_over_rows(values: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """Mean of (heads, q_len) values over the counted rows: (heads,), NaN for a head without any."""
    number = counted.sum(axis=-1)
    total = np.where(counted, values, 0.0).sum(axis=-1)
    return np.divide(total, number, out=np.full(len(total), np.nan), where=number > 0)
