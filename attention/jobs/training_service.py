"""Trains models for many visitors at once, in worker processes, a chunk of steps at a time.

    service = TrainingService()
    service.submit(settings)       # at once
    service.progress(settings)     # step, loss so far, time left
    service.snapshots(settings)    # weights on the way, to look at
    service.finished(settings)     # None until it is done, then weights and scores

Trainings take turns: each runs a chunk of about half a second and goes to the end of the queue, so nobody waits for a
whole training of somebody else. A training at rest is a value (see `attention.training`), so a worker that dies costs
the chunk it had in hand and nothing else. The workers are those of `executors.py`: this machine or a Dask cluster.

When nobody who asked for a training is there any longer (`is_here`), it pauses after the chunk in hand; it goes on when
one of them is back, or somebody else asks.
"""

import pickle
import queue
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from dataclasses import replace

from attention.experiments.comparison.stored_runs import expected_seconds
from attention.jobs import executors
from attention.jobs.kept import Kept
from attention.jobs.outlook import seconds_left
from attention.jobs.progress import FinishedTraining, Progress, Training
from attention.jobs.time_left import Pace, Range
from attention.jobs.worker import Chunk, Snapshot, ready, run_chunk, score
from attention.messages import Message
from attention.training import TrainingSettings

__all__ = ["FinishedTraining", "Progress", "Snapshot", "TrainingService"]

MAX_OPEN = 200  # trainings that are waiting or under way, and as many again that are paused or stopped
MAX_BYTES = 1_000_000_000  # for trainings under way, and as much again for those that are paused or have ended
NUM_EXAMPLES = 1000  # held-out examples in the final score
LOOK_SECONDS = 1.0  # after which it is looked anew whether somebody has come back for a training that is paused


class TrainingService:
    """One per server process. Its methods return at once and may be called from any thread.

    Args:
        num_workers: processes, where none is given and no cluster: one less than there are cores, which leaves one to
            the pages.
        chunk_seconds: how long a training keeps a worker before others have their turn.
        max_finished: how many finished trainings are kept; the one asked for longest ago goes first.
        is_here: whether somebody who asked for a training is there just now; asked from any thread, and often.
    """

    def __init__(
        self,
        num_workers: int | None = None,
        chunk_seconds: float = 0.5,
        max_finished: int = 32,
        is_here: Callable[[str], bool] = lambda _: True,
    ) -> None:
        self._pool = executors.Pool(num_workers)
        self._chunk_seconds = chunk_seconds
        self._max_finished = max_finished
        self._is_here = is_here
        self._pace = Pace()
        self._lock = threading.Lock()
        self._trainings: Kept[TrainingSettings, Training] = Kept()
        self._turns: deque[Training] = deque()  # want a worker, in this order
        self._in_hand: set[Training] = set()  # have a job at a worker
        self._events: queue.SimpleQueue = queue.SimpleQueue()
        self._num_parallel = num_workers or 1  # how many jobs the executor runs at once
        self._dispatcher = threading.Thread(target=self._dispatch, name="training", daemon=True)
        self._dispatcher.start()

    def submit(self, settings: TrainingSettings, who: str | None = None) -> Progress:
        """Train this, unless it is under way or done. Resumes one that was stopped, restarts one that failed.

        Args:
            who: wants it, as long as `is_here` says so; None wants it always.
        """
        expected = expected_seconds(settings) / max(settings.num_steps, 1)
        with self._lock:
            training = self._trainings.get(settings)
            if training is None or training.progress.status == "failed":
                training = Training(settings, Progress("waiting", 0, settings.num_steps), expected=expected)
                self._begin(training)
            elif training.progress.status == "stopped":
                self._begin(training)
            self._asked_by(who, training)
            self._keep(training)
            return self._progress_of(training)

    def join(self, settings: TrainingSettings, who: str) -> None:
        """`who` wants a training, too, if it is under way; where it is paused, it goes on."""
        with self._lock:
            if training := self._trainings.ask(settings):
                self._asked_by(who, training)

    def outlook(self, settings: TrainingSettings) -> Range:
        """Seconds, from and to, that a training would take if it began, or went on, just now."""
        expected = expected_seconds(settings) / max(settings.num_steps, 1)
        with self._lock:
            training = self._trainings.get(settings)
            if training is None or training.progress.status == "failed":
                training = Training(settings, Progress("waiting", 0, settings.num_steps), expected=expected)
            return self._range_of(training)

    def refusal(self) -> Message | None:
        """Why no further training can begin just now; None where one can."""
        with self._lock:
            return self._refusal()

    def num_under_way(self) -> int:
        """How many trainings take turns just now."""
        with self._lock:
            return len(self._turns) + len(self._in_hand)

    def progress(self, settings: TrainingSettings) -> Progress | None:
        """How it stands; None for a training that was never submitted, or is forgotten."""
        with self._lock:
            training = self._trainings.get(settings)
            return self._progress_of(training) if training else None

    def stop(self, settings: TrainingSettings) -> None:
        """Stop a training, for everybody who wanted it; `submit` lets it go on from here, as long as it is kept.

        A chunk in hand is run to its end and thrown away.
        """
        with self._lock:
            training = self._trainings.get(settings)
            if training and training.progress.open:
                self._stop(training)

    def snapshots(self, settings: TrainingSettings) -> tuple[Snapshot, ...]:
        """The weights kept so far of a training under way, stopped or done, from step 0 on; () where there are none."""
        with self._lock:
            training = self._trainings.get(settings)
            return tuple(training.snapshots) if training else ()

    def newest(self, settings: TrainingSettings) -> Snapshot | None:
        """The weights of a training under way or stopped, as they are now; None before its first chunk is back."""
        with self._lock:
            training = self._trainings.get(settings)
            state = training.state if training else None
        if state is None:
            return None
        after = pickle.loads(state)
        return Snapshot(after.step, after.weights)

    def finished(self, settings: TrainingSettings) -> FinishedTraining | None:
        """The trained model, as long as it is kept; None before it is done."""
        with self._lock:
            training = self._trainings.get(settings)
            if training is None or training.finished is None:
                return None
            return self._trainings.ask(settings).finished

    def warm_up(self) -> None:
        """Start the workers now, all at once, so that the first training need not wait for them."""
        self._events.put("warm up")

    def close(self) -> None:
        """Stop everything and end the workers. For tests and scripts; a server just ends."""
        self._events.put("close")
        self._dispatcher.join()

    # What follows is called with the lock held.

    def _begin(self, training: Training) -> None:
        """Queue a training that is new or was stopped."""
        if refusal := self._refusal():
            training.now("stopped" if training.state else "failed", refusal)
        elif training in self._in_hand:
            training.now("running")  # it has just been stopped, and its chunk is not back yet
        else:
            training.now("waiting")
            self._turns.append(training)
            self._events.put("look")

    def _asked_by(self, who: str | None, training: Training) -> None:
        if training.progress.open:
            training.asked_by(who)
            if training.paused:
                self._events.put("look")

    def _is_wanted(self, training: Training) -> bool:
        return any(who is None or self._is_here(who) for who in training.askers)

    def _see_who_is_here(self) -> None:
        """Trainings that nobody waits for leave the queue; those that somebody is back for join it again."""
        for training in self._trainings.values():
            if training.paused and self._is_wanted(training):
                training.paused = False
                self._turns.append(training)
        for training in [training for training in self._turns if not self._is_wanted(training)]:
            training.paused = True
            self._turns.remove(training)
            self._keep_within_limits()

    def _refusal(self) -> Message | None:
        num_open = sum(training.progress.open and not training.paused for training in self._trainings.values())
        if num_open >= MAX_OPEN:
            text = f"{num_open} trainings are waiting or under way; try again when some are done."
            return Message.of("too_many_trainings", text, count=num_open)
        if not self._dispatcher.is_alive():
            text = "The training service has ended; the server has to be started again."
            return Message.of("service_ended", text)
        return None

    def _stop(self, training: Training) -> None:
        training.now("stopped")
        if training in self._turns:
            self._turns.remove(training)
        self._events.put("look")  # the memory it held may be what another one waits for

    def _progress_of(self, training: Training) -> Progress:
        progress = training.progress
        place = self._turns.index(training) if training in self._turns else 0
        under_way = progress.open and not training.paused
        num_open = len(self._turns) + len(self._in_hand) if under_way else 0
        left = self._range_of(training) if under_way and training.steps_left else None
        shown = {"place": place, "seconds_left": left, "num_open": num_open, "paused": training.paused}
        return replace(progress, **shown)

    def _range_of(self, training: Training) -> Range:
        """Seconds until its last step, from and to, among those that are under way."""
        here = {"pace": self._pace.ratio, "chunk_seconds": self._chunk_seconds, "num_workers": self._num_parallel}
        return seconds_left(training, tuple(self._turns), self._in_hand, **here)

    def _keep(self, training: Training) -> None:
        """Keep a training as the one asked for last."""
        self._trainings.put(training.settings, training)
        self._keep_within_limits()

    def _keep_within_limits(self) -> None:
        """What was asked for longest ago goes, of those that are paused or have ended."""

        def sizes(other: Training) -> tuple[int, int, int]:
            if other.progress.open and not other.paused:
                return 0, 0, 0
            return other.finished is not None, other.finished is None, other.num_bytes

        self._trainings.forget(sizes, (self._max_finished, MAX_OPEN, MAX_BYTES))

    def _next(self) -> Training | None:
        """The training whose turn it is, moved into a worker's hands; None when none may go."""
        self._see_who_is_here()
        under_way = (*self._turns, *self._in_hand)
        # A dead worker takes the whole pool with it, so nobody knows whose job killed it: the suspects run alone.
        suspects = any(training.deaths for training in under_way)
        if len(self._in_hand) >= (1 if suspects else self._num_parallel):
            return None
        # Those that have begun go on; others begin when there is room.
        room = sum(training.num_bytes for training in under_way) < MAX_BYTES
        training = next((training for training in self._turns if room or training.state), None)
        if training:
            self._turns.remove(training)
            self._in_hand.add(training)
            if training.progress.status == "waiting":
                training.now("running", training.progress.message)
        return training

    def _job(self, training: Training) -> tuple:
        if training.progress.status == "scoring":
            return score, training.settings, training.state, NUM_EXAMPLES
        return run_chunk, training.settings, training.state, training.chunk_steps

    def _arrived(self, training: Training, future: Future) -> None:
        self._in_hand.discard(training)
        if training.progress.status == "stopped":
            return
        if error := CancelledError() if future.cancelled() else future.exception():
            training.take_error(error)
            if training.progress.open:
                self._turns.appendleft(training)  # the same state again
        elif isinstance(future.result(), Chunk):
            training.take_chunk(future.result(), self._chunk_seconds)
            steps, seconds = len(future.result().reports), future.result().seconds
            self._pace.add(seconds, steps * training.expected)
            if training.progress.open:
                self._turns.append(training)
        else:
            training.take_scored(future.result())
            self._keep(training)  # as asked for just now, or one that took long would be the first to go

    # What follows runs in the dispatcher's thread, where nobody waits for it.

    def _next_event(self) -> str | tuple[Training, Future]:
        with self._lock:
            any_paused = any(training.paused for training in self._trainings.values())
        try:
            return self._events.get(timeout=LOOK_SECONDS if any_paused else None)
        except queue.Empty:
            return "look"

    def _dispatch(self) -> None:
        try:
            while (event := self._next_event()) != "close":
                self._handle(event)
            self._pool.close()
        finally:
            with self._lock:
                for training in self._trainings.values():
                    if training.progress.open:
                        self._stop(training)

    def _handle(self, event: str | tuple[Training, Future]) -> None:
        if event == "warm up":
            self._send(ready)
        elif event != "look":
            with self._lock:
                self._arrived(*event)
        if self._pool.is_open:
            self._num_parallel = self._pool.size  # a cluster may have grown
        self._hand_out()

    def _hand_out(self) -> None:
        """Give every free worker the training whose turn it is."""
        while True:
            with self._lock:
                training = self._next()
                if training is None:
                    return
                job, times_opened = self._job(training), self._pool.times_opened
            future = self._send(*job)
            if self._pool.times_opened > times_opened:
                self._num_parallel = self._pool.size
                if training.state:  # a worker died between two chunks
                    with self._lock:
                        training.tell_of_replacement()
            # The callback runs in a thread of the executor's, which must not be kept waiting.
            future.add_done_callback(lambda future, training=training: self._events.put((training, future)))

    def _send(self, job: Callable, *args) -> Future:
        try:
            return self._pool.submit(job, *args)
        except Exception as error:  # a worker died just now, or there is no room for a process, or no such cluster
            if "cannot schedule new futures" in str(error):
                raise SystemExit from error  # ends this thread, quietly: the server is going
            future: Future = Future()
            future.set_exception(error)
            return future
