"""What a training worker does. Worker processes import this module and nothing of the page.

A training travels as bytes: the server hands them on without reading them, so that it stays free for its visitors.
"""

import pickle
import time
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from attention.tasks import get_task
from attention.training import StepReport, TrainingSettings, TrainingState, advance, own_process, start
from attention.training.evaluation import Scores, evaluate

NUM_SNAPSHOTS = 25  # of a training, at most
SNAPSHOT_BYTES = 24_000_000  # for all of them; the usual model takes 12 million


class Snapshot(NamedTuple):
    """The weights of a training after `step` steps, to look at. Kept ones are rounded to 16 bits."""

    step: int
    weights: dict[str, Tensor]


@dataclass(frozen=True)
class Chunk:
    """Some steps of a training.

    Attributes:
        state: the pickled TrainingState after them.
        reports: how each step went.
        snapshots: what was to be kept on the way (see `recorded_steps`).
        seconds: how long the steps took.
    """

    state: bytes
    step: int
    reports: tuple[StepReport, ...]
    snapshots: tuple[Snapshot, ...]
    seconds: float


@dataclass(frozen=True)
class Scored:
    """The end of a training: its weights and how good they are."""

    weights: dict[str, Tensor]
    scores: Scores
    seconds: float


def prepare(server_pid: int) -> None:
    """Run first in each worker."""
    own_process.begin(server_pid)
    torch.optim.AdamW([torch.zeros(1, requires_grad=True)])  # the first one of a process takes a second of imports


def ready() -> None:
    """Does nothing; a worker that answers is warm."""


def run_chunk(settings: TrainingSettings, state: bytes | None, num_steps: int) -> Chunk:
    """`num_steps` steps on from `state`, or from the beginning where that is None."""
    torch.set_num_threads(1)  # the same bits on every machine; the threads of a Dask worker have not run `prepare`
    get_task(settings.task).sample_batch(torch.Generator(), 1)  # a worker's first batch loads the data: not measured
    before = start(settings) if state is None else pickle.loads(state)
    begin = time.perf_counter()
    after, last = before, min(before.step + num_steps, settings.num_steps)
    snapshots = [snapshot(before)] if state is None else []
    for stop in recorded_steps(settings.num_steps, sum(weight.numel() for weight in before.weights.values())):
        if before.step < stop <= last:
            after = advance(after, stop - after.step)
            snapshots.append(snapshot(after))
    after = advance(after, last - after.step)
    seconds = time.perf_counter() - begin
    reports = after.history[len(before.history) :]
    return Chunk(pickle.dumps(after, pickle.HIGHEST_PROTOCOL), after.step, reports, tuple(snapshots), seconds)


def recorded_steps(num_steps: int, num_weights: int) -> tuple[int, ...]:
    """After which steps weights are kept: the first, the last, and evenly between as many as SNAPSHOT_BYTES hold."""
    intervals = max(1, min(NUM_SNAPSHOTS, SNAPSHOT_BYTES // (2 * num_weights)) - 1)
    return tuple(sorted({round(num_steps * number / intervals) for number in range(intervals + 1)}))


def snapshot(state: TrainingState) -> Snapshot:
    """A state's weights in 16 bits."""
    return Snapshot(state.step, {name: weight.half() for name, weight in state.weights.items()})


def score(settings: TrainingSettings, state: bytes, num_examples: int) -> Scored:
    """Scores on at most `num_examples` held-out examples."""
    torch.set_num_threads(1)
    begin = time.perf_counter()
    trained = pickle.loads(state)
    task = get_task(settings.task)
    scores = evaluate(trained.model(), task, task.held_out(num_examples))
    return Scored(trained.weights, scores, time.perf_counter() - begin)
