import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.metrics import cosine_of_rows
from attention.metrics.structure import cluster_order, effective_heads

TWO_PAIRS = np.array([[0, 0.9, 0.1, 0.8], [0.9, 0, 0.7, 0.2], [0.1, 0.7, 0, 0.9], [0.8, 0.2, 0.9, 0]])


def test_by_hand():
    assert effective_heads(np.eye(5)) == pytest.approx(5, abs=1e-12)
    assert effective_heads(np.ones((5, 5))) == pytest.approx(1, abs=1e-6)
    # Two alike and one alone: shares 2/3 and 1/3.
    pair = np.array([[1.0, 1, 0], [1, 1, 0], [0, 0, 1]])
    assert effective_heads(pair) == pytest.approx(3 / 2 ** (2 / 3), abs=1e-12)
    # One cosine of ½: eigenvalues 1.5 and 0.5.
    half = np.array([[1, 0.5], [0.5, 1]])
    assert effective_heads(half) == pytest.approx(np.exp(-(0.75 * np.log(0.75) + 0.25 * np.log(0.25))), abs=1e-12)


def test_a_negated_head_counts_as_the_same():
    assert effective_heads(np.array([[1.0, -1], [-1, 1]])) == pytest.approx(1, abs=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(1, 7), st.integers(1, 7))
def test_bounds_and_copies(seed, heads, dim):
    vectors = np.random.default_rng(seed).normal(size=(heads, dim))
    number = effective_heads(cosine_of_rows(vectors))
    assert 1 - 1e-9 <= number <= min(heads, dim) + 1e-9
    doubled = np.concatenate([vectors, vectors])  # every head twice: no further one
    assert effective_heads(cosine_of_rows(doubled)) == pytest.approx(number, abs=1e-6)


def test_undefined_heads_are_left_out():
    matrix = np.full((4, 4), np.nan)
    matrix[1:3, 1:3] = np.eye(2)
    assert effective_heads(matrix) == pytest.approx(2)
    assert np.isnan(effective_heads(np.full((2, 2), np.nan)))
    assert np.isnan(effective_heads(np.array([[1.0, np.nan], [np.nan, 1.0]])))


def test_what_is_no_similarity_is_refused():
    # Four lines in a plane, 45° apart: their cosines without signs are those of no vectors.
    angles = np.arange(4) * np.pi / 4
    absolute = np.abs(np.cos(angles[:, None] - angles))
    assert np.linalg.eigvalsh(absolute).min() < -0.1
    with pytest.raises(ValueError, match="negative eigenvalue"):
        effective_heads(absolute)
    with pytest.raises(ValueError, match="1 − divergence"):
        effective_heads(TWO_PAIRS)
    with pytest.raises(ValueError, match=r"\(2, 3\)"):
        effective_heads(np.ones((2, 3)))


def test_order_puts_like_beside_like():
    order = cluster_order(TWO_PAIRS).tolist()
    assert sorted(order) == [0, 1, 2, 3]
    assert {frozenset(order[:2]), frozenset(order[2:])} == {frozenset({0, 2}), frozenset({1, 3})}
    # Between the pairs, the two that are closest (1 and 2, 0.7) stand side by side.
    assert abs(order.index(1) - order.index(2)) == 1


def test_undefined_heads_come_last():
    matrix = np.full((5, 5), np.nan)
    defined = [0, 2, 3, 4]
    matrix[np.ix_(defined, defined)] = TWO_PAIRS
    assert cluster_order(matrix)[-1] == 1
    assert cluster_order(np.full((2, 2), np.nan)).tolist() == [0, 1]
    matrix[0, 3] = matrix[3, 0] = np.nan  # two defined heads that cannot be compared
    assert sorted(cluster_order(matrix)) == list(range(5))
