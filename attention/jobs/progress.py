"""How one training of the service stands: what its visitors are told, and the record this is drawn from."""

import logging
import math
from dataclasses import dataclass, field, replace
from typing import Literal

from torch import Tensor

from attention.jobs.executors import MAX_DEATHS, worker_died
from attention.jobs.time_left import Range, Speed
from attention.jobs.worker import Chunk, Scored, Snapshot
from attention.messages import Message
from attention.training import StepReport, TrainingSettings
from attention.training.evaluation import Scores

Status = Literal["waiting", "running", "scoring", "done", "stopped", "failed"]

FIRST_STEPS = 2  # in the first chunk of a training, whose speed nobody knows yet
MAX_GROWTH = 8  # from one chunk to the next, in steps
NUM_POINTS = 200  # reports in a Progress, enough to draw a curve
MAX_ASKERS = 500  # of one training that are remembered, those who asked last

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Progress:
    """How a training stood when it was asked for.

    Attributes:
        place: how many trainings get a worker before this one does; 0 while it has one.
        history: the reports so far, thinned evenly to at most NUM_POINTS, the last one always among them.
        seconds_left: until the last step, from and to, with the trainings that there are; None when no steps are left,
            and for one that has ended or is paused.
        num_open: how many trainings share the workers, this one among them; 0 when it has ended or is paused.
        paused: nobody who asked for it is here. Otherwise it is as it was, and goes on when somebody comes.
        message: what went wrong, or happened on the way; None where there is nothing to tell.
    """

    status: Status
    step: int
    num_steps: int
    place: int = 0
    history: tuple[StepReport, ...] = ()
    seconds_left: Range | None = None
    num_open: int = 0
    paused: bool = False
    message: Message | None = None

    @property
    def open(self) -> bool:
        """Whether there is still something to wait for."""
        return self.status in ("waiting", "running", "scoring")


@dataclass(frozen=True)
class FinishedTraining:
    """A trained model. Everybody who asks gets this same object: copy a weight before you change it.

    Attributes:
        weights: for `EncoderDecoder.with_weights`, which copies them.
        scores: on held-out examples.
        history: the reports of all steps.
        snapshots: weights on the way from step 0 to the last, in 16 bits, evenly spaced: how the model formed.
        seconds: of work in the workers, steps and scoring, without waiting.
    """

    settings: TrainingSettings
    weights: dict[str, Tensor]
    scores: Scores
    history: tuple[StepReport, ...]
    snapshots: tuple[Snapshot, ...]
    seconds: float


@dataclass(eq=False)
class Training:
    """What the service knows of one training. The service guards it with its lock.

    Attributes:
        state: the pickled TrainingState; None before the first chunk, and when the training is done or has failed.
        chunk_steps: steps in the next chunk.
        expected: seconds of a step on the machine of the stored results.
        deaths: workers that died over it, in a row.
        askers: who wants it, in the order in which they last asked; None is somebody who is always here.
        paused: none of them is here.
    """

    settings: TrainingSettings
    progress: Progress
    state: bytes | None = None
    history: list[StepReport] = field(default_factory=list)
    snapshots: list[Snapshot] = field(default_factory=list)
    chunk_steps: int = FIRST_STEPS
    speed: Speed = field(default_factory=Speed)
    expected: float = 0.0
    seconds: float = 0.0
    deaths: int = 0
    askers: dict[str | None, None] = field(default_factory=dict)
    paused: bool = False
    finished: FinishedTraining | None = None

    @property
    def num_bytes(self) -> int:
        """Memory that this training holds, roughly."""
        weights = [self.finished.weights] if self.finished else []
        weights += [snapshot.weights for snapshot in self.snapshots]
        return len(self.state or b"") + sum(tensor.nbytes for tensors in weights for tensor in tensors.values())

    @property
    def steps_left(self) -> int:
        return self.settings.num_steps - self.progress.step

    def seconds_of_work(self, pace: float) -> float:
        """What is left of it for one worker; `pace`: how much slower this machine is than expected."""
        return self.steps_left * self.speed.seconds_per_step(pace * self.expected)

    def asked_by(self, who: str | None) -> None:
        self.askers.pop(who, None)
        self.askers[who] = None
        if len(self.askers) > MAX_ASKERS:
            del self.askers[next(iter(self.askers))]

    def now(self, status: Status, message: Message | None = None) -> None:
        self.progress = replace(self.progress, status=status, message=message)
        if not self.progress.open:
            self.askers, self.paused = {}, False
        if status in ("done", "failed"):  # one that was stopped may go on
            self.state, self.history = None, []
        if status == "failed":
            self.snapshots = []

    def take_chunk(self, chunk: Chunk, chunk_seconds: float) -> None:
        """A chunk came back; the next one should take `chunk_seconds`."""
        self.deaths = 0
        self.state = chunk.state
        self.history += chunk.reports
        self.snapshots += chunk.snapshots
        self.seconds += chunk.seconds
        self.speed.add(len(chunk.reports), chunk.seconds)
        wanted = round(chunk_seconds * max(len(chunk.reports), 1) / chunk.seconds)
        self.chunk_steps = max(1, min(wanted, MAX_GROWTH * self.chunk_steps))
        self.progress = replace(self.progress, step=chunk.step, history=thinned(self.history))
        broken = next((report for report in chunk.reports if not math.isfinite(report.loss)), None)
        if broken is not None:
            text = f"The loss was no longer a number at step {broken.step}: the learning broke down."
            self.now("failed", Message.of("loss_not_finite", text, step=broken.step))
        elif chunk.step >= self.settings.num_steps:
            self.now("scoring", self.progress.message)

    def take_scored(self, scored: Scored) -> None:
        history, seconds = tuple(self.history), self.seconds + scored.seconds
        snapshots = tuple(self.snapshots)
        self.finished = FinishedTraining(self.settings, scored.weights, scored.scores, history, snapshots, seconds)
        self.now("done", self.progress.message)

    def take_error(self, error: BaseException) -> None:
        """A job came back without a result: after a dead worker it may be tried again, otherwise it has failed."""
        if not worker_died(error):
            _log.error("a training failed: %s", self.settings, exc_info=error)
            self.now("failed", _failure(error))
            return
        self.deaths += 1
        if self.deaths == MAX_DEATHS:
            text = f"Its worker process died {MAX_DEATHS} times in a row; maybe the model is too large for the memory."
            self.now("failed", Message.of("workers_died", text, count=MAX_DEATHS))
        else:
            self.tell_of_replacement()

    def tell_of_replacement(self) -> None:
        """A worker died, and the job in hand is given to another one."""
        text = f"A worker process died and was replaced; the training went on from step {self.progress.step}."
        message = Message.of("worker_replaced", text, step=self.progress.step)
        self.progress = replace(self.progress, message=message)


def thinned(history: list[StepReport]) -> tuple[StepReport, ...]:
    """At most NUM_POINTS of them, evenly spaced, ending with the last."""
    every = max(1, math.ceil(len(history) / NUM_POINTS))
    return tuple(history[(len(history) - 1) % every :: every])


def first_line(error: BaseException) -> str:
    """The first line of an error without its full stop; its kind where it has no text."""
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")


def _failure(error: BaseException) -> Message:
    text = first_line(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {first_line(error)}"
    return Message.of("training_failed", f"The training failed: {text}.", error=text)
