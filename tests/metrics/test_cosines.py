"""Cosines of queries, of matrices and of contributions, against SciPy; what each notices and what it forgives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.spatial.distance import cosine

from attention.metrics.cka import contribution_cka, linear_cka
from attention.metrics.cosines import (
    contribution_cosine,
    cosine_of_products,
    cosine_of_rows,
    map_cosine,
    off_diagonal_summary,
    output_cosine,
    pattern_cosine,
    query_cosine,
)

HEADS, ROWS, WIDTH, DIM, D_MODEL = 5, 17, 11, 3, 7
Q_LEN = 7


def randn(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def plainly(matrices):
    flat = matrices.reshape(len(matrices), -1)
    return np.array([[1 - cosine(x, y) for y in flat] for x in flat])


def random_queries():
    return randn(HEADS, Q_LEN, DIM)


def test_queries_agree_with_scipy_pair_by_pair():
    queries = random_queries()
    np.testing.assert_allclose(query_cosine(queries), plainly(queries), rtol=0, atol=1e-14)


def test_queries_by_hand():
    queries = np.array([[[1.0, 0], [0, 0]], [[3, 0], [4, 0]], [[0, 1], [0, 0]], [[-2, 0], [0, 0]]])
    expected = [[1, 0.6, 0, -1], [0.6, 1, 0, -0.6], [0, 0, 1, 0], [-1, -0.6, 0, 1]]
    np.testing.assert_allclose(query_cosine(queries), expected, atol=1e-15)


def test_padding_changes_nothing():
    queries = random_queries()
    padded = np.concatenate([queries, np.full((HEADS, 4, DIM), 9.0)], axis=1)
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
def test_the_size_of_queries_does_not_matter(size):
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


@given(vectors)
def test_of_rows_is_a_cosine(rows):
    result = cosine_of_rows(rows)
    zero = ~rows.any(axis=1)
    np.testing.assert_array_equal(np.isnan(np.diag(result)), zero)
    defined = result[np.ix_(~zero, ~zero)]
    assert not np.isnan(defined).any()
    assert (np.abs(defined) <= 1).all()
    assert (np.diag(defined) == 1).all()
    np.testing.assert_array_equal(result, result.T)


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


def test_maps_with_their_bias_as_one_more_row():
    w, b = randn(HEADS, WIDTH, DIM), randn(HEADS, DIM, seed=1)
    np.testing.assert_allclose(map_cosine(w, b), plainly(np.concatenate([w, b[:, None]], 1)), rtol=0, atol=1e-14)
    np.testing.assert_allclose(map_cosine(w, 0 * b), plainly(w), rtol=0, atol=1e-14)


def test_patterns_by_hand():
    """Heads of size 1, width 1: W_Q·W_Kᵀ is one number and b_Q·W_Kᵀ another."""
    w_q, b_q = np.array([[[3.0]], [[1.0]], [[-3.0]]]), np.array([[4.0], [0.0], [-4.0]])
    w_k = np.array([[[2.0]], [[5.0]], [[1.0]]])
    expected = [[1, 0.6, -1], [0.6, 1, -0.6], [-1, -0.6, 1]]
    np.testing.assert_allclose(pattern_cosine(w_q, b_q, w_k), expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize("source_width", [2, 13])  # below and above the head size
def test_patterns(source_width):
    w_q, b_q, w_k = randn(HEADS, WIDTH, DIM), randn(HEADS, DIM, seed=1), randn(HEADS, source_width, DIM, seed=2)
    products = np.concatenate([w_q, b_q[:, None]], 1) @ w_k.swapaxes(1, 2)
    np.testing.assert_allclose(pattern_cosine(w_q, b_q, w_k), plainly(products), rtol=0, atol=1e-14)


@pytest.mark.parametrize("d_model", [2, 13])
def test_contributions(d_model):
    mixed, w_o = randn(HEADS, ROWS, DIM), randn(HEADS, DIM, d_model, seed=1)
    np.testing.assert_allclose(contribution_cosine(mixed, w_o), plainly(mixed @ w_o), rtol=0, atol=1e-14)
    np.testing.assert_allclose(output_cosine(mixed), plainly(mixed), rtol=0, atol=1e-14)


def test_a_head_that_contributes_nothing_is_undefined():
    mixed, w_o = randn(HEADS, ROWS, DIM), randn(HEADS, DIM, D_MODEL, seed=1)
    expected = contribution_cosine(mixed, w_o)
    mixed[0], w_o[2], w_o[3, 0, 0] = 0, 0, np.nan
    result = contribution_cosine(mixed, w_o)
    for head in (0, 2, 3):
        assert np.isnan(result[head]).all() and np.isnan(result[:, head]).all()
    np.testing.assert_allclose(result[np.ix_([1, 4], [1, 4])], expected[np.ix_([1, 4], [1, 4])], rtol=0, atol=1e-15)
    assert np.isnan(contribution_cosine(0 * mixed, w_o)).all()
    # Both factors have a direction, their product has none.
    left, right = np.array([[[1.0, 0.0]]]), np.array([[[0.0], [1.0]]])
    assert np.isnan(cosine_of_products(left, right)).all()
    assert np.isnan(cosine_of_products(np.ones((1, 1, 2)), np.array([[[1.0, 2.0, 0.3], [-1.0, -2.0, -0.3]]]))).all()


@pytest.mark.parametrize("size", [1e-300, 1e-30, 1e200])
def test_size_does_not_matter(size):
    mixed, w_o = randn(HEADS, ROWS, DIM), randn(HEADS, DIM, D_MODEL, seed=1)
    expected = contribution_cosine(mixed, w_o)
    mixed[1] *= size
    w_o[2] *= size
    result = contribution_cosine(mixed, w_o)
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-14)
    assert (np.abs(result) <= 1).all() and (np.diag(result) == 1).all()


def test_outputs_that_almost_vanish_in_w_o_are_still_compared_well():
    """The factors are 10⁹ times as large as their product; their Gram matrices alone could not tell."""
    mixed, w_o = randn(2, ROWS, 2), np.zeros((2, 2, D_MODEL))
    mixed[..., 1] *= 1e-9
    w_o[:, 1] = randn(2, D_MODEL, seed=1)  # reads the small feature only
    np.testing.assert_allclose(
        contribution_cosine(mixed, w_o), cosine_of_rows((mixed @ w_o).reshape(2, -1)), atol=1e-13
    )


# Changes of basis: what a head computes stays the same.

seeds = st.integers(0, 2**32 - 1)


def basis(seed, condition=50.0):
    """Invertible, stretching one direction at most `condition` times as much as another."""
    rng = np.random.default_rng(seed)
    left, right = (np.linalg.qr(rng.normal(size=(DIM, DIM)))[0] for _ in range(2))
    return left * condition ** rng.uniform(-0.5, 0.5, DIM) @ right


class Layer:
    """Heads of one layer with biases, run in NumPy on inputs of their own, so that they can be re-based."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.x, self.y = rng.normal(size=(ROWS, WIDTH)), rng.normal(size=(13, WIDTH))
        self.w_q, self.w_k, self.w_v = rng.normal(size=(3, HEADS, WIDTH, DIM)) / WIDTH**0.5
        self.b_q, self.b_k, self.b_v = rng.normal(size=(3, HEADS, DIM)) / 3
        self.w_o = rng.normal(size=(HEADS, DIM, D_MODEL))

    def rebase(self, head, m, n):
        inverse = np.linalg.inv(m).T
        self.w_q[head], self.b_q[head] = self.w_q[head] @ m, self.b_q[head] @ m
        self.w_k[head], self.b_k[head] = self.w_k[head] @ inverse, self.b_k[head] @ inverse
        self.w_v[head], self.b_v[head] = self.w_v[head] @ n, self.b_v[head] @ n
        self.w_o[head] = np.linalg.inv(n) @ self.w_o[head]

    def run(self):
        self.queries = self.x @ self.w_q + self.b_q[:, None]
        keys, values = self.y @ self.w_k + self.b_k[:, None], self.y @ self.w_v + self.b_v[:, None]
        scores = np.exp(self.queries @ keys.swapaxes(1, 2) / DIM**0.5)
        self.weights = scores / scores.sum(-1, keepdims=True)
        self.mixed = self.weights @ values
        return self


BASIS_FREE = {
    "pattern": lambda layer: pattern_cosine(layer.w_q, layer.b_q, layer.w_k),
    "contribution": lambda layer: contribution_cosine(layer.mixed, layer.w_o),
    "contribution CKA": lambda layer: contribution_cka(layer.mixed, layer.w_o).similarity,
}
ROTATION_FREE = {"query CKA": lambda layer: linear_cka(layer.queries).similarity}
BOUND_TO_THE_BASIS = {
    "query": lambda layer: query_cosine(layer.queries),
    "map": lambda layer: map_cosine(layer.w_q, layer.b_q),
    "output": lambda layer: output_cosine(layer.mixed),
}


@given(seeds)
def test_every_change_of_basis_leaves_what_is_basis_free(seed):
    before, after = Layer(seed).run(), Layer(seed)
    for head in range(HEADS):
        after.rebase(head, basis(seed + head), basis(seed + head + 100))
    after.run()
    np.testing.assert_allclose(after.mixed @ after.w_o, before.mixed @ before.w_o, rtol=0, atol=1e-11)
    for measure in BASIS_FREE.values():
        np.testing.assert_allclose(measure(after), measure(before), rtol=0, atol=1e-10)


@given(seeds)
def test_a_rotation_leaves_query_cka(seed):
    before, after = Layer(seed).run(), Layer(seed)
    after.rebase(2, basis(seed, condition=1.0), basis(seed + 1))
    after.run()
    for measure in ROTATION_FREE.values():
        np.testing.assert_allclose(measure(after), measure(before), rtol=0, atol=1e-10)


def test_the_others_change():
    before, after = Layer(0).run(), Layer(0)
    after.rebase(2, basis(1), basis(2))
    after.run()
    for measure in (BOUND_TO_THE_BASIS | ROTATION_FREE).values():
        assert np.abs(measure(after) - measure(before)).max() > 0.1


@given(seeds)
def test_the_keys_bias_is_in_no_pattern(seed):
    """It moves all scores of a row by the same number, so the maps stay, and it is rightly left out."""
    before, after = Layer(seed).run(), Layer(seed)
    after.b_k = after.b_k + 3.0
    np.testing.assert_allclose(after.run().weights, before.weights, rtol=0, atol=1e-13)


@given(seeds, st.integers(1, 4), st.integers(1, 4), st.integers(1, 4))
def test_is_a_cosine(seed, a, r, b):
    rng = np.random.default_rng(seed)
    left, right = rng.integers(-2, 3, size=(4, a, r)).astype(float), rng.integers(-2, 3, size=(4, r, b)).astype(float)
    result, products = cosine_of_products(left, right), (left @ right).reshape(4, -1)
    np.testing.assert_array_equal(np.isnan(result), np.isnan(cosine_of_rows(products)))
    np.testing.assert_allclose(result, cosine_of_rows(products), rtol=0, atol=1e-12)
    defined = ~np.isnan(result)
    assert (np.abs(result[defined]) <= 1).all()
    np.testing.assert_array_equal(result, result.T)
