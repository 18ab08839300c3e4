"""Numbers about heads: arrays in, numbers out, never a model. What is undefined is NaN, never 0 or 1.

One head by itself: `locality` (entropy, distance, peakedness), `patterns` (the rule it follows), `alignment` (against
the right answer), `stability` (from step to step, or disturbed). Heads against each other: `cosines`, `divergence` (of
attention rows), `cka`; `measures` is the table of them, each made from a `layer_heads.LayerHeads`, and `structure` says
what they come to for a layer. `sizes` is what likeness does not see: how much each head adds.

The arrays come from `attention.inspection`; what needs a model to run without some heads is in `attention.ablation`.
"""

from attention.metrics.alignment import alignment_score, diagonal_baseline
from attention.metrics.cosines import PairSummary, cosine_of_rows, off_diagonal_summary, query_cosine
from attention.metrics.locality import (
    answer_diagonal,
    end_weight,
    entropy,
    mean_distance,
    peakedness,
    proportional_diagonal,
)
from attention.metrics.stability import drift, gold_distance, movement

__all__ = [
    "PairSummary",
    "alignment_score",
    "answer_diagonal",
    "cosine_of_rows",
    "diagonal_baseline",
    "drift",
    "end_weight",
    "entropy",
    "gold_distance",
    "mean_distance",
    "movement",
    "off_diagonal_summary",
    "peakedness",
    "proportional_diagonal",
    "query_cosine",
]
