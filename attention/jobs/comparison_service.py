"""A comparison on the page: its runs go through the training service that everybody shares.

Nobody's comparison runs on its own: those who look at it keep it going by asking how it stands, a few runs at a time.
When nobody asks any more, what is in hand is finished (or pauses, once they have left) and nothing further begins.
Finished runs are kept, so a comparison that was stopped is resumed where it was, and thirty people who want the same
cause it once.
"""

import os
import threading
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from attention.experiments.comparison.arms import Arm, Comparison, PlannedRun, planned
from attention.experiments.comparison.finished_runs import FinishedRun, Results, settings_columns
from attention.experiments.comparison.head_measures import measure_heads
from attention.experiments.comparison.run import NUM_MEASURED, results
from attention.jobs.kept import Kept
from attention.jobs.training_service import NUM_EXAMPLES, FinishedTraining, TrainingService
from attention.messages import Message
from attention.model import EncoderDecoder
from attention.tasks import get_task
from attention.training import TrainingSettings

MAX_ROWS = 2000  # finished runs that are kept, about 3 kB each
AT_ONCE = max(1, min(4, (os.cpu_count() or 2) - 1))  # runs of one comparison that take turns with other people's
GONE_SECONDS = 15  # after this long without a question, somebody has left


@dataclass(frozen=True)
class Standing:
    """How a comparison stands.

    Attributes:
        rows: of the finished runs; one that belongs to several arms has a row in each.
        finished, total: how many runs there are, and how many there will be.
        share: of all steps, how many are made, 0 to 1.
        failures: what went wrong with each run that failed; such runs are not tried again by themselves.
        place: how many trainings of other people get a worker before the next of these.
        wanted: whether this visitor has it running.
    """

    rows: tuple[FinishedRun, ...]
    finished: int
    total: int
    share: float
    failures: tuple[Message, ...]
    place: int
    wanted: bool

    @property
    def done(self) -> bool:
        return self.finished + len(self.failures) >= self.total


class SharedComparisons:
    """One per server process. Its methods return at once and may be called from any thread.

    Args:
        service: trains for everybody.
        known: runs that were made before, and need not be made again.
    """

    def __init__(self, service: TrainingService, known: Iterable[FinishedRun] = ()) -> None:
        self._service = service
        self._known = {_key(row.settings): row.results for row in known}
        self._lock = threading.Lock()
        self._results: Kept[TrainingSettings, Results] = Kept()
        self._failures: Kept[TrainingSettings, Message] = Kept()
        self._measuring: dict[TrainingSettings, Future] = {}
        self._measurer = ThreadPoolExecutor(1, thread_name_prefix="measuring")
        self._begun: set[TrainingSettings] = set()  # by us, and not by somebody in the playground
        self._wanted: dict[tuple[Comparison, tuple[Arm, ...]], dict[str, float]] = {}  # by whom, last asked when

    def start(self, comparison: Comparison, arms: tuple[Arm, ...], who: str) -> None:
        """`who` wants it; runs that failed before are tried again."""
        with self._lock:
            for _, settings in planned(comparison, arms):
                self._failures.pop(settings, None)
            self._running()  # forgets who has left
            self._wanted.setdefault((comparison, arms), {})[who] = time.monotonic()

    def stop(self, comparison: Comparison, arms: tuple[Arm, ...], who: str) -> None:
        """`who` wants it no longer; what is in hand is given up if nobody else does."""
        with self._lock:
            self._wanted.get((comparison, arms), {}).pop(who, None)
            others = {settings for (wanted, theirs) in self._running() for _, settings in planned(wanted, theirs)}
            for _, settings in planned(comparison, arms):
                if settings in self._begun and settings not in others:
                    self._service.stop(settings)
                    self._begun.discard(settings)

    def ask(self, comparison: Comparison, arms: tuple[Arm, ...], who: str) -> Standing:
        """How it stands; if `who` has it running, this is also what keeps it going."""
        runs = planned(comparison, arms)
        with self._lock:
            people = self._wanted.get((comparison, arms), {})
            wanted = who in people
            if wanted:
                people[who] = time.monotonic()
                self._keep_going(runs, who)
            standing = self._standing(runs, wanted)
            if wanted and standing.done:
                del self._wanted[comparison, arms]
            return standing

    # What follows is called with the lock held.

    def _running(self) -> list[tuple[Comparison, tuple[Arm, ...]]]:
        """What somebody wants who is still there."""
        now = time.monotonic()
        for key, people in list(self._wanted.items()):
            here = {who: at for who, at in people.items() if now - at < GONE_SECONDS}
            if here:
                self._wanted[key] = here
            else:
                del self._wanted[key]
        return list(self._wanted)

    def _keep_going(self, runs: list[PlannedRun], who: str) -> None:
        """Take in what is finished, and begin as many runs as may be in hand at once, for `who`."""
        in_hand = 0
        for _, settings in runs:
            if self._result(settings) or settings in self._failures:
                continue
            if settings in self._measuring:
                self._take(settings)
                continue
            progress = self._service.progress(settings)
            if progress is not None and progress.status == "failed":
                self._failed(settings, progress.message)
            elif finished := self._service.finished(settings):
                self._measuring[settings] = self._measurer.submit(measured, finished)
                self._begun.discard(settings)
            elif in_hand < AT_ONCE:
                if progress is None or not progress.open:
                    self._service.submit(settings, who)
                    self._begun.add(settings)
                else:
                    self._service.join(settings, who)
                in_hand += 1

    def _take(self, settings: TrainingSettings) -> None:
        if not self._measuring[settings].done():
            return
        future = self._measuring.pop(settings)
        if error := future.exception():
            text = f"The finished model could not be measured: {error}."
            self._failed(settings, Message.of("measuring_failed", text, error=str(error)))
            return
        self._results.put(settings, future.result())
        self._results.forget(lambda _: (1,), (MAX_ROWS,))

    def _failed(self, settings: TrainingSettings, message: Message) -> None:
        self._begun.discard(settings)
        self._failures.put(settings, message)
        self._failures.forget(lambda _: (1,), (MAX_ROWS,))

    def _result(self, settings: TrainingSettings) -> Results | None:
        return self._results.ask(settings) or self._known.get(_key(settings_columns(settings, NUM_EXAMPLES)))

    def _standing(self, runs: list[PlannedRun], wanted: bool) -> Standing:
        rows, failures, shares, places = [], {}, {}, []
        for arm, settings in runs:
            progress = self._service.progress(settings)
            if result := self._result(settings):
                rows.append(FinishedRun(arm.name, settings_columns(settings, NUM_EXAMPLES), result))
                shares[settings] = 1.0
            elif settings in self._failures:
                failures[settings] = self._failures[settings]
            elif progress is not None:
                shares[settings] = progress.step / progress.num_steps
                places += [progress.place] if progress.open else []
        total = len({settings for _, settings in runs})
        return Standing(
            rows=tuple(rows),
            finished=len({_key(row.settings) for row in rows}),
            total=total,
            share=(sum(shares.values()) + len(failures)) / max(total, 1),
            failures=tuple(failures.values()),
            place=min(places, default=0),
            wanted=wanted,
        )


def _key(columns: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(columns.items()))


def measured(finished: FinishedTraining) -> Results:
    """Everything about a finished training, its heads looked at."""
    task = get_task(finished.settings.task)
    model = EncoderDecoder.with_weights(finished.settings.config, finished.weights)
    measures = measure_heads(model, task, task.held_out(NUM_MEASURED))
    return results(finished.settings, finished.scores, measures, finished.history, finished.seconds)
