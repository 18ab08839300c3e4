"""What smaller heads do to queries and scores: not zeros, but a lower rank.

The scores Q·Kᵀ of a head have at most the rank of its size (Bhojanapalli et al. 2020, arXiv 2002.07028); the softmax is
applied to each number by itself, and may bring the rank back up.
"""

from dataclasses import dataclass

import torch

from attention.functional import attention_scores, attention_weights


@dataclass(frozen=True)
class ScoreRank:
    """Of one head.

    Attributes:
        zeros: the share of zeros in its queries.
        of_scores, of_weights: ranks, before and after the softmax.
    """

    head_dim: int
    zeros: float
    of_scores: int
    of_weights: int


def score_rank(head_dim: int, tokens: int, seed: int = 0) -> ScoreRank:
    """Random queries and keys of one head, in 64 bits, as a rank is a matter of small singular values."""
    generator = torch.Generator().manual_seed(seed)
    q, k = (torch.randn(1, 1, tokens, head_dim, generator=generator, dtype=torch.float64) for _ in "qk")
    scores, weights = attention_scores(q, k)[0, 0], attention_weights(q, k)[0, 0]
    ranks = (int(torch.linalg.matrix_rank(matrix)) for matrix in (scores, weights))
    return ScoreRank(head_dim, float((q == 0).double().mean()), *ranks)
