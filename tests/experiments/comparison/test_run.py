"""What a finished run is put together from."""

import numpy as np
import pytest

from attention import ModelConfig, StackConfig
from attention.experiments.comparison.head_measures import HeadMeasures
from attention.experiments.comparison.run import curve, results
from attention.tasks import get_task
from attention.training import StepReport, TrainingSettings
from attention.training.evaluation import Scores

NAN = float("nan")


def finished(alignment):
    task = get_task("reverse")
    sizes = {"src_vocab_size": len(task.src_vocab), "tgt_vocab_size": len(task.tgt_vocab)}
    config = ModelConfig(StackConfig(8, 2), StackConfig(8, 4, 4), kv="extra", **sizes)
    scores = Scores(0.5, 0.25, 3, alignment, 0.1, 0.1, 7)
    return results(
        TrainingSettings.quick(task, config),
        scores,
        HeadMeasures(0.1, 0.2, 0.3, 0.4, 1.5, (1.0, 0.5)),
        [StepReport(0, 1.0, 0.5)],
        1.0,
    )


def test_heads_that_do_not_read_the_source_have_no_say_in_its_alignment():
    found = finished(((0.5, 0.75, NAN, NAN), (0.25, 1.0, NAN, NAN)))
    assert (found.alignment_best, found.alignment_mean) == (1.0, 0.625)
    nothing = finished(((NAN, NAN), (NAN, NAN)))
    assert np.isnan([nothing.alignment_best, nothing.alignment_mean]).all()


def test_a_curve_is_made_of_means():
    assert curve([1.0, 2.0, 3.0, 6.0], points=2) == (1.5, 4.5)
    assert curve([1.0, 2.0], points=40) == (1.0, 2.0)
    assert curve(list(range(7)), points=3) == pytest.approx((1.0, 3.5, 5.5))
