"""The results that ship: complete, of this very experiment, and read by the code as it is."""

import pytest

from attention.experiments.comparison import fixes, sweep
from attention.experiments.comparison.arms import planned
from attention.experiments.comparison.stored_runs import FIXES, SWEEP, all_stored, stored_for
from attention.shapes.costs import costs

ATTENTION_KINDS = {"fixes": (FIXES, fixes), "sweep": (SWEEP, sweep)}


@pytest.mark.parametrize("kind", ATTENTION_KINDS)
def test_every_run_is_there(kind):
    comparison, arms_of = ATTENTION_KINDS[kind]
    arms = arms_of(comparison)
    rows = stored_for(comparison, arms, kind)
    wanted = {(arm.name, settings.config, settings.seed) for arm, settings in planned(comparison, arms)}
    assert len(rows) == len(wanted)
    assert len(all_stored(kind)) == len({settings for _, settings in planned(comparison, arms)})
    for row in rows:
        assert 0 < row.results.sequence_accuracy <= 1
        assert len(row.results.loss_curve) == len(row.results.accuracy_curve) == 40
        assert 0 < row.results.diagonal < 1 and row.results.alignment_mean <= row.results.alignment_best <= 1


def test_costs_in_the_store_are_those_of_the_models():
    for arm in fixes(FIXES):
        for row in stored_for(FIXES, [arm], "fixes"):
            assert row.results.parameters == costs(arm.config).parameters
            assert row.results.target_madds == costs(arm.config).target_madds
