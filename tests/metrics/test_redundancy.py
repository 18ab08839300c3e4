import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.spatial.distance import cosine

from attention.metrics import cosine_of_rows, off_diagonal_summary, query_cosine

HEADS, Q_LEN, HEAD_DIM = 5, 7, 3


def random_queries(seed=0):
    return np.random.default_rng(seed).normal(size=(HEADS, Q_LEN, HEAD_DIM))


def test_agrees_with_scipy_pair_by_pair():
    queries = random_queries()
    result = query_cosine(queries)
    for i in range(HEADS):
        for j in range(HEADS):
            assert result[i, j] == pytest.approx(1 - cosine(queries[i].ravel(), queries[j].ravel()), abs=1e-14)


def test_by_hand():
    queries = np.array([[[1.0, 0], [0, 0]], [[3, 0], [4, 0]], [[0, 1], [0, 0]], [[-2, 0], [0, 0]]])
    expected = [[1, 0.6, 0, -1], [0.6, 1, 0, -0.6], [0, 0, 1, 0], [-1, -0.6, 0, 1]]
    np.testing.assert_allclose(query_cosine(queries), expected, atol=1e-15)


def test_padding_changes_nothing():
    queries = random_queries()
    padded = np.concatenate([queries, np.full((HEADS, 4, HEAD_DIM), 9.0)], axis=1)
    real = np.arange(Q_LEN + 4) < Q_LEN
    np.testing.assert_array_equal(query_cosine(padded, real), query_cosine(queries))


def test_a_zero_vector_is_undefined():
    queries = random_queries()
    queries[2] = 0
    result = query_cosine(queries)
    assert np.isnan(result[2]).all() and np.isnan(result[:, 2]).all()
    rest = [0, 1, 3, 4]
    np.testing.assert_array_equal(result[np.ix_(rest, rest)], query_cosine(queries[rest]))
    assert np.isnan(query_cosine(queries, np.zeros(Q_LEN, dtype=bool))).all()  # nothing real


@pytest.mark.parametrize("size", [1e-30, 1e-200, 5e-324, 1e200])
def test_size_does_not_matter(size):
    """No epsilon in the denominator: very small vectors have a direction as well as large ones."""
    queries = np.array([[[1.0, 2.0]], [[2.0, -1.0]], [[1.0, 2.0]]])
    queries[2] = [[size, size]]
    expected = 3 / np.sqrt(10)
    result = query_cosine(queries)
    assert result[0, 2] == pytest.approx(expected, abs=1e-15)
    assert result[2, 2] == 1


def test_values_that_are_not_finite_are_undefined():
    queries = random_queries()
    queries[1, 0, 0], queries[3, 0, 0] = np.inf, np.nan
    defined = ~np.isnan(np.diag(query_cosine(queries)))
    np.testing.assert_array_equal(defined, [True, False, True, False, True])


vectors = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 5), st.integers(1, 7)),
    elements=st.floats(-1e3, 1e3, allow_subnormal=False),
)


@settings(deadline=None)
@given(vectors)
def test_is_a_cosine(rows):
    result = cosine_of_rows(rows)
    zero = ~rows.any(axis=1)
    np.testing.assert_array_equal(np.isnan(np.diag(result)), zero)
    defined = result[np.ix_(~zero, ~zero)]
    assert not np.isnan(defined).any()
    assert (np.abs(defined) <= 1).all()
    assert (np.diag(defined) == 1).all()
    np.testing.assert_array_equal(result, result.T)


@settings(deadline=None)
@given(vectors.map(lambda rows: rows.round(6)), st.floats(1e-30, 1e30), st.randoms(use_true_random=False))
def test_scale_sign_and_rotation(rows, factor, random):
    expected = cosine_of_rows(rows)
    np.testing.assert_allclose(cosine_of_rows(rows * factor), expected, atol=1e-12)
    signs = np.array([random.choice([-1, 1]) for _ in rows])
    np.testing.assert_allclose(cosine_of_rows(rows * signs[:, None]), expected * np.outer(signs, signs), atol=1e-12)
    rotation, _ = np.linalg.qr(np.random.default_rng(random.randrange(1000)).normal(size=(rows.shape[1],) * 2))
    scaled = rows / np.maximum(np.abs(rows).max(axis=1, keepdims=True), 1e-300)
    np.testing.assert_allclose(cosine_of_rows(scaled @ rotation), expected, atol=1e-12)


def test_what_it_notices_and_what_it_misses():
    """A near-copy is seen; a copy in another basis, which attends in exactly the same way, is not."""
    rng = np.random.default_rng(0)
    width, head_dim, length = 64, 16, 20
    hidden, w_q, w_k = rng.normal(size=(length, width)), *rng.normal(size=(2, width, head_dim))
    m, _ = np.linalg.qr(rng.normal(size=(head_dim, head_dim)))
    near, rotated = w_q + 0.1 * rng.normal(size=w_q.shape), w_q @ m
    np.testing.assert_allclose(
        hidden @ rotated @ (hidden @ w_k @ np.linalg.inv(m).T).T, hidden @ w_q @ (hidden @ w_k).T
    )
    result = query_cosine(np.stack([hidden @ w for w in (w_q, near, rotated)]))
    assert result[0, 1] >= 0.97
    assert abs(result[0, 2]) < 0.35


def test_summary_looks_at_pairs_only():
    matrix = np.array([[1, 0.5, -0.25], [0.5, 1, 0.125], [-0.25, 0.125, 1]])
    summary = off_diagonal_summary(matrix)
    assert summary == (0.125, 0.5)
    assert (summary.mean, summary.maximum) == (0.125, 0.5)


def test_summary_leaves_out_undefined_pairs():
    matrix = np.full((3, 3), np.nan)
    matrix[:2, :2] = [[1, -0.5], [-0.5, 1]]
    assert off_diagonal_summary(matrix) == (-0.5, -0.5)


@pytest.mark.parametrize("matrix", [[[1.0]], [[1.0, np.nan], [np.nan, np.nan]]])
def test_no_pair_no_summary(matrix):
    assert off_diagonal_summary(np.array(matrix)) is None


def test_wrong_shapes_are_refused():
    with pytest.raises(ValueError, match=r"\(5, 7\)"):
        query_cosine(np.ones((5, 7)))
    with pytest.raises(ValueError, match=r"\(7\).*\(3,\)"):
        query_cosine(random_queries(), np.ones(3, dtype=bool))
    with pytest.raises(ValueError, match="boolean"):
        query_cosine(random_queries(), np.ones(Q_LEN))
    with pytest.raises(ValueError, match=r"\(2, 3\)"):
        off_diagonal_summary(np.ones((2, 3)))
