"""Which arm is better, judged from the same seeds on both sides.

Runs with the same seed saw the same batches in the same order, so their difference is what counts; over few seeds it
follows Student's t (Student 1908), and the interval is that of the paired t test. It speaks of seeds alone: all runs
are scored on the same held-out examples.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from attention.comparison.rows import Row

CONFIDENCE = 0.95
# What is asked: a name, the arm in question, and the arm it is compared with. `direct` and the fixes share one set of
# K/V over the decoder's layers, so the fixes are measured against the control that does too.
CONTRASTS = (
    ("sharing", "equal_direct", "equal_reproject"),
    ("reproject", "reproject", "equal_reproject"),
    ("projection", "projection", "equal_direct"),
    ("grouped", "grouped", "equal_direct"),
    ("extra", "extra", "equal_direct"),
)


@dataclass(frozen=True)
class Difference:
    """A mean over seeds, and how sure one can be of it.

    Attributes:
        mean: over the seeds that both sides have; NaN without any.
        interval: 95 % for this one alone; None below two seeds, which say nothing about their spread.
        strict: wider, so that with 95 % all comparisons made together are inside theirs (Bonferroni); None likewise.
    """

    mean: float
    num_seeds: int
    interval: tuple[float, float] | None
    strict: tuple[float, float] | None

    @property
    def seen(self) -> bool:
        """Whether the interval leaves out 0."""
        return _leaves_out_zero(self.interval)

    @property
    def sure(self) -> bool:
        """Whether it does so with all comparisons allowed for."""
        return _leaves_out_zero(self.strict)


def _leaves_out_zero(interval: tuple[float, float] | None) -> bool:
    return interval is not None and not interval[0] <= 0 <= interval[1]


def mean_over_seeds(values: Sequence[float], family: int = 1) -> Difference:
    """Mean of one value per seed with its t intervals; `family` is how many comparisons are made side by side."""
    values = np.round(np.asarray(values, dtype=np.float64), 12)  # the noise of arithmetic is no difference
    if not len(values):
        return Difference(math.nan, 0, None, None)
    strict = 1 - (1 - CONFIDENCE) / family
    return Difference(float(values.mean()), len(values), t_interval(values, CONFIDENCE), t_interval(values, strict))


def t_interval(values: Sequence[float], confidence: float) -> tuple[float, float] | None:
    """Student's t interval of the mean of independent values; None for fewer than two.

    Values that are all the same have no spread, and their interval is a single point.
    """
    from scipy.special import stdtrit  # the quantile of t; not at the top, as the first page should not wait for it

    values = np.asarray(values, dtype=np.float64)
    if len(values) < 2:
        return None
    error = values.std(ddof=1) / math.sqrt(len(values))
    half = float(stdtrit(len(values) - 1, (1 + confidence) / 2) * error)
    mean = float(values.mean())
    return mean - half, mean + half


def by_seed(rows: Iterable[Row], arm: str, measure: str) -> dict[int, float]:
    """One measure of an arm's runs by seed; runs where it is undefined are left out."""
    found = {row.seed: getattr(row.results, measure) for row in rows if row.arm == arm}
    return {seed: value for seed, value in found.items() if not math.isnan(value)}


def paired(first: Mapping[int, float], second: Mapping[int, float], family: int = 1) -> Difference:
    """`first` minus `second`, over the seeds that both have."""
    return mean_over_seeds([first[seed] - second[seed] for seed in sorted(first.keys() & second.keys())], family)


def verdict(rows: Sequence[Row], measure: str = "sequence_accuracy") -> dict[str, Difference]:
    """The difference of each contrast that has runs on both sides, by its name."""
    sides = {name: (by_seed(rows, arm, measure), by_seed(rows, base, measure)) for name, arm, base in CONTRASTS}
    sides = {name: (first, second) for name, (first, second) in sides.items() if first.keys() & second.keys()}
    return {name: paired(first, second, family=len(sides)) for name, (first, second) in sides.items()}


def per_doubling(points: Iterable[tuple[int, int, float]]) -> Difference:
    """How much a measure changes each time the number of heads doubles: a straight line per seed, then over seeds.

    points: (heads, seed, value). A seed needs two head counts; undefined values are left out.
    """
    seeds: dict[int, list[tuple[float, float]]] = {}
    for heads, seed, value in points:
        if not math.isnan(value):
            seeds.setdefault(seed, []).append((math.log2(heads), value))
    lines = [np.polyfit(*zip(*found, strict=True), 1) for found in seeds.values() if len({x for x, _ in found}) > 1]
    return mean_over_seeds([float(slope) for slope, _ in lines])


def spread(rows: Iterable[Row], pick: Callable[[Row], float]) -> tuple[float, float]:
    """Mean and standard deviation over runs; NaN where there are no runs, or only one to tell the spread from."""
    values = np.array([pick(row) for row in rows], dtype=np.float64)
    values = values[~np.isnan(values)]
    if not len(values):
        return math.nan, math.nan
    return float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else math.nan
