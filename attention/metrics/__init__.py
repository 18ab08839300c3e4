"""Numbers about heads: numpy arrays in, numbers out.

`locality` describes one head by itself (entropy, distance), `alignment` compares a head with the right answer,
`redundancy` compares heads with each other.
"""

from attention.metrics.alignment import alignment_score, diagonal_baseline
from attention.metrics.locality import entropy, mean_distance, proportional_diagonal
from attention.metrics.redundancy import PairSummary, cosine_of_rows, off_diagonal_summary, query_cosine

__all__ = [
    "PairSummary",
    "alignment_score",
    "cosine_of_rows",
    "diagonal_baseline",
    "entropy",
    "mean_distance",
    "off_diagonal_summary",
    "proportional_diagonal",
    "query_cosine",
]
