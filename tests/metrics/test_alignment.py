"""Alignment scores against values worked out by hand."""

import math
from fractions import Fraction

import numpy as np
import pytest

from attention.metrics.alignment import alignment_score, diagonal_baseline, num_aligned, same_index_baseline
from attention.metrics.locality import proportional_diagonal

KNIGHT = (frozenset({0, 1}), frozenset({2}), frozenset({5}))  # n aɪ t
BOX = (frozenset({0}), frozenset({1}), frozenset({2}), frozenset({2}))  # b ɑ k s
NOTHING = frozenset()


def pointing(*columns_per_head, kv_len=7):
    """Maps whose rows look mostly at the given columns, one tuple of columns per head."""
    weights = np.full((len(columns_per_head), len(columns_per_head[0]), kv_len), 0.4 / (kv_len - 1))
    for head, columns in enumerate(columns_per_head):
        for row, column in enumerate(columns):
            weights[head, row, column] = 0.6
    return weights


def test_knight_by_hand():
    # Rows predict n, aɪ, t and the end. The second head misses t, the third looks at the silent g and h.
    weights = pointing((0, 2, 5, 6), (1, 2, 4, 6), (3, 4, 4, 6))
    np.testing.assert_allclose(alignment_score(weights, KNIGHT), [1, 2 / 3, 0])


def test_two_sounds_of_one_letter_both_count():
    np.testing.assert_allclose(alignment_score(pointing((0, 1, 2, 2), (0, 1, 2, 3)), BOX), [1, 3 / 4])


def test_tokens_that_nothing_makes_do_not_count():
    gold = (frozenset({0}), NOTHING, frozenset({2}))
    np.testing.assert_allclose(alignment_score(pointing((0, 1, 1)), gold), [1 / 2])
    assert num_aligned(gold) == 2
    assert same_index_baseline(gold) == 1.0


def test_no_gold_gives_nan():
    assert np.isnan(alignment_score(pointing((0, 1), (1, 0)), (NOTHING, NOTHING))).tolist() == [True, True]
    assert np.isnan(alignment_score(pointing((0, 1)), ())).tolist() == [True]
    assert np.isnan(diagonal_baseline((), 5))
    assert np.isnan(same_index_baseline((NOTHING,)))


def test_a_head_that_looks_nowhere_has_no_score_and_a_row_that_does_is_a_miss():
    weights = pointing((0, 2, 5, 6), (0, 2, 5, 6), (0, 2, 5, 6))
    weights[1] = 0  # reads something that is not the source
    weights[2, 0] = 0
    np.testing.assert_allclose(alignment_score(weights, KNIGHT), [1, np.nan, 2 / 3])
    weights[1, 3] = 1  # the end token does not count
    assert np.isnan(alignment_score(weights, KNIGHT)[1])


def test_gold_that_does_not_fit_the_map_is_refused():
    with pytest.raises(ValueError, match=r"2 rows, .* 3 target tokens"):
        alignment_score(pointing((0, 1)), KNIGHT)
    with pytest.raises(ValueError, match=r"position 5 .*4 columns"):
        alignment_score(pointing((0, 1, 2), kv_len=4), KNIGHT)
    with pytest.raises(ValueError, match="position -1"):
        alignment_score(pointing((0,)), (frozenset({-1}),))


def test_baselines_by_hand():
    # knight: the diagonal points at letters 0, 2 (2.5, rounded down), 5; the same index at 0, 1, 2
    assert diagonal_baseline(KNIGHT, 6) == 1.0
    assert same_index_baseline(KNIGHT) == pytest.approx(1 / 3)
    # box: the diagonal points at 0, 1 (0.67), 1 (1.33), 2; the same index at 0, 1, 2, 3
    assert diagonal_baseline(BOX, 3) == pytest.approx(3 / 4)
    assert same_index_baseline(BOX) == pytest.approx(3 / 4)


def test_one_sound_points_at_the_first_letter():
    assert diagonal_baseline((frozenset({0, 1}),), 2) == 1.0


def test_baselines_are_the_scores_of_heads_that_point_that_way():
    for source_len in (2, 3, 7, 11):
        for target_len in (1, 2, 3, 7, 13):
            gold = tuple(frozenset({(3 * t) % source_len}) for t in range(target_len))
            exact = np.array([Fraction(t * (source_len - 1), max(target_len - 1, 1)) for t in range(target_len)])
            diagonal = [math.ceil(place - Fraction(1, 2)) for place in exact]
            weights = pointing(tuple(diagonal), tuple(range(target_len)), kv_len=17)
            expected = [diagonal_baseline(gold, source_len), same_index_baseline(gold)]
            np.testing.assert_allclose(alignment_score(weights, gold), expected)


def test_the_diagonal_is_that_of_the_distance_rounded():
    for source_len, target_len in ((11, 7), (5, 13), (6, 3)):
        rounded = np.ceil(proportional_diagonal(target_len, source_len) - 0.5 - 1e-9).astype(int)
        assert diagonal_baseline([frozenset({place}) for place in rounded], source_len) == 1.0
