"""Differences over seeds, against SciPy and against cases worked out by hand."""

import math
import statistics

import numpy as np
import pytest
from made_up_rows import row
from scipy import stats

from attention.experiments.comparison import Comparison, fixes, sweep
from attention.experiments.comparison.differences import (
    at_most_by_chance,
    over_seeds,
    paired,
    per_doubling,
    spread,
    t_interval,
)
from attention.experiments.comparison.findings import Finding, fixes_findings, sweep_findings
from attention.experiments.comparison.report import report, sentence
from attention.experiments.comparison.stored_runs import FIXES, SWEEP, stored_for

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
    found = paired(dict(enumerate(first)), dict(enumerate(second))).among(5)
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


def said(difference) -> str:
    return sentence(Finding("a", "b", "sequence_accuracy", difference))


def test_identical_runs_differ_by_nothing():
    found = paired({0: 0.5, 1: 0.5, 2: 0.5}, {0: 0.5, 1: 0.5, 2: 0.5})
    assert (found.mean, found.interval, found.seen) == (0, (0, 0), False)
    assert said(found).startswith("a against b: no difference seen, +0.00 points of whole sequences right with 3 seeds")


def test_the_same_difference_each_time_is_a_point():
    found = over_seeds([0.25, 0.25, 0.25])
    assert found.interval == (0.25, 0.25)
    assert found.seen and found.sure


def test_one_seed_has_no_interval():
    found = over_seeds([0.3])
    assert (found.mean, found.interval, found.strict) == (0.3, None, None)
    assert not found.seen and not found.sure
    assert "+30.00 points of whole sequences right with 1 seed, which cannot tell" in said(found)


def test_nothing_at_all():
    assert math.isnan(over_seeds([]).mean)
    assert over_seeds([]).interval is None
    assert fixes_findings([], COMPARISON) == sweep_findings([], 8) == []


def test_what_is_seen_alone_need_not_be_sure_among_five():
    values = [0.5, 1.0, 1.5, 2.0, 0.2]
    alone, among = over_seeds(values), over_seeds(values).among(5)
    assert alone.sure and among.seen and not among.sure
    assert said(alone).endswith("*") and not said(among).endswith("*")
    assert said(among).startswith("a against b: +104.00 points of whole sequences right with 5 seeds (")


def test_an_interval_as_wide_as_the_scale_is_too_few_seeds_to_tell():
    """Two seeds, −0.4 and −0.14: −27 points, −192 to +138 (12.7 standard errors), which says nothing."""
    wide = over_seeds([-0.4, -0.14])
    assert wide.interval == pytest.approx((-1.922, 1.382), abs=1e-3)
    assert Finding("a", "b", "sequence_accuracy", wide).direction == "few"
    assert "too few seeds to tell" in said(wide)
    narrow = over_seeds([-0.004, 0.002, 0.001])
    assert Finding("a", "b", "sequence_accuracy", narrow).direction == "none"
    assert Finding("a", "b", "sequence_accuracy", over_seeds([-0.4, -0.41])).direction == "down"  # wide but clear of 0


def test_chance_is_at_most_the_sum():
    assert at_most_by_chance(5) == pytest.approx(0.25)
    assert at_most_by_chance(40) == 1


def rows(values: dict[str, list[float]]):
    return [
        row(COMPARISON, ARMS[name], seed, sequence_accuracy=value)
        for name, each in values.items()
        for seed, value in enumerate(each)
    ]


def test_the_contrasts_are_those_planned():
    made = rows({"equal_reproject": [0.5, 0.6], "equal_direct": [0.4, 0.6], "extra": [0.3, 0.4]})
    found = {(each.what, each.base): each.difference for each in fixes_findings(made, COMPARISON)}
    assert {name: round(difference.mean, 9) for name, difference in found.items()} == {
        ("equal_direct", "equal_reproject"): -0.05,
        ("extra", "equal_direct"): -0.15,
    }
    strict = found["extra", "equal_direct"].strict
    assert strict == pytest.approx(t_interval([-0.1, -0.2], 0.975))  # 5 % shared by the two that are shown


def test_an_undefined_value_is_no_pair():
    assert fixes_findings(rows({"equal_reproject": [0.5], "equal_direct": [math.nan]}), COMPARISON) == []


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
    made = {"equal_direct": [0.5, 0.51, 0.52], "projection": [0.6, 0.612, 0.62], "extra": [0.4, 0.41, 0.425]}
    found = fixes_findings(rows(made), COMPARISON)
    assert [(f.claims, f.direction) for f in found] == [(("A11",), "up"), (("A13",), "down")]


def test_each_fix_stands_beside_the_textbook_with_as_many_heads():
    """A15 asks whether more heads pay, and what one would take instead is a textbook decoder with as many."""
    made = rows(
        {"equal_reproject": [0.5, 0.5], "reproject": [0.6, 0.61], "projection": [0.5, 0.52], "grouped": [0.7, 0.7]}
    )
    found = {(f.what, f.base): f.difference.mean for f in fixes_findings(made, COMPARISON) if "A15" in f.claims}
    assert found == {
        ("reproject", "equal_reproject"): pytest.approx(0.105),
        ("projection", "reproject"): pytest.approx(-0.095),
        ("grouped", "reproject"): pytest.approx(0.095),
    }


def scores_of(rows, arm: str) -> dict[str, float]:
    """By seed, the share of whole sequences right."""
    return {row.settings["seed"]: row.results.sequence_accuracy for row in rows if row.arm == arm}


def by_scipy(one: dict[str, float], other: dict[str, float]) -> list[float]:
    """The mean of the paired differences in points, and scipy's 95 % interval for it."""
    assert one.keys() == other.keys() and len(one) == 5
    apart = [100 * (one[seed] - other[seed]) for seed in one]
    interval = stats.ttest_1samp(apart, 0).confidence_interval(0.95)
    return [statistics.mean(apart), interval.low, interval.high]


def test_the_stored_contrasts_of_a15():
    stored = stored_for(FIXES, fixes(FIXES), "fixes")
    found = {(f.what, f.base): f.difference for f in fixes_findings(stored, FIXES) if "A15" in f.claims}
    pairs = [("reproject", "equal_reproject")]
    pairs += [(fix, "reproject") for fix in ("projection", "grouped", "extra")]
    assert set(found) == set(pairs)
    for what, base in pairs:
        difference = found[what, base]
        points = [100 * end for end in (difference.mean, *difference.interval)]
        assert points == pytest.approx(by_scipy(scores_of(stored, what), scores_of(stored, base)), abs=1e-6)


@pytest.mark.parametrize("keep", ["size", "width"])
@pytest.mark.parametrize(("enc_heads", "dec_heads"), [(8, 4), (8, 8), (8, 16)])
def test_claims_about_more_heads_are_answered_by_more_heads_alone(enc_heads, dec_heads, keep):
    comparison = Comparison("reverse", enc_heads, dec_heads, keep, num_seeds=2, num_steps=3)
    made = [
        row(comparison, arm, seed, sequence_accuracy=0.1 * place, effective_maps=2.0 + place)
        for place, arm in enumerate(fixes(comparison))
        for seed in range(2)
        if not arm.error
    ]
    found = fixes_findings(made, comparison)
    assert found
    claims = {claim for each in found for claim in each.claims}
    wanted = {"A11", "A15"} | ({"A7", "A8", "A12", "A13"} if keep == "size" else {"A6"})
    assert claims == (wanted if dec_heads > enc_heads else set())


def test_findings_of_the_sweep_follow_the_numbers():
    """Below the encoder's 8 heads everything goes the other way: claims about more heads are not to see it."""
    made = []
    for arm in sweep(COMPARISON):
        doublings = math.log2(arm.config.decoder.num_heads / 8)
        for seed in range(3):
            measures = {"entropy": 0.1 * doublings, "distance": 0.4, "effective_maps": 0.5 * doublings}
            measures = {name: 0.01 * seed + (value if doublings >= 0 else 9.0) for name, value in measures.items()}
            made.append(row(COMPARISON, arm, seed, sequence_accuracy=0.9, **measures))
    by = {(f.claims, f.what, f.measure): f for f in sweep_findings(made, 8)}
    assert by[("A6",), "width", "entropy"].direction == "up"
    assert by[("A6",), "width", "entropy"].difference.mean == pytest.approx(0.1)
    assert by[("A6",), "width", "distance"].direction == "none"
    assert by[("A9",), "size", "effective_maps"].difference.mean == pytest.approx(0.5)
    assert by[("A10",), "size", "sequence_accuracy"].difference.family == len(by) + 3  # A3 has four


def test_what_dropping_costs_is_what_so_few_heads_do_not_explain():
    """A textbook decoder with 2 heads loses .05 and the dropped one .15 of what each had: dropping costs .10."""
    made = []
    for arm in sweep(COMPARISON):
        heads = arm.config.decoder.num_heads
        for seed in range(3):
            accuracy = {"size": 0.8, "drop": 0.9, "pool": 0.1, "width": 0.5}[arm.name] + 0.01 * seed
            if heads == 2:
                accuracy -= {"size": 0.05, "drop": 0.15 + 0.001 * seed}.get(arm.name, 0)
            made.append(row(COMPARISON, arm, seed, sequence_accuracy=accuracy))
    found = {f.heads: f.difference for f in sweep_findings(made, 8) if f.claims == ("A3",)}
    assert {heads: round(each.mean, 6) for heads, each in found.items()} == {None: -0.033667, 1: 0, 2: -0.101, 4: 0}
    assert found[2].seen and not found[4].seen


def test_what_dropping_costs_in_the_stored_sweep():
    """What is lost from all 8 heads to fewer, where K/V heads are dropped, beyond what a textbook decoder loses."""
    stored = stored_for(SWEEP, sweep(SWEEP), "sweep")
    found = {f.heads: f.difference for f in sweep_findings(stored, 8) if f.claims == ("A3",)}

    def lost(arm: str, heads: int) -> dict[str, float]:
        few, all_heads = (
            scores_of([row for row in stored if row.settings["dec_num_heads"] == str(number)], arm)
            for number in (heads, 8)
        )
        return {seed: few[seed] - all_heads[seed] for seed in few}

    for heads in (1, 2, 4):
        points = [100 * end for end in (found[heads].mean, *found[heads].interval)]
        assert points == pytest.approx(by_scipy(lost("drop", heads), lost("size", heads)), abs=1e-6)
    assert found[None].mean == pytest.approx(statistics.mean(found[heads].mean for heads in (1, 2, 4)), abs=1e-9)


def test_the_report_names_arms_that_cannot_run():
    made = rows({"equal_reproject": [0.5, 0.6], "reproject": [0.5, 0.6], "grouped": [0.5, 0.7]})
    text = report(made, tuple(ARMS.values()), fixes_findings(made, COMPARISON))
    assert "must equal the encoder's K/V heads (8)" in text
    assert "reproject against equal_reproject: no difference seen, +0.00 points" in text
    assert "all 3 intervals allowed for" in text and "at most 15% of such reports" in text
