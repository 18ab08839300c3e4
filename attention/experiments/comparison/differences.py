"""Which arm is better, judged from the same seeds on both sides.

Runs with the same seed saw the same batches in the same order, so their difference is what counts; over few seeds it
follows Student's t (Student 1908), and the interval is that of the paired t test. It speaks of seeds alone: all runs
are scored on the same held-out examples.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from attention.experiments.comparison.finished_runs import FinishedRun

CONFIDENCE = 0.95

Interval = tuple[float, float]


@dataclass(frozen=True)
class Difference:
    """One value per seed, their mean, and how sure one can be of it.

    Attributes:
        values: one for each seed that both sides have.
        family: how many intervals are shown together with this one.
    """

    values: tuple[float, ...]
    family: int = 1

    @property
    def mean(self) -> float:
        """NaN without any seed."""
        return sum(self.values) / len(self.values) if self.values else math.nan

    @property
    def num_seeds(self) -> int:
        return len(self.values)

    @property
    def interval(self) -> Interval | None:
        """95 % for this one alone; None below two seeds, which say nothing about their spread."""
        return t_interval(self.values, CONFIDENCE)

    @property
    def strict(self) -> Interval | None:
        """Wider, so that with 95 % all of the family are inside theirs (Bonferroni); None likewise."""
        return t_interval(self.values, 1 - (1 - CONFIDENCE) / self.family)

    @property
    def seen(self) -> bool:
        """Whether the interval leaves out 0."""
        return _leaves_out_zero(self.interval)

    @property
    def sure(self) -> bool:
        """Whether it does so with the whole family allowed for."""
        return _leaves_out_zero(self.strict)

    def among(self, family: int) -> "Difference":
        """The same as one of so many."""
        return replace(self, family=family)


def at_most_by_chance(count: int) -> float:
    """The largest chance that one or more of so many intervals leave out 0 where nothing differs at all."""
    return min(1.0, count * (1 - CONFIDENCE))


def _leaves_out_zero(interval: Interval | None) -> bool:
    return interval is not None and not interval[0] <= 0 <= interval[1]


def over_seeds(values: Iterable[float]) -> Difference:
    """One value per seed; the noise of arithmetic is no difference."""
    return Difference(tuple(round(float(value), 12) for value in values))


def t_interval(values: Sequence[float], confidence: float) -> Interval | None:
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


def by_seed(rows: Iterable[FinishedRun], arm: str, measure: str, num_heads: int | None = None) -> dict[int, float]:
    """One measure of an arm's runs by seed, those with so many decoder heads; undefined values are left out."""
    own = (row for row in rows if row.arm == arm and num_heads in (None, heads_of(row)))
    found = {row.seed: getattr(row.results, measure) for row in own}
    return {seed: value for seed, value in found.items() if not math.isnan(value)}


def heads_of(row: FinishedRun) -> int:
    """The decoder's heads of a run."""
    return int(row.settings["dec_num_heads"])


def paired(first: Mapping[int, float], second: Mapping[int, float]) -> Difference:
    """`first` minus `second`, over the seeds that both have."""
    return over_seeds(less(first, second).values())


def less(first: Mapping[int, float], second: Mapping[int, float]) -> dict[int, float]:
    """`first` minus `second` for each seed that both have."""
    return {seed: first[seed] - second[seed] for seed in sorted(first.keys() & second.keys())}


def per_doubling(points: Iterable[tuple[int, int, float]]) -> Difference:
    """How much a measure changes each time the number of heads doubles: a straight line per seed, then over seeds.

    points: (heads, seed, value). A seed needs two head counts; undefined values are left out.
    """
    seeds: dict[int, list[tuple[float, float]]] = {}
    for heads, seed, value in points:
        if not math.isnan(value):
            seeds.setdefault(seed, []).append((math.log2(heads), value))
    lines = [np.polyfit(*zip(*found, strict=True), 1) for found in seeds.values() if len({x for x, _ in found}) > 1]
    return over_seeds(slope for slope, _ in lines)


def spread(rows: Iterable[FinishedRun], pick: Callable[[FinishedRun], float]) -> tuple[float, float]:
    """Mean and standard deviation over runs; NaN where there are no runs, or only one to tell the spread from."""
    values = np.array([pick(row) for row in rows], dtype=np.float64)
    values = values[~np.isnan(values)]
    if not len(values):
        return math.nan, math.nan
    return float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else math.nan
