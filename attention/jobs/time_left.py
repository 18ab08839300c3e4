"""How long a training takes among others, as a range: nobody knows who comes meanwhile, or what else a machine does.

Trainings take turns, so of each other one the workers do as much as of ours, until it ends. That is reckoned with here,
and so an estimate neither falls when another training ends, nor rises when a chunk was slow.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median

LOW, HIGH = 0.7, 1.6  # of the estimate: it is between these, give or take a turn of everybody, unless many come or go
NUM_CHUNKS = 16  # of a training, from which its speed is judged
NUM_PACES = 32  # of all trainings together

Range = tuple[float, float]


def shared_seconds(own: float, others: Iterable[float], num_workers: int) -> float:
    """Seconds until work of `own` seconds is done, while `others` (seconds of work each) take turns with it."""
    ends = sorted(min(own, other) for other in others)
    seconds, done, num_open = 0.0, 0.0, len(ends) + 1
    for work in (*ends, own):  # up to the end of each in turn; ours is the last one
        seconds += (work - done) * max(1.0, num_open / num_workers)
        done, num_open = work, num_open - 1
    return seconds


def range_of(seconds: float, turn: float) -> Range:
    """What is told of an estimate; `turn`: seconds until everybody has had a turn."""
    return max(LOW * seconds - turn, 0.0), HIGH * seconds + turn


@dataclass
class Speed:
    """How fast one training was lately: as many chunks count as are kept, each by its steps."""

    chunks: deque[tuple[int, float]] = field(default_factory=lambda: deque(maxlen=NUM_CHUNKS))

    def add(self, num_steps: int, seconds: float) -> None:
        self.chunks.append((num_steps, seconds))

    def seconds_per_step(self, expected: float) -> float:
        """What is expected counts like the longest chunk: all at first, and less and less."""
        most = max((number for number, _ in self.chunks), default=1)
        steps = most + sum(number for number, _ in self.chunks)
        return (most * expected + sum(seconds for _, seconds in self.chunks)) / steps


@dataclass
class Pace:
    """How much slower this machine is just now than the one that the stored results were made on."""

    ratios: deque[float] = field(default_factory=lambda: deque(maxlen=NUM_PACES))

    def add(self, seconds: float, expected: float) -> None:
        if seconds > 0 and expected > 0:
            self.ratios.append(seconds / expected)

    @property
    def ratio(self) -> float:
        """1 before anything was trained."""
        return median(self.ratios) if self.ratios else 1.0
