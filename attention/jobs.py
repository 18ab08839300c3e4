"""Trains models for many visitors at once, in worker processes, a chunk of steps at a time.

    service = TrainingService()
    service.submit(settings)       # at once
    service.progress(settings)     # step, loss so far, time left
    service.finished(settings)     # None until it is done, then weights and scores

Trainings take turns: each runs a chunk of about half a second and goes to the end of the queue, so nobody waits for a
whole training of somebody else. A training at rest is a value (see `training.py`), so a worker that dies costs the
chunk it had in hand and nothing else.
"""

import os
import queue
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import replace

from attention.progress import FinishedTraining, Progress, Training
from attention.training import TrainingSettings
from attention.worker import Chunk, prepare, ready, run_chunk, score

__all__ = ["FinishedTraining", "Progress", "TrainingService"]

MAX_WORKERS = 16  # unless told otherwise: each takes about 300 MB
IDLE_SECONDS = 300  # workers without work end after this, and start again when there is some
MAX_OPEN = 200  # trainings that are waiting or under way
MAX_BYTES = 1_000_000_000  # for trainings under way, and as much again for finished ones
NUM_EXAMPLES = 1000  # held-out examples in the final score


class TrainingService:
    """One per server process. Its methods return at once and may be called from any thread.

    Args:
        num_workers: processes; by default one less than there are cores, which leaves one to the pages.
        chunk_seconds: how long a training keeps a worker before others have their turn.
        max_finished: how many finished trainings are kept; the one not asked for longest goes first.
    """

    def __init__(self, num_workers: int | None = None, chunk_seconds: float = 0.5, max_finished: int = 16) -> None:
        self._num_workers = num_workers
        self._chunk_seconds = chunk_seconds
        self._max_finished = max_finished
        self._lock = threading.Lock()
        self._trainings: dict[TrainingSettings, Training] = {}  # the one not asked for longest comes first
        self._turns: deque[Training] = deque()  # want a worker, in this order
        self._in_hand: set[Training] = set()  # have a job at a worker
        self._events: queue.SimpleQueue = queue.SimpleQueue()
        self._executor: Executor | None = None
        self._dispatcher = threading.Thread(target=self._dispatch, name="training", daemon=True)
        self._dispatcher.start()

    def submit(self, settings: TrainingSettings) -> Progress:
        """Train this, unless it is under way or done already. One that was stopped or failed begins anew."""
        with self._lock:
            training = self._trainings.get(settings)
            if training is None or training.progress.status in ("stopped", "failed"):
                training = Training(settings, Progress("waiting", 0, settings.num_steps))
                self._begin(training)
            self._asked_for(training)
            self._forget()
            return self._snapshot(training)

    def progress(self, settings: TrainingSettings) -> Progress | None:
        """How it stands; None for a training that was never submitted, or is forgotten."""
        with self._lock:
            training = self._trainings.get(settings)
            return self._snapshot(training) if training else None

    def stop(self, settings: TrainingSettings) -> None:
        """Give up a training, for everybody who wanted it. A chunk in hand is run to its end and thrown away."""
        with self._lock:
            training = self._trainings.get(settings)
            if training and training.progress.open:
                self._stop(training)

    def finished(self, settings: TrainingSettings) -> FinishedTraining | None:
        """The trained model, as long as it is kept; None before it is done."""
        with self._lock:
            training = self._trainings.get(settings)
            if training is None or training.finished is None:
                return None
            self._asked_for(training)
            return training.finished

    def warm_up(self) -> None:
        """Start the workers now, all at once, so that the first training need not wait for them."""
        self._events.put("warm up")

    def close(self) -> None:
        """Stop everything and end the workers. For tests and scripts; a server just ends."""
        self._events.put("close")
        self._dispatcher.join()

    # What follows is called with the lock held.

    def _begin(self, training: Training) -> None:
        num_open = sum(other.progress.open for other in self._trainings.values())
        if num_open >= MAX_OPEN:
            training.now("failed", f"{num_open} trainings are waiting or under way; try again when some are done.")
        elif not self._dispatcher.is_alive():
            training.now("failed", "The training service has ended; the server has to be started again.")
        else:
            self._turns.append(training)
            self._events.put("look")

    def _stop(self, training: Training) -> None:
        training.now("stopped")
        if training in self._turns:
            self._turns.remove(training)
        self._events.put("look")  # the memory it held may be what another one waits for

    def _snapshot(self, training: Training) -> Progress:
        progress = training.progress
        place = self._turns.index(training) if training in self._turns else 0
        seconds_left = None
        if progress.status == "running" and training.seconds_per_step is not None:
            sharing = (len(self._turns) + len(self._in_hand)) / (self._num_workers or 1)
            seconds_left = (progress.num_steps - progress.step) * training.seconds_per_step * max(1.0, sharing)
        return replace(progress, place=place, seconds_left=seconds_left)

    def _asked_for(self, training: Training) -> None:
        """Put it last in `_trainings`, in the place of an earlier one with the same settings."""
        self._trainings.pop(training.settings, None)
        self._trainings[training.settings] = training

    def _forget(self) -> None:
        """Drop what was asked for longest ago: of the finished, and of those that ended without a result."""
        num_finished = num_bytes = num_other = 0
        for training in reversed(list(self._trainings.values())):
            if training.finished:
                num_finished += 1
                num_bytes += training.num_bytes
                drop = num_finished > self._max_finished or (num_bytes > MAX_BYTES and num_finished > 1)
            else:
                num_other += not training.progress.open
                drop = not training.progress.open and num_other > MAX_OPEN
            if drop:
                del self._trainings[training.settings]

    def _next(self) -> Training | None:
        """The training whose turn it is, moved into a worker's hands; None when none may go."""
        under_way = (*self._turns, *self._in_hand)
        # A dead worker takes the whole pool with it, so nobody knows whose job killed it: the suspects run alone.
        suspects = any(training.losses for training in under_way)
        if len(self._in_hand) >= (1 if suspects else self._num_workers):
            return None
        # Those that have begun go on; others begin when there is room.
        room = sum(training.num_bytes for training in under_way) < MAX_BYTES
        training = next((training for training in self._turns if room or training.state), None)
        if training:
            self._turns.remove(training)
            self._in_hand.add(training)
            if training.progress.status == "waiting":
                training.now("running")
        return training

    def _job(self, training: Training) -> tuple:
        if training.progress.status == "scoring":
            return score, training.settings, training.state, NUM_EXAMPLES
        return run_chunk, training.settings, training.state, training.chunk_steps

    def _arrived(self, training: Training, future: Future) -> None:
        self._in_hand.discard(training)
        if training.progress.status == "stopped":
            return
        if error := future.exception():
            training.take_error(error)
            if training.progress.open:
                self._turns.appendleft(training)  # the same state again
        elif isinstance(future.result(), Chunk):
            training.take_chunk(future.result(), self._chunk_seconds)
            if training.progress.open:
                self._turns.append(training)
        else:
            training.take_scored(future.result())
            self._asked_for(training)  # or one that took long would be the first to go
            self._forget()

    # What follows runs in the dispatcher's thread, where nobody waits for it.

    def _dispatch(self) -> None:
        try:
            while (event := self._events.get()) != "close":
                self._handle(event)
            if self._executor is not None:
                self._executor.shutdown(kill_workers=True)
        finally:
            with self._lock:
                for training in self._trainings.values():
                    if training.progress.open:
                        self._stop(training)

    def _handle(self, event: str | tuple[Training, Future]) -> None:
        if self._num_workers is None:
            import loky  # not at the top: the first page should not wait for it

            self._num_workers = max(1, min(loky.cpu_count() - 1, MAX_WORKERS))
        if event == "warm up":
            self._send(ready)
        elif event != "look":
            with self._lock:
                self._arrived(*event)
        self._hand_out()

    def _hand_out(self) -> None:
        """Give every free worker the training whose turn it is."""
        while True:
            with self._lock:
                training = self._next()
                if training is None:
                    return
                job = self._job(training)
            future = self._send(*job)
            # The callback runs in a thread of loky's, which must not be kept waiting.
            future.add_done_callback(lambda future, training=training: self._events.put((training, future)))

    def _send(self, job: Callable, *args) -> Future:
        try:
            if self._executor is not None:
                with suppress(BrokenProcessPool):  # a worker died since the last job
                    return self._executor.submit(job, *args)
            self._executor = self._new_executor()
            return self._executor.submit(job, *args)
        except Exception as error:  # a worker died just now, or the machine has no room for another process
            if "cannot schedule new futures" in str(error):
                raise SystemExit from error  # ends this thread, quietly: the server is going
            future: Future = Future()
            future.set_exception(error)
            return future

    def _new_executor(self) -> Executor:
        import loky

        # The "loky" context does not run the main script in each worker, which under Streamlit would be app.py.
        return loky.get_reusable_executor(
            self._num_workers, context="loky", timeout=IDLE_SECONDS, initializer=prepare, initargs=(os.getpid(),)
        )
