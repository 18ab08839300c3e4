"""Figures of each head by itself, over a held-out batch."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from attention.config import PAD
from attention.inspection.batch import HeldOut
from attention.metrics.alignment import AlignmentScores, alignment_over_rows
from attention.metrics.layer_heads import LayerHeads
from attention.metrics.locality import end_weight, entropy, mean_distance, peakedness
from attention.metrics.patterns import CROSS_PATTERNS, SELF_PATTERNS, Pattern, patterns
from attention.metrics.sizes import contribution_sizes

PerHead = Float[np.ndarray, " heads"]


@dataclass(frozen=True, eq=False)
class HeadFigures:
    """One figure per head of a layer; means over all rows that have a choice, NaN where there is none.

    Attributes:
        entropy: 0 = one key, 1 = uniform.
        distance: in tokens, from the diagonal (`LayerHeads.expected`).
        peakedness: mean of the largest weight.
        patterns: the rule that each head follows.
        on_end: share of the weight that is on the source's end token; NaN where the columns have none.
        size: of its contribution, as a share of the largest in the layer.
        alignment: with its two baselines; None where there is no gold, as in self-attention.
    """

    entropy: PerHead
    distance: PerHead
    peakedness: PerHead
    patterns: tuple[Pattern, ...]
    on_end: PerHead
    size: PerHead
    alignment: AlignmentScores | None


def head_figures(layer: LayerHeads, held_out: HeldOut) -> HeadFigures:
    """All figures of all heads of one layer, collected from this batch."""
    cross = layer.kind == "cross"
    alignment = None
    if cross and any(gold is not None for gold in held_out.golds):
        src_ids = held_out.batch.src_ids
        source_lens = ((src_ids != PAD).sum(1) - 1).tolist()  # without the end token
        weights = layer.weights[:, :, : src_ids.shape[1]]
        alignment = alignment_over_rows(weights, layer.example, held_out.golds, source_lens)
    return HeadFigures(
        entropy=entropy(layer.weights, layer.allowed),
        distance=mean_distance(layer.weights, layer.allowed, expected=layer.expected),
        peakedness=peakedness(layer.weights, layer.allowed),
        patterns=patterns(
            layer.weights,
            layer.allowed,
            layer.position,
            layer.expected,
            layer.backwards,
            CROSS_PATTERNS if cross else SELF_PATTERNS,
            layer.end,
        ),
        on_end=end_weight(layer.weights, layer.allowed, layer.end),
        size=contribution_sizes(layer.mixed, layer.projections.w_o),
        alignment=alignment,
    )
