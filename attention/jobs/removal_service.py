"""Takes the heads of a model away one by one, in worker processes, a few heads at a time.

    service = RemovalService()
    service.submit(key, model, batch)      # at once
    service.study(key)                     # how far it is, and all scores so far

A study has two parts: every head away alone, which tells which is missed least; then all heads away one after the
other in that order. The workers are the ones that train (`executors.py`); between two jobs others have their turn.
"""

import threading
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Literal

from attention.ablation.partial_pass import Score
from attention.ablation.removal import Removal, by_loss, cumulative, leave_one_out, run_plan, score, singles
from attention.ablation.silence import Means
from attention.jobs import executors
from attention.jobs.kept import Kept
from attention.jobs.progress import first_line
from attention.messages import Message
from attention.model import EncoderDecoder
from attention.tasks import Batch

HEADS_IN_A_JOB = 6
MAX_STUDIES = 32  # that have ended are kept; the one asked for longest ago goes first
MAX_OPEN = 16  # under way at once


@dataclass(frozen=True)
class Study:
    """How a study stood when it was asked for.

    Attributes:
        num_heads: of the whole model; the study takes twice as many steps.
        whole: the score with all heads; None before it is known.
        alone: the score without each head, in the model's order.
        curve: the scores after each removal, the head that is missed least first.
        message: what went wrong; None where nothing did.
    """

    num_heads: int
    status: Literal["running", "done", "failed"] = "running"
    whole: Score | None = None
    alone: tuple[Removal, ...] = ()
    curve: tuple[Removal, ...] = ()
    message: Message | None = None

    @property
    def share_done(self) -> float:
        return (len(self.alone) + len(self.curve)) / (2 * self.num_heads)


class RemovalService:
    """One per server process. Its methods return at once and may be called from any thread.

    Args:
        num_workers: as for `executors.configured`.
    """

    def __init__(self, num_workers: int | None = None) -> None:
        self._pool = executors.Pool(num_workers)
        self._lock = threading.Lock()
        self._studies: Kept[Hashable, Study] = Kept()

    def submit(self, key: Hashable, model: EncoderDecoder, batch: Batch, means: Means | None = None) -> Study:
        """Begin a study, unless the one of this key is under way or done. Restarts one that failed.

        `means`: what heads that are taken away go on adding; None: nothing.
        """
        with self._lock:
            study = self._studies.get(key)
            if study is None or study.status == "failed":
                study = Study(len(singles(model.config)))
                if refusal := self._refusal():
                    return replace(study, status="failed", message=refusal)
                self._studies[key] = study
                threading.Thread(
                    target=self._work, args=(key, model, batch, means), name="removal", daemon=True
                ).start()
            return self._asked_for(key)

    def study(self, key: Hashable) -> Study | None:
        """How it stands; None for one that was never asked for, or is forgotten."""
        with self._lock:
            return self._asked_for(key)

    def refusal(self) -> Message | None:
        """Why no further study can begin just now; None where one can."""
        with self._lock:
            return self._refusal()

    def _refusal(self) -> Message | None:
        if sum(study.status == "running" for study in self._studies.values()) < MAX_OPEN:
            return None
        text = f"{MAX_OPEN} studies are under way; try again soon."
        return Message.of("too_many_studies", text, count=MAX_OPEN)

    def _asked_for(self, key: Hashable) -> Study | None:
        study = self._studies.ask(key)
        self._studies.forget(lambda study: (study.status != "running",), (MAX_STUDIES,))
        return study

    def _work(self, key: Hashable, model: EncoderDecoder, batch: Batch, means: Means | None) -> None:
        """Runs in a thread of its own, which does nothing but wait for workers."""
        sets = singles(model.config)
        try:
            self._change(key, whole=self._pool.run(score, model, batch))
            alone: tuple[Removal, ...] = ()
            for begin in range(0, len(sets), HEADS_IN_A_JOB):
                some = sets[begin : begin + HEADS_IN_A_JOB]
                alone += self._pool.run(run_plan, leave_one_out, model, batch, some, (), means)
                self._change(key, alone=alone)
            order, curve = by_loss(alone), ()
            for begin in range(0, len(order), HEADS_IN_A_JOB):
                gone = tuple(head for heads in order[:begin] for head in heads)
                some = order[begin : begin + HEADS_IN_A_JOB]
                curve += self._pool.run(run_plan, cumulative, model, batch, some, gone, means)
                self._change(key, curve=curve)
            self._change(key, status="done")
        except Exception as error:  # whatever it was, the page has to be told
            text = f"Taking heads away failed: {first_line(error)}."
            message = Message.of("removal_failed", text, error=first_line(error))
            self._change(key, status="failed", message=message)

    def _change(self, key: Hashable, **fields) -> None:
        with self._lock:
            self._studies[key] = replace(self._studies[key], **fields)
