"""Alignment score: how often a cross-attention head looks at the source token that makes the target token.

`gold[t]` is the set of source positions that make target token t. Tokens that nothing makes (an empty set) and
rows after the last token of `gold` (the one that predicts the end) do not count.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

Gold = Sequence[Set[int]]


def alignment_score(weights: Float[np.ndarray, "heads q_len kv_len"], gold: Gold) -> Float[np.ndarray, " heads"]:
    """Share of target tokens whose strongest attention falls on a source token that makes them.

    Of several equally strong keys the first counts. NaN for every head when `gold` has no token that counts, and for a
    head that looks at no source token at all (it reads something else, as some do with `kv="extra"`).

    Args:
        weights: cross-attention of one example; row t predicts target token t, column s is source token s. Columns of
            the decoder's own are left out.
        gold: per target token the source positions that make it.

    Raises:
        ValueError: fewer rows than tokens in `gold`, or a position beyond the last column.
    """
    num_heads, q_len, kv_len = weights.shape
    if q_len < len(gold):
        raise ValueError(f"the map has {q_len} rows, but the gold alignment has {len(gold)} target tokens")
    makes = gold_mask(gold, kv_len)
    counts = makes.any(-1)
    if not counts.any():
        return np.full(num_heads, np.nan)
    rows = weights[:, : len(gold)]
    looks = rows.any(-1)  # (heads, target tokens)
    hits = makes[np.arange(len(gold)), rows.argmax(-1)] & looks
    return np.where(looks[:, counts].any(-1), hits[:, counts].mean(-1), np.nan)


def gold_mask(gold: Gold, kv_len: int) -> Bool[np.ndarray, "target_tokens kv_len"]:
    """`gold` as a boolean map: True where a source token makes a target token."""
    mask = np.zeros((len(gold), kv_len), dtype=bool)
    for t, positions in enumerate(gold):
        for s in positions:
            if not 0 <= s < kv_len:
                raise ValueError(f"gold position {s} is outside the map's {kv_len} columns")
            mask[t, s] = True
    return mask


def num_aligned(gold: Gold) -> int:
    """How many target tokens count: those that something makes."""
    return sum(bool(positions) for positions in gold)


def diagonal_baseline(gold: Gold, source_len: int) -> float:
    """The score of a head that always points along the proportional diagonal, corner to corner.

    Target token t of T points at source token t · (source_len − 1) / (T − 1), rounded; a single target token points
    at the first. A half is rounded down: of the ways to round it is the one that scores best on English spelling,
    and a baseline should be as good as it can be. `source_len` does not count the end token. NaN as above.
    """
    source_steps, steps = source_len - 1, max(len(gold) - 1, 1)
    # In whole numbers, as a half has to be exactly one: ceil(a / b − 1/2) = (2a + b − 1) // 2b.
    return _share(gold, [(2 * t * source_steps + steps - 1) // (2 * steps) for t in range(len(gold))])


def same_index_baseline(gold: Gold) -> float:
    """The score of a head whose target token t always points at source token t. NaN as above."""
    return _share(gold, range(len(gold)))


def _share(gold: Gold, pointed_at: Sequence[int]) -> float:
    hits = [s in positions for positions, s in zip(gold, pointed_at, strict=True) if positions]
    return float(np.mean(hits)) if hits else float("nan")


@dataclass(frozen=True, eq=False)
class AlignmentScores:
    """Alignment scores over many examples, each target token weighing the same.

    Attributes:
        heads: share of the target tokens that count; NaN when there are none.
        diagonal, same_index: what the two position-only baselines score on the same tokens.
        num_aligned: how many tokens these are about.
    """

    heads: Float[np.ndarray, "*heads"]
    diagonal: float
    same_index: float
    num_aligned: int


class AlignmentTotals:
    """Adds up examples; `shape` is that of the heads' scores, such as (layers, heads)."""

    def __init__(self, *shape: int) -> None:
        self._heads, self._diagonal, self._same_index, self._num_aligned = np.zeros(shape), 0.0, 0.0, 0

    def add(self, heads: Float[np.ndarray, "*heads"], gold: Gold, source_len: int) -> None:
        """Add one example that has target tokens that count; `source_len` as in `diagonal_baseline`."""
        count = num_aligned(gold)
        self._num_aligned += count
        self._heads += count * heads
        self._diagonal += count * diagonal_baseline(gold, source_len)
        self._same_index += count * same_index_baseline(gold)

    def scores(self) -> AlignmentScores:
        total = self._num_aligned or float("nan")
        sums = self._heads, self._diagonal, self._same_index
        return AlignmentScores(*(each / total for each in sums), self._num_aligned)


def alignment_over_rows(
    weights: Float[np.ndarray, "heads rows kv_len"],
    example: Int[np.ndarray, " rows"],
    golds: Sequence[Gold | None],
    source_lens: Sequence[int],
) -> AlignmentScores:
    """The alignment score and its baselines over a batch whose rows stand one after the other.

    Args:
        weights: as in `alignment_score`.
        example: which example each row is from, ascending.
        golds: one per example; None where it is not known, which leaves the example out.
        source_lens: source tokens of each example, without the end token.
    """
    totals = AlignmentTotals(len(weights))
    for number, (gold, source_len) in enumerate(zip(golds, source_lens, strict=True)):
        if gold is not None and num_aligned(gold):
            totals.add(alignment_score(weights[:, example == number], gold), gold, source_len)
    return totals.scores()
