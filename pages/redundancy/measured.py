"""What heads did with held-out words, measured once and shared by all visitors who ask for the same.

Which model, is said by its record: the one of the settings, or that with a twin planted, or with heads taken away.
"""

from typing import NamedTuple

import numpy as np

from attention.ablation.importance import gradient_importance
from attention.inspection.heads import Head
from attention.metrics.measures import MEASURES, Measured
from attention.metrics.sizes import constant_sizes, effective_contributions
from attention.metrics.structure import cluster_order, effective_heads
from pages.shared.caching import made_once
from pages.shared.measured import collected
from pages.shared.models import ModelRecord, held_out, model_of
from pages.shared.turns import aside

MEASURABLE = 20_000_000  # weights; above, one visitor's random model would keep the server from everybody else


@aside
@made_once(max_bytes=20_000_000)
def measured(record: ModelRecord, measure: str, kind: str, layer: int) -> Measured:
    """One measure over all pairs of heads; the layer counts from 0."""
    return MEASURES[measure](getattr(collected(record), kind)[layer])


@aside
@made_once()
def most_constant(record: ModelRecord) -> tuple[Head, float]:
    """The head of which the bias of its values makes the largest part, and that part; (head, 0) where there is none."""
    found = {}
    for layer in collected(record):
        projections = layer.projections
        for number, share in enumerate(constant_sizes(layer.mixed, projections.w_o, projections.b_v)):
            found[Head(layer.kind, layer.layer, number)] = float(np.nan_to_num(share))
    return max(found.items(), key=lambda item: item[1])


@aside
@made_once()
def importance(record: ModelRecord) -> dict[str, np.ndarray]:
    return gradient_importance(model_of(record), held_out(record.task).batch)


class InEffect(NamedTuple):
    """How many heads of a layer there are in effect, of those for which the measure is defined, of all.

    `number` is NaN where the measure has no such number.
    """

    number: float
    defined: int
    heads: int


def in_effect(record: ModelRecord, measure: str, kind: str, layer: int) -> InEffect:
    """The effective number of heads of a layer by a measure."""
    values = measured(record, measure, kind, layer).values
    defined = int((~np.isnan(np.diag(values))).sum())
    try:
        number = effective_heads(MEASURES[measure].as_similarity(values))
    except ValueError:  # a negative eigenvalue: not from an inner product
        number = float("nan")
    return InEffect(number, defined, len(values))


@aside
@made_once()
def effective_by_size(record: ModelRecord, kind: str, layer: int) -> float:
    """The effective number of contributions, sizes included; of one model, not to be compared across head counts."""
    heads = getattr(collected(record), kind)[layer]
    return effective_contributions(heads.mixed, heads.projections.w_o)


def clustered(measure: str, found: Measured) -> list[int]:
    """The heads with like beside like."""
    return cluster_order(MEASURES[measure].as_distance(found.values)).tolist()


def off_diagonal(values: np.ndarray | None) -> np.ndarray:
    """The values of all pairs of two different heads that are defined."""
    if values is None:
        return np.empty(0)
    pairs = values[np.triu_indices(len(values), k=1)]
    return pairs[~np.isnan(pairs)]
