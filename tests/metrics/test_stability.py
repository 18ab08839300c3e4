"""Movement, drift and the distance to the letter, by hand and against SciPy."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from attention.metrics import drift, gold_distance, movement

NAN = float("nan")


def random_rows(*shape, seed=0):
    return np.random.default_rng(seed).dirichlet(np.ones(shape[-1]), shape[:-1])


def test_drift_is_half_the_city_block_distance_of_each_row_of_each_head():
    first, second = random_rows(3, 5, 7), random_rows(3, 5, 7, seed=1)
    expected = [np.diag(cdist(*heads, "cityblock")) / 2 for heads in zip(first, second, strict=True)]
    np.testing.assert_allclose(drift(first, second), expected, rtol=0, atol=1e-15)
    assert not drift(first, first).any()


def test_rows_without_a_common_key_are_1_apart_and_a_row_without_keys_is_apart_from_nothing():
    first, second = np.zeros((2, 1, 3, 4))
    first[0, 0], second[0, 0] = [0.3, 0.7, 0.0, 0.0], [0.0, 0.0, 0.9, 0.1]
    second[0, 1] = 0.25
    np.testing.assert_equal(drift(first, second), [[1.0, NAN, NAN]])


def test_movement_by_hand():
    weights = np.array([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.75, 0.25]], [[0.5, 0.5, 0.0]] * 3])
    np.testing.assert_allclose(movement(weights), [[NAN, 1.0, 0.25], [NAN, 0.0, 0.0]])


def test_drift_of_other_shapes_is_refused_with_both():
    with pytest.raises(ValueError, match=r"\(3, 5, 7\) and \(2, 5, 7\)"):
        drift(random_rows(3, 5, 7), random_rows(2, 5, 7))


def test_the_distance_to_the_letter_by_hand():
    # "knight": n comes from letter 1, aɪ from 2 and 3, t from 5; the last row predicts the end
    gold = (frozenset({1}), frozenset({2, 3}), frozenset({5}), frozenset())
    rows = [[0.5, 0.5, 0, 0, 0, 0, 0], [0.25, 0, 0.5, 0.25, 0, 0, 0], [0, 0, 0, 0, 0, 0, 1.0], [0, 0, 0, 0, 0, 0, 1.0]]
    found = gold_distance(np.array([rows]), gold)
    np.testing.assert_allclose(found, [[0.5, 0.5, 1.0, NAN]])


def test_rows_without_keys_or_beyond_the_gold_have_no_distance():
    weights = np.stack([np.eye(3), np.zeros((3, 3))])
    np.testing.assert_equal(gold_distance(weights, (frozenset({0}), frozenset({0}))), [[0, 1, NAN], [NAN] * 3])


def test_gold_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="2 rows, but the gold alignment has 3"):
        gold_distance(random_rows(1, 2, 3), (frozenset({0}),) * 3)
    with pytest.raises(ValueError, match="outside the map's 3 columns"):
        gold_distance(random_rows(1, 2, 3), (frozenset({3}),))
