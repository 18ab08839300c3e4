"""Differences over seeds, against SciPy and against cases worked out by hand."""

import math

import numpy as np
import pytest
from made_up_rows import row
from scipy import stats

from attention.comparison import Comparison, fixes, sweep
from attention.comparison.findings import dropped, fixes_findings, sweep_findings
from attention.comparison.report import report, sentence
from attention.comparison.verdict import mean_over_seeds, paired, per_doubling, spread, t_interval, verdict

COMPARISON = Comparison("reverse", num_seeds=3, num_steps=3)
ARMS = {arm.name: arm for arm in fixes(COMPARISON)}
RANDOM = np.random.default_rng(5)


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("count", [2, 3, 5, 11])
def test_the_interval_is_scipys(count, confidence):
    values = RANDOM.normal(0.3, 2, count)
    expected = stats.ttest_1samp(values, 0).confidence_interval(confidence)
    np.testing.assert_allclose(t_interval(values, confidence), (expected.low, expected.high), rtol=1e-12)


def test_the_paired_interval_is_that_of_scipys_paired_test():
    first, second = RANDOM.normal(size=7), RANDOM.normal(size=7)
    found = paired(dict(enumerate(first)), dict(enumerate(second)), family=5)
    test = stats.ttest_rel(first, second)
    assert found.interval == pytest.approx(tuple(test.confidence_interval(0.95)))
    assert found.strict == pytest.approx(tuple(test.confidence_interval(0.99)))  # 5 % shared by five
    assert found.seen == (test.pvalue < 0.05)
    assert found.sure == (5 * test.pvalue < 0.05)


def test_by_hand():
    """Differences 1, 2, 3: mean 2, standard error 1/√3, t with two degrees of freedom 4.303."""
    found = paired({0: 11.0, 1: 12.0, 2: 13.0}, {0: 10.0, 1: 10.0, 2: 10.0})
    assert found.mean == 2
    assert found.interval == pytest.approx((2 - 4.3027 / 3**0.5, 2 + 4.3027 / 3**0.5), abs=1e-4)
    assert not found.seen


def test_pairing_by_seed_sees_what_the_spread_between_seeds_hides():
    seeds = {seed: 10.0 * seed for seed in range(4)}
    better = {seed: value + 1 + 0.01 * (-1) ** seed for seed, value in seeds.items()}
    assert paired(better, seeds).seen
    assert not stats.ttest_ind(list(better.values()), list(seeds.values())).pvalue < 0.05


def test_only_seeds_of_both_sides_count():
    found = paired({0: 1.0, 1: 2.0, 5: 9.0}, {1: 1.0, 0: 0.0, 7: 3.0})
    assert (found.mean, found.num_seeds) == (1, 2)


def test_identical_runs_differ_by_nothing():
    found = paired({0: 0.5, 1: 0.5, 2: 0.5}, {0: 0.5, 1: 0.5, 2: 0.5})
    assert (found.mean, found.interval, found.seen) == (0, (0, 0), False)
    assert "no difference seen with 3 seeds" in sentence("a", "b", found)


def test_the_same_difference_each_time_is_a_point():
    found = mean_over_seeds([0.25, 0.25, 0.25])
    assert found.interval == (0.25, 0.25)
    assert found.seen and found.sure


def test_one_seed_has_no_interval():
    found = mean_over_seeds([0.3])
    assert (found.mean, found.interval, found.strict) == (0.3, None, None)
    assert not found.seen and not found.sure
    assert "+30.0 points with 1 seed, which cannot tell" in sentence("a", "b", found)


def test_nothing_at_all():
    assert math.isnan(mean_over_seeds([]).mean)
    assert mean_over_seeds([]).interval is None
    assert verdict([]) == {}


def test_what_is_seen_alone_need_not_be_sure_among_five():
    values = [0.5, 1.0, 1.5, 2.0, 0.2]
    alone, among = mean_over_seeds(values), mean_over_seeds(values, family=5)
    assert alone.sure and among.seen and not among.sure
    text = sentence("a", "b", among)
    assert text.startswith("a against b: better by 104.0 points with 5 seeds") and not text.endswith("*")


def test_the_sentence_says_worse_and_sure():
    assert sentence("a", "b", mean_over_seeds([-0.02, -0.021, -0.022])) == (
        "a against b: worse by 2.1 points with 3 seeds (-2.3 to -1.9) *"
    )


def rows(values: dict[str, list[float]]):
    return [
        row(COMPARISON, ARMS[name], seed, sequence_accuracy=value)
        for name, each in values.items()
        for seed, value in enumerate(each)
    ]


def test_the_contrasts_are_those_planned():
    found = verdict(rows({"equal_reproject": [0.5, 0.6], "equal_direct": [0.4, 0.6], "extra": [0.3, 0.4]}))
    assert {name: round(difference.mean, 9) for name, difference in found.items()} == {"sharing": -0.05, "extra": -0.15}
    assert found["extra"].strict[0] < found["extra"].interval[0]  # two comparisons were made


def test_an_undefined_value_is_no_pair():
    assert "sharing" not in verdict(rows({"equal_reproject": [0.5], "equal_direct": [math.nan]}))


def test_a_doubling_is_the_slope_over_the_logarithm():
    points = [(heads, seed, seed + 0.1 * math.log2(heads)) for heads in (1, 2, 8, 32) for seed in range(3)]
    found = per_doubling([*points, (16, 0, math.nan), (4, 9, 5.0)])  # undefined; a seed with one head count
    assert found.mean == pytest.approx(0.1)
    assert found.num_seeds == 3


def test_the_noise_of_arithmetic_is_no_difference():
    assert not paired({seed: 0.1 + 0.2 for seed in range(3)}, {seed: 0.3 for seed in range(3)}).seen


def test_spread_leaves_out_what_is_undefined():
    assert spread([1.0, math.nan, 3.0], float) == pytest.approx((2, 2**0.5))
    assert spread([1.0], float)[0] == 1 and math.isnan(spread([1.0], float)[1])
    assert math.isnan(spread([], float)[0])


def test_findings_of_the_fixes_follow_the_numbers():
    found = fixes_findings(
        rows({"equal_direct": [0.5, 0.51, 0.52], "projection": [0.6, 0.612, 0.62], "extra": [0.4, 0.41, 0.425]}), "size"
    )
    assert [(f.claim, f.direction) for f in found] == [("A11", "up"), ("A13", "down")]
    one = fixes_findings(rows({"equal_reproject": [0.5], "reproject": [0.6]}), "width")
    assert [(f.claim, f.measure, f.direction) for f in one] == [
        ("A6", "entropy", "single"),
        ("A6", "distance", "single"),
        ("A8", "same_contribution", "single"),
    ]


def test_findings_of_the_sweep_follow_the_numbers():
    made = []
    for arm in sweep(COMPARISON):
        heads = arm.config.decoder.num_heads
        for seed in range(3):
            accuracy = 0.9 - (0.1 + 0.001 * seed) * (arm.config.kv_variant == "drop")
            made.append(
                row(COMPARISON, arm, seed, sequence_accuracy=accuracy, entropy=0.1 * math.log2(heads) + 0.01 * seed)
            )
    by = {(f.claim, f.what, f.measure): f for f in sweep_findings(made, 8)}
    assert by["A3", "drop", "sequence_accuracy"].direction == "down"
    assert by["A6", "width", "entropy"].direction == "up"
    assert by["A6", "width", "entropy"].difference.mean == pytest.approx(0.1)
    assert by["A6", "width", "distance"].direction == "none"
    assert dropped(made, 8, "sequence_accuracy").mean == pytest.approx(-0.101)


def test_the_report_names_arms_that_cannot_run():
    text = report(rows({"equal_reproject": [0.5, 0.6], "reproject": [0.5, 0.6]}), tuple(ARMS.values()), is_sweep=False)
    assert "must equal the encoder's K/V heads (8)" in text
    assert "reproject against equal_reproject: no difference seen with 2 seeds" in text
