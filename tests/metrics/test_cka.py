from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.metrics.cka import contribution_cka, linear_cka

HEADS, ROWS, DIM = 3, 29, 5


def features(seed=0, shape=(HEADS, ROWS, DIM)):
    return np.random.default_rng(seed).normal(size=shape)


def plain_cka(x, y):
    """From the definition with Gram matrices and an explicit centring matrix (Kornblith et al. 2019, section 3)."""
    centring = np.eye(len(x)) - 1 / len(x)
    k, other = (centring @ (z @ z.T) @ centring for z in (x, y))
    return np.trace(k @ other) / np.sqrt(np.trace(k @ k) * np.trace(other @ other))


@pytest.mark.parametrize("rows", [7, ROWS])  # fewer rows than features in all, and more
def test_agrees_with_the_definition_pair_by_pair(rows):
    x = features(shape=(HEADS, rows, DIM))
    result = linear_cka(x).similarity
    for i in range(HEADS):
        for j in range(HEADS):
            assert result[i, j] == pytest.approx(plain_cka(x[i], x[j]), abs=1e-13)


def test_the_chance_level_is_the_mean_over_all_orders_of_the_rows():
    x = features(shape=(2, 6, 3))
    shuffled = [plain_cka(x[0], x[1][list(order)]) for order in permutations(range(6))]
    assert linear_cka(x).chance[0, 1] == pytest.approx(np.mean(shuffled), abs=1e-13)


# Independent Gaussians: rows, head size, level as published in the project's notes.
LEVELS = [(200, 8, 0.04), (200, 16, 0.07), (200, 32, 0.14), (200, 64, 0.24), (20, 64, 0.76)]


@pytest.mark.parametrize(("rows", "dim", "level"), LEVELS)
def test_the_level_of_independent_gaussians(rows, dim, level):
    wishart = dim / (rows + dim)  # from the expected products of Wishart matrices, one row lost to centring
    assert wishart == pytest.approx(level, abs=0.006)
    runs = [linear_cka(features(seed, (2, rows, dim))) for seed in range(10)]
    assert np.mean([run.similarity[0, 1] for run in runs]) == pytest.approx(level, abs=0.015)
    assert np.mean([run.chance[0, 1] for run in runs]) == pytest.approx(level, abs=0.01)


@given(st.integers(0, 2**32 - 1), st.floats(1e-12, 1e12))
def test_rotation_scale_and_shift_change_nothing(seed, factor):
    x = features(seed)
    rotation, _ = np.linalg.qr(features(seed + 1, (DIM, DIM)))
    changed = np.concatenate([factor * (x[:1] @ rotation + 3.0), x[1:]])
    for before, after in zip(linear_cka(x), linear_cka(changed), strict=True):
        np.testing.assert_allclose(after, before, rtol=0, atol=1e-10)
        assert (before >= 0).all() and (before <= 1).all()


def test_a_general_change_of_basis_is_not_forgiven():
    x = features(shape=(1, ROWS, DIM))
    stretched = np.concatenate([x, x * [1, 1, 1, 5, 25]])
    assert linear_cka(stretched).similarity[0, 1] < 0.7


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_features_that_do_not_vary_are_undefined(dtype):
    x = features().astype(dtype)
    x[1] = x[1, :1] * (1 + np.finfo(dtype).eps * (np.arange(ROWS)[:, None] % 2))  # the same row, but for rounding
    for result in linear_cka(x):
        assert np.isnan(result[1]).all() and np.isnan(result[:, 1]).all()
        assert not np.isnan(result[np.ix_([0, 2], [0, 2])]).any()
    x[1] = 0
    assert np.isnan(linear_cka(x).similarity[1]).all()
    x[1, 0, 0] = np.nan
    assert np.isnan(linear_cka(x).similarity[1]).all()
    assert np.isnan(linear_cka(x[:, :1]).similarity).all()  # a single row


@pytest.mark.parametrize("size", [1e-200, 1e-30, 1e200])
def test_size_does_not_matter(size):
    x = features()
    expected = linear_cka(x)
    x[2] *= size
    for before, after in zip(expected, linear_cka(x), strict=True):
        np.testing.assert_allclose(after, before, rtol=0, atol=1e-13)


def test_of_contributions():
    """The short way over W_O's triangle gives what the contributions themselves give."""
    mixed, w_o = features(), features(1, (HEADS, DIM, 13))
    for short, plain in zip(contribution_cka(mixed, w_o), linear_cka(mixed @ w_o), strict=True):
        np.testing.assert_allclose(short, plain, rtol=0, atol=1e-13)
    w_o[1] = 0
    assert np.isnan(contribution_cka(mixed, w_o).similarity[1]).all()
    narrow = features(2, (HEADS, DIM, 2))  # d_model below the head size
    np.testing.assert_allclose(
        contribution_cka(mixed, narrow).similarity, linear_cka(mixed @ narrow).similarity, rtol=0, atol=1e-13
    )


def test_wrong_shapes_are_refused():
    with pytest.raises(ValueError, match=r"\(29, 5\)"):
        linear_cka(np.ones((29, 5)))
