"""How one training of the service stands: what its visitors are told, and the record this is drawn from."""

import logging
import math
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from typing import Literal

from torch import Tensor

from attention.evaluation import Scores
from attention.training import Moment, TrainingSettings
from attention.worker import Chunk, Scored, Snapshot

Status = Literal["waiting", "running", "scoring", "done", "stopped", "failed"]

FIRST_STEPS = 2  # in the first chunk of a training, whose speed nobody knows yet
MAX_GROWTH = 8  # from one chunk to the next, in steps
MAX_LOSSES = 3  # dead workers in a row after which a training is given up
NUM_POINTS = 200  # moments in a Progress, enough to draw a curve

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Progress:
    """How a training stood when it was asked for.

    Attributes:
        place: how many trainings get a worker before this one does; 0 while it has one.
        history: the moments so far, thinned evenly to at most NUM_POINTS, the last one always among them.
        seconds_left: until the last step, at the present speed and with the present number of trainings; None while
            that is unknown, and when no steps are left.
        num_open: how many trainings share the workers, this one among them; 0 when it has ended.
        message: one sentence when failed, or when something happened on the way; otherwise empty.
    """

    status: Status
    step: int
    num_steps: int
    place: int = 0
    history: tuple[Moment, ...] = ()
    seconds_left: float | None = None
    num_open: int = 0
    message: str = ""

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
        history: the moments of all steps.
        snapshots: weights on the way from step 0 to the last, in 16 bits, evenly spaced: how the model formed.
        seconds: of work in the workers, steps and scoring, without waiting.
    """

    settings: TrainingSettings
    weights: dict[str, Tensor]
    scores: Scores
    history: tuple[Moment, ...]
    snapshots: tuple[Snapshot, ...]
    seconds: float


@dataclass(eq=False)
class Training:
    """What the service knows of one training. The service guards it with its lock.

    Attributes:
        state: the pickled TrainingState; None before the first chunk, and when the training is done or has failed.
        chunk_steps: steps in the next chunk.
        losses: workers that died over it, in a row.
    """

    settings: TrainingSettings
    progress: Progress
    state: bytes | None = None
    history: list[Moment] = field(default_factory=list)
    snapshots: list[Snapshot] = field(default_factory=list)
    chunk_steps: int = FIRST_STEPS
    seconds_per_step: float | None = None
    seconds: float = 0.0
    losses: int = 0
    finished: FinishedTraining | None = None

    @property
    def num_bytes(self) -> int:
        """Memory that this training holds, roughly."""
        weights = [self.finished.weights] if self.finished else []
        weights += [snapshot.weights for snapshot in self.snapshots]
        return len(self.state or b"") + sum(tensor.nbytes for tensors in weights for tensor in tensors.values())

    def now(self, status: Status, message: str = "") -> None:
        self.progress = replace(self.progress, status=status, message=message)
        if status in ("done", "failed"):  # one that was stopped may go on
            self.state, self.history = None, []
        if status == "failed":
            self.snapshots = []

    def take_chunk(self, chunk: Chunk, chunk_seconds: float) -> None:
        """A chunk came back; the next one should take `chunk_seconds`."""
        self.losses = 0
        self.state = chunk.state
        self.history += chunk.moments
        self.snapshots += chunk.snapshots
        self.seconds += chunk.seconds
        self.seconds_per_step = chunk.seconds / max(len(chunk.moments), 1)
        wanted = round(chunk_seconds / self.seconds_per_step)
        self.chunk_steps = max(1, min(wanted, MAX_GROWTH * self.chunk_steps))
        self.progress = replace(self.progress, step=chunk.step, history=thinned(self.history))
        broken = next((moment for moment in chunk.moments if not math.isfinite(moment.loss)), None)
        if broken is not None:
            self.now("failed", f"The loss was no longer a number at step {broken.step}: the learning broke down.")
        elif chunk.step >= self.settings.num_steps:
            self.now("scoring", self.progress.message)

    def take_scored(self, scored: Scored) -> None:
        history, seconds = tuple(self.history), self.seconds + scored.seconds
        snapshots = tuple(self.snapshots)
        self.finished = FinishedTraining(self.settings, scored.weights, scored.scores, history, snapshots, seconds)
        self.now("done", self.progress.message)

    def take_error(self, error: BaseException) -> None:
        """A job came back without a result: after a dead worker it may be tried again, otherwise it has failed."""
        if not isinstance(error, (BrokenProcessPool, CancelledError)):
            _log.error("a training failed: %s", self.settings, exc_info=error)
            self.now("failed", _sentence(error))
            return
        self.losses += 1
        if self.losses == MAX_LOSSES:
            text = f"Its worker process died {MAX_LOSSES} times in a row; maybe the model is too large for the memory."
            self.now("failed", text)
        else:
            self.tell_of_replacement()

    def tell_of_replacement(self) -> None:
        """A worker died, and the job in hand is given to another one."""
        text = f"A worker process died and was replaced; the training went on from step {self.progress.step}."
        self.progress = replace(self.progress, message=text)


def thinned(history: list[Moment]) -> tuple[Moment, ...]:
    """At most NUM_POINTS of them, evenly spaced, ending with the last."""
    every = max(1, math.ceil(len(history) / NUM_POINTS))
    return tuple(history[(len(history) - 1) % every :: every])


def first_line(error: BaseException) -> str:
    """What an error says, its first line without the full stop; its kind where it says nothing."""
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")


def _sentence(error: BaseException) -> str:
    text = first_line(error)
    kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
    return f"The training failed: {kind}{text}."
