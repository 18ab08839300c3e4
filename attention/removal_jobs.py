"""Takes the heads of a model away one by one, in worker processes, a few heads at a time.

    service = RemovalService()
    service.submit(key, model, batch)      # at once
    service.study(key)                     # how far it is, and all scores so far

A study has two parts: every head away alone, which tells which is missed least; then all heads away one after the
other in that order. The workers are the ones that train (`executors.py`); between two jobs others have their turn.
"""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from typing import Literal

from attention import executors
from attention.metrics.chain import Score
from attention.metrics.removal import Removal, by_loss, run, score, singles
from attention.model import EncoderDecoder
from attention.progress import first_line
from attention.tasks import Batch

HEADS_IN_A_JOB = 6
MAX_STUDIES = 32  # kept; the one asked for longest ago goes first
MAX_OPEN = 16  # under way at once
MAX_TRIES = 3  # of a job whose worker died


@dataclass(frozen=True)
class Study:
    """How a study stood when it was asked for.

    Attributes:
        num_heads: of the whole model; the study takes twice as many steps.
        whole: the score with all heads; None before it is known.
        alone: the score without each head, in the model's order.
        curve: the scores after each removal, the head that is missed least first.
        message: one sentence when failed.
    """

    num_heads: int
    status: Literal["running", "done", "failed"] = "running"
    whole: Score | None = None
    alone: tuple[Removal, ...] = ()
    curve: tuple[Removal, ...] = ()
    message: str = ""

    @property
    def share_done(self) -> float:
        return (len(self.alone) + len(self.curve)) / (2 * self.num_heads)


class RemovalService:
    """One per server process. Its methods return at once and may be called from any thread.

    Args:
        num_workers: as for `executors.chosen`.
    """

    def __init__(self, num_workers: int | None = None) -> None:
        self._num_workers = num_workers
        self._lock = threading.Lock()
        self._studies: OrderedDict[Hashable, Study] = OrderedDict()
        self._executor = None

    def submit(self, key: Hashable, model: EncoderDecoder, batch: Batch) -> Study:
        """Begin a study, unless the one of this key is under way or done. One that failed begins anew."""
        with self._lock:
            study = self._studies.get(key)
            if study is None or study.status == "failed":
                study = Study(len(singles(model.config)))
                if sum(other.status == "running" for other in self._studies.values()) >= MAX_OPEN:
                    return replace(study, status="failed", message=f"{MAX_OPEN} studies are under way; try again soon.")
                self._studies[key] = study
                threading.Thread(target=self._work, args=(key, model, batch), name="removal", daemon=True).start()
            self._asked_for(key)
            return study

    def study(self, key: Hashable) -> Study | None:
        """How it stands; None for one that was never asked for, or is forgotten."""
        with self._lock:
            if key in self._studies:
                self._asked_for(key)
            return self._studies.get(key)

    def _asked_for(self, key: Hashable) -> None:
        self._studies.move_to_end(key)
        ended = [key for key, study in self._studies.items() if study.status != "running"]
        for old in ended[: max(0, len(self._studies) - MAX_STUDIES)]:
            del self._studies[old]

    def _work(self, key: Hashable, model: EncoderDecoder, batch: Batch) -> None:
        """Runs in a thread of its own, which does nothing but wait for workers."""
        sets = singles(model.config)
        try:
            self._change(key, whole=self._result(score, model, batch))
            alone: tuple[Removal, ...] = ()
            for begin in range(0, len(sets), HEADS_IN_A_JOB):
                alone += self._result(run, "leave_one_out", model, batch, sets[begin : begin + HEADS_IN_A_JOB])
                self._change(key, alone=alone)
            order, curve = by_loss(alone), ()
            for begin in range(0, len(order), HEADS_IN_A_JOB):
                gone = tuple(head for heads in order[:begin] for head in heads)
                curve += self._result(run, "cumulative", model, batch, order[begin : begin + HEADS_IN_A_JOB], gone)
                self._change(key, curve=curve)
            self._change(key, status="done")
        except Exception as error:  # whatever it was, the page has to be told
            self._change(key, status="failed", message=f"Taking heads away failed: {first_line(error)}.")

    def _change(self, key: Hashable, **fields) -> None:
        with self._lock:
            self._studies[key] = replace(self._studies[key], **fields)

    def _result(self, job, *args):
        """What a worker makes of it; a worker that dies is replaced."""
        for last in (False,) * (MAX_TRIES - 1) + (True,):
            try:
                return self._chosen().submit(job, *args).result()
            except (BrokenProcessPool, CancelledError):
                if last:
                    raise
                with self._lock:
                    self._executor = None

    def _chosen(self):
        with self._lock:
            if self._executor is None or executors.is_lost(self._executor):
                self._executor = executors.chosen(self._num_workers)
            return self._executor
