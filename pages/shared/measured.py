"""What heads did with held-out words, measured once and shared by all visitors and pages that ask for the same."""

from typing import NamedTuple

from attention.inspection.batch import Collected, collect
from attention.inspection.per_head import HeadFigures, head_figures
from attention.metrics.patterns import NAMING_SHARE
from pages.shared.caching import made_once
from pages.shared.models import ModelRecord, at_work, held_out, scores_of


@made_once(max_bytes=400_000_000)
def collected(record: ModelRecord) -> Collected:
    """What every head did with the held-out words, padding left out."""
    batch = held_out(record.task).batch
    with at_work(record) as model:
        return collect(model, batch)


@made_once(max_bytes=5_000_000)
def per_head(record: ModelRecord, kind: str, layer: int) -> HeadFigures:
    """The figures of each head by itself; the layer counts from 0."""
    return head_figures(getattr(collected(record), kind)[layer], held_out(record.task))


class Rule(NamedTuple):
    """What a head does most often with held-out words: a pattern's name, or "finds", and the share of rows."""

    name: str
    share: float


def rules(record: ModelRecord, kind: str, layer: int) -> tuple[Rule | None, ...]:
    """For each head what it does in at least half of the rows; None where it does nothing so often.

    "finds": its strongest weight is on what makes the token (cross-attention only). Nothing is said of the heads of a
    model that was not trained to the end, or was changed afterwards.
    """
    scores = scores_of(record)
    if scores is None:
        return (None,) * (record.config.encoder if kind == "encoder" else record.config.decoder).num_heads
    patterns = per_head(record, kind, layer).patterns
    finds = scores.alignment[layer] if kind == "cross" else (0.0,) * len(patterns)
    found = []
    for pattern, share in zip(patterns, finds, strict=True):
        rule = Rule("finds", share) if share >= pattern.share else Rule(pattern.name, pattern.share)
        found.append(rule if rule.share >= NAMING_SHARE else None)
    return tuple(found)
