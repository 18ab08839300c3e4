"""The same examples answered twice: lost, won, and McNemar's exact test, against SciPy and by hand."""

from random import Random

import pytest
from scipy.stats import binomtest

from attention.experiments.paired_answers import PairedAnswers


def answers(both: int, lost: int, won: int, neither: int) -> PairedAnswers:
    pairs = [(True, True)] * both + [(True, False)] * lost + [(False, True)] * won + [(False, False)] * neither
    Random(7).shuffle(pairs)
    return PairedAnswers(*map(tuple, zip(*pairs, strict=True)))


@pytest.mark.parametrize(("lost", "won"), [(0, 1), (5, 1), (17, 3), (3, 17), (11, 11), (13, 12), (211, 2)])
def test_lost_and_won_are_counted_and_the_test_is_scipy_s(lost, won):
    found = answers(41, lost, won, 29)
    assert (found.lost, found.won) == (lost, won)
    assert found.p_value == pytest.approx(binomtest(lost, lost + won).pvalue, rel=1e-9)


def test_by_hand():
    """Five lost and none won: 2 · (1/2)⁵."""
    assert answers(7, 5, 0, 3).p_value == 1 / 16


def test_what_did_not_change_has_no_say():
    assert answers(1, 9, 2, 1).p_value == answers(500, 9, 2, 300).p_value


def test_nothing_changed():
    found = answers(13, 0, 0, 7)
    assert (found.lost, found.won, found.p_value) == (0, 0, 1.0)


def test_shares_whose_intervals_overlap_can_be_surely_different_as_pairs():
    """70 and 66 % of 300: Wilson's intervals overlap, but twelve words were lost and none won."""
    assert answers(198, 12, 0, 90).p_value < 0.001


def test_different_examples_are_refused():
    with pytest.raises(ValueError, match=r"control \(2 examples\) and changed \(3\)"):
        PairedAnswers((True, False), (True, False, True))
