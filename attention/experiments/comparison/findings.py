"""What the numbers say about the source article's claims: worked out each time from the rows, never written by hand.

All findings of one experiment are one family: whatever list of a page or a report shows them, their intervals are
allowed for together.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from attention.experiments.comparison.arms import Comparison
from attention.experiments.comparison.differences import (
    Difference,
    by_seed,
    heads_of,
    less,
    over_seeds,
    paired,
    per_doubling,
)
from attention.experiments.comparison.finished_runs import FinishedRun

SERIES = ("width", "size", "pool", "drop")
ACCURACY = "sequence_accuracy"
# An interval around 0 that reaches farther than this from its middle leaves room for differences that anybody would
# care about: 5 points of accuracy, half a token, half a map.
TELLS = {ACCURACY: 0.05, "entropy": 0.05, "distance": 0.5, "effective_maps": 0.5}


@dataclass(frozen=True)
class Finding:
    """One difference: what is compared with what, by which measure, and which claims it speaks about.

    Attributes:
        what: the arm in question, or the series of a sweep.
        base: the arm it is compared with; None for a series, whose change per doubling of the heads is meant.
        heads: of the decoder, where one head count of a sweep is meant; None for the mean over all.
    """

    what: str
    base: str | None
    measure: str
    difference: Difference
    claims: tuple[str, ...] = ()
    heads: int | None = None

    @property
    def direction(self) -> str:
        """ "up", "down", or "none" where no difference was seen.

        "few" where the seeds are too few to tell, and "single" where one seed leaves no interval.
        """
        if self.difference.interval is None:
            return "single"
        if self.difference.seen:
            return "up" if self.difference.mean > 0 else "down"
        low, high = self.difference.interval
        return "few" if (high - low) / 2 > TELLS[self.measure] else "none"


# Arm, the arm it is compared with, and the claims about more heads that their accuracy speaks about. `direct` and the
# fixes share one set of K/V over the decoder's layers, so each fix is compared with the control that does too; and
# with the textbook decoder that has as many heads, which is what one would take instead.
CONTRASTS = (
    ("equal_direct", "equal_reproject", ()),
    ("reproject", "equal_reproject", ("A7", "A15")),
    ("projection", "equal_direct", ("A11",)),
    ("grouped", "equal_direct", ("A12",)),
    ("extra", "equal_direct", ("A13",)),
    ("projection", "reproject", ("A15",)),
    ("grouped", "reproject", ("A15",)),
    ("extra", "reproject", ("A15",)),
)
_SWEEP = (
    ("A6", "width", "entropy"),
    ("A6", "width", "distance"),
    ("A9", "width", "effective_maps"),
    ("A9", "size", "effective_maps"),
    ("A10", "size", "entropy"),
    ("A10", "size", ACCURACY),
)


def fixes_findings(rows: Sequence[FinishedRun], comparison: Comparison) -> list[Finding]:
    """What a comparison of the fixes says; what has not run is left out.

    The claims are about more decoder heads than encoder heads: runs with fewer, or as many, speak about none of them.
    """
    more, wider = comparison.dec_heads > comparison.enc_heads, comparison.keep == "size"
    asked = [(arm, base, ACCURACY, claims) for arm, base, claims in CONTRASTS]
    if more:
        # Heads on the same keys against as many that each have their own.
        asked.append(("grouped", "reproject", "effective_maps", ("A8",)))
    if more and not wider:
        asked += [("reproject", "equal_reproject", measure, ("A6",)) for measure in ("entropy", "distance")]
    found = []
    for arm, base, measure, claims in asked:
        answered = tuple(claim for claim in claims if more and (claim != "A7" or wider))
        difference = paired(by_seed(rows, arm, measure), by_seed(rows, base, measure))
        found.append(Finding(arm, base, measure, difference, answered))
    return _as_family(found)


def sweep_findings(rows: Sequence[FinishedRun], enc_heads: int) -> list[Finding]:
    """What a head-count sweep says: what dropped K/V heads cost, and the change per doubling of the heads.

    Claims about more heads are answered by the head counts from the encoder's upwards alone.
    """
    fewer = sorted({heads_of(row) for row in rows if row.arm == "drop" and heads_of(row) < enc_heads})
    cost = {heads: dropped(rows, enc_heads, heads, ACCURACY) for heads in fewer}
    found = [
        Finding("drop", "size", ACCURACY, over_seeds(each.values()), ("A3",), heads) for heads, each in cost.items()
    ]
    if len(cost) > 1:
        seeds = set.intersection(*(set(each) for each in cost.values()))
        means = [sum(each[seed] for each in cost.values()) / len(cost) for seed in sorted(seeds)]
        found.insert(0, Finding("drop", "size", ACCURACY, over_seeds(means), ("A3",)))
    for claim, series, measure in _SWEEP:
        more = [row for row in rows if row.arm == series and heads_of(row) >= enc_heads]
        difference = per_doubling((heads_of(row), row.seed, getattr(row.results, measure)) for row in more)
        found.append(Finding(series, None, measure, difference, (claim,)))
    return _as_family(found)


def dropped(rows: Sequence[FinishedRun], enc_heads: int, heads: int, measure: str) -> dict[int, float]:
    """What dropping all but `heads` K/V heads changes, beyond what so few heads change in a textbook decoder, by seed.

    Dropped less undropped, minus the same for the textbook decoder with heads of the same size.
    """
    change = {
        arm: less(by_seed(rows, arm, measure, heads), by_seed(rows, arm, measure, enc_heads))
        for arm in ("drop", "size")
    }
    return less(change["drop"], change["size"])


def intervals_of(findings: Sequence[Finding]) -> int:
    """How many intervals they show."""
    return sum(finding.difference.interval is not None for finding in findings)


def _as_family(findings: Sequence[Finding]) -> list[Finding]:
    """Those that have runs on both sides, each as one of all that have an interval."""
    known = [finding for finding in findings if not math.isnan(finding.difference.mean)]
    family = max(1, intervals_of(known))
    return [replace(finding, difference=finding.difference.among(family)) for finding in known]
