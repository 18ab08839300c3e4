"""One run: train an arm with a seed, score it, look at its heads. A job for any `concurrent.futures.Executor`."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict

import numpy as np
import torch

from attention.experiments.comparison.finished_runs import Results
from attention.experiments.comparison.head_measures import HeadMeasures, measure_heads
from attention.shapes.costs import costs
from attention.tasks import get_task
from attention.training import StepReport, TrainingSettings, advance, start
from attention.training.evaluation import Scores, evaluate

NUM_MEASURED = 200  # held-out examples whose maps are looked at
CURVE_POINTS = 40


def run(settings: TrainingSettings, num_examples: int) -> Results:
    """Train to the end on one thread, score on held-out examples, and measure the heads."""
    torch.set_num_threads(1)  # the same bits on every machine size, and runs side by side do not fight for cores
    task = get_task(settings.task)
    task.sample_batch(torch.Generator(), 1)  # the first batch of a process loads the data: not measured
    began = time.thread_time()  # of the processor: a busy machine takes longer, but has no more work
    state = advance(start(settings), settings.num_steps)
    model = state.model()
    scores = evaluate(model, task, task.held_out(num_examples))
    seconds = time.thread_time() - began
    measures = measure_heads(model, task, task.held_out(NUM_MEASURED))
    return results(settings, scores, measures, state.history, seconds)


def results(
    settings: TrainingSettings, scores: Scores, measures: HeadMeasures, history: Sequence[StepReport], seconds: float
) -> Results:
    """Everything that was found about a finished training, in one record."""
    alignment = np.array(scores.alignment)
    return Results(
        **asdict(costs(settings.config)),
        **asdict(measures),
        seconds=round(seconds, 2),
        token_accuracy=scores.token_accuracy,
        sequence_accuracy=scores.sequence_accuracy,
        alignment_best=_over_heads(np.max, alignment),
        alignment_mean=_over_heads(np.mean, alignment),
        diagonal=scores.diagonal,
        num_aligned=scores.num_aligned,
        loss_curve=curve([report.loss for report in history]),
        accuracy_curve=curve([report.token_accuracy for report in history]),
        torch=torch.__version__,
    )


def _over_heads(figure: Callable, alignment: np.ndarray) -> float:
    """A figure over the heads that have an alignment score: those that read the source, where there is gold."""
    known = alignment[~np.isnan(alignment)]
    return float(figure(known)) if len(known) else float("nan")


def curve(values: Sequence[float], points: int = CURVE_POINTS) -> tuple[float, ...]:
    """Means over `points` parts of about equal length; one point per value where there are fewer."""
    parts = np.array_split(np.asarray(values, dtype=np.float64), min(points, len(values)))
    return tuple(float(part.mean()) for part in parts)
