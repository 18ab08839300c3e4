"""Rows with made-up results, for tests that judge numbers and train nothing."""

from dataclasses import asdict

from attention.experiments.comparison import Arm, Comparison, FinishedRun, Results, settings_columns
from attention.shapes.costs import costs


def row(comparison: Comparison, arm: Arm, seed: int, **found: float) -> FinishedRun:
    """A finished run; what is not given is some number."""
    settings = comparison.settings(arm, seed)
    usual = {"seconds": 1.5, "token_accuracy": 0.9, "sequence_accuracy": 0.5, "alignment_best": 0.9}
    usual |= {"alignment_mean": 0.8, "diagonal": 0.3, "num_aligned": 17, "same_pattern": 0.4, "same_contribution": 0.1}
    usual |= {"entropy": 0.6, "distance": 1.2, "loss_curve": (3.0, 2.0, 1.5), "accuracy_curve": (0.1, 0.5, 0.75)}
    usual |= {"effective_maps": 2.5, "contribution_sizes": (1.0, 0.5, 0.002)}
    results = Results(**asdict(costs(arm.config)), **(usual | found), torch="0.0")
    return FinishedRun(arm.name, settings_columns(settings, comparison.num_examples), results)
