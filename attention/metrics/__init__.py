"""Numbers about heads: arrays in, numbers out. What is undefined is NaN, never 0 or 1.

One head by itself: `locality` (entropy, distance, peakedness), `patterns` (the rule it follows), `alignment` (against
the right answer), `stability` (from step to step, or disturbed); `per_head` has most of them over a batch. Heads
against each other: `redundancy` (cosines), `divergence` (of attention rows), `cka`; `measures` is the table of them,
`structure` says what they come to for a layer. What heads are for: `removal`, `importance`. Heads whose redundancy is
known: `twins`. All start from what `collect` gathers.
"""

from attention.metrics.alignment import alignment_score, diagonal_baseline
from attention.metrics.locality import entropy, mean_distance, peakedness, proportional_diagonal
from attention.metrics.redundancy import PairSummary, cosine_of_rows, off_diagonal_summary, query_cosine
from attention.metrics.stability import drift, gold_distance, movement, total_variation

# What needs a model is imported from its own module (`attention.metrics.collect`, say): a page that shows one word
# does not load it.
__all__ = [
    "PairSummary",
    "alignment_score",
    "cosine_of_rows",
    "diagonal_baseline",
    "drift",
    "entropy",
    "gold_distance",
    "mean_distance",
    "movement",
    "off_diagonal_summary",
    "peakedness",
    "proportional_diagonal",
    "query_cosine",
    "total_variation",
]
