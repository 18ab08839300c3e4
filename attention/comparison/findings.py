"""What the numbers say about the source article's claims: worked out each time from the rows, never written by hand."""

from collections.abc import Sequence
from dataclasses import dataclass

from attention.comparison.rows import Row
from attention.comparison.verdict import Difference, by_seed, paired, per_doubling, verdict

SERIES = ("width", "size", "pool", "drop")
SWEPT = ("sequence_accuracy", "entropy", "distance", "same_pattern", "same_contribution")


@dataclass(frozen=True)
class Finding:
    """What one claim comes to: the claim's number, the contrast or series, the measure, and the difference."""

    claim: str
    what: str
    measure: str
    difference: Difference

    @property
    def direction(self) -> str:
        """ "up", "down", or "none" where no difference was seen; "single" where one seed leaves no interval."""
        if self.difference.interval is None:
            return "single"
        if not self.difference.seen:
            return "none"
        return "up" if self.difference.mean > 0 else "down"


# Claim, contrast of `verdict.CONTRASTS`, measure. A6 or A7, by the head-size rule, is about the textbook contrast.
_FIXES = (
    ("A8", "reproject", "same_contribution"),
    ("A11", "projection", "sequence_accuracy"),
    ("A12", "grouped", "sequence_accuracy"),
    ("A13", "extra", "sequence_accuracy"),
)
_SWEEP = (
    ("A3", "drop", "sequence_accuracy"),
    ("A6", "width", "entropy"),
    ("A6", "width", "distance"),
    ("A9", "width", "same_pattern"),
    ("A9", "size", "same_pattern"),
    ("A10", "size", "entropy"),
    ("A10", "size", "sequence_accuracy"),
)


def fixes_findings(rows: Sequence[Row], keep: str) -> list[Finding]:
    """What a comparison of the fixes says; claims whose arms have not run are left out."""
    first = [("A6", "reproject", name) for name in ("entropy", "distance")]
    if keep == "size":
        first = [("A7", "reproject", "sequence_accuracy")]
    found = []
    for claim, what, measure in (*first, *_FIXES):
        differences = verdict(rows, measure)
        if what in differences:
            found.append(Finding(claim, what, measure, differences[what]))
    return found


def sweep_findings(rows: Sequence[Row], enc_heads: int) -> list[Finding]:
    """What a head-count sweep says: change per doubling, and for A3 what dropping K/V heads costs against pooling."""
    found = []
    for claim, what, measure in _SWEEP:
        if what == "drop":
            difference = dropped(rows, enc_heads, measure)
        else:
            difference = per_doubling(
                (heads_of(row), row.seed, getattr(row.results, measure)) for row in rows if row.arm == what
            )
        if difference.num_seeds:
            found.append(Finding(claim, what, measure, difference))
    return found


def dropped(rows: Sequence[Row], enc_heads: int, measure: str) -> Difference:
    """`drop` minus `pool`, mean over the head counts below the encoder's, paired by seed."""
    fewer = [row for row in rows if heads_of(row) < enc_heads]
    counts = sorted({heads_of(row) for row in fewer if row.arm == "drop"})
    sides = []
    for arm in ("drop", "pool"):
        each = [by_seed([row for row in fewer if heads_of(row) == count], arm, measure) for count in counts]
        seeds = set.intersection(*(set(found) for found in each)) if each else set()
        sides.append({seed: sum(found[seed] for found in each) / len(each) for seed in seeds})
    return paired(*sides)


def heads_of(row: Row) -> int:
    """The decoder's heads of a run."""
    return int(row.settings["dec_num_heads"])
