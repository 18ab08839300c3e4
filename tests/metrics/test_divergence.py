import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from attention.metrics import divergence
from attention.metrics.divergence import jensen_shannon, total_variation

HEADS, Q_LEN, KV_LEN = 5, 7, 11


def random_rows(seed=0, shape=(HEADS, Q_LEN, KV_LEN), zeros=0.0):
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.full(shape[-1], 0.5), size=shape[:-1])
    rows *= rng.random(shape) >= zeros
    rows[..., 0] += 1e-3  # no row is left empty
    return rows / rows.sum(-1, keepdims=True)


def everywhere(rows):
    return np.ones(rows.shape[1:], dtype=bool)


def test_by_hand():
    """p = (1, 0) and q = (½, ½): the mean is (¾, ¼) with 2 − ¾ · log2 3 bits, q has one bit, p none."""
    rows = np.array([[[1.0, 0.0]], [[0.5, 0.5]], [[0.0, 1.0]]])
    between = 2 - 0.75 * np.log2(3) - 0.5  # 0.3113
    assert between == pytest.approx(0.311278, abs=1e-6)
    expected = [[0, between, 1], [between, 0, between], [1, between, 0]]
    np.testing.assert_allclose(jensen_shannon(rows, everywhere(rows)), expected, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(total_variation(rows, everywhere(rows)), [[0, 0.5, 1], [0.5, 0, 0.5], [1, 0.5, 0]])


@pytest.mark.parametrize("zeros", [0.0, 0.6])
def test_agrees_with_scipy_pair_by_pair(zeros):
    rows = random_rows(zeros=zeros)
    divergences, variations = jensen_shannon(rows, everywhere(rows)), total_variation(rows, everywhere(rows))
    for i in range(HEADS):
        for j in range(HEADS):
            distance = jensenshannon(rows[i], rows[j], base=2, axis=-1)
            assert divergences[i, j] == pytest.approx(np.mean(np.nan_to_num(distance) ** 2), abs=1e-14)
            moved = [np.maximum(p - q, 0).sum() for p, q in zip(rows[i], rows[j], strict=True)]
            assert variations[i, j] == pytest.approx(np.mean(moved), abs=1e-14)


def test_it_does_not_matter_how_much_is_in_hand_at_a_time(monkeypatch):
    rows = random_rows()
    whole = jensen_shannon(rows, everywhere(rows))
    monkeypatch.setattr(divergence, "BLOCK", 1)
    np.testing.assert_allclose(jensen_shannon(rows, everywhere(rows)), whole, rtol=0, atol=1e-15)


@pytest.mark.parametrize("measure", [jensen_shannon, total_variation])
def test_only_rows_with_a_choice_count(measure):
    """A causal map: its first row is the same for every head. And padding is no row."""
    allowed = np.tril(np.ones((7, 7), dtype=bool))
    rows = np.where(allowed, random_rows(shape=(HEADS, 7, 7)), 0.0)
    rows /= rows.sum(-1, keepdims=True)
    np.testing.assert_allclose(measure(rows, allowed), measure(rows[:, 1:], allowed[1:]), rtol=0, atol=1e-15)
    real = np.arange(7) < 5
    without = measure(rows[:, 1:5], allowed[1:5])
    np.testing.assert_allclose(measure(rows, allowed, real=real), without, rtol=0, atol=1e-15)


@pytest.mark.parametrize("measure", [jensen_shannon, total_variation])
def test_a_pair_without_a_row_is_undefined(measure):
    rows = random_rows()
    allowed = np.ones(rows.shape, dtype=bool)
    allowed[1] = False  # may look nowhere
    allowed[2, 3:] = False  # may look in the first rows
    allowed[3, :3] = False  # may look in the last rows
    result = measure(rows, allowed)
    assert np.isnan(result[1]).all() and np.isnan(result[:, 1]).all()
    assert np.isnan(result[2, 3]) and np.isnan(result[3, 2])
    assert (np.diag(result)[[0, 2, 3, 4]] == 0).all()
    assert result[0, 2] == pytest.approx(measure(rows[:, :3], everywhere(rows[:, :3]))[0, 2], abs=1e-15)


def test_heads_that_may_look_at_different_columns_have_nothing_in_common():
    rows = random_rows(shape=(2, Q_LEN, 4))
    allowed = np.zeros(rows.shape, dtype=bool)
    allowed[0, :, :2] = allowed[1, :, 2:] = True
    for measure in (jensen_shannon, total_variation):
        np.testing.assert_allclose(measure(np.where(allowed, rows, 0.0), allowed), [[0, 1], [1, 0]], atol=1e-15)


@pytest.mark.parametrize("heads", [1, 2])
def test_few_heads(heads):
    rows = random_rows(shape=(heads, Q_LEN, KV_LEN))
    assert jensen_shannon(rows, everywhere(rows)).shape == (heads, heads)
    assert jensen_shannon(rows, everywhere(rows))[0, 0] == 0


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.5, 0.9]))
def test_bounds(seed, zeros):
    rows = random_rows(seed, shape=(3, 5, 4), zeros=zeros)
    divergences, variations = jensen_shannon(rows, everywhere(rows)), total_variation(rows, everywhere(rows))
    for result in (divergences, variations):
        assert (result >= 0).all() and (result <= 1).all()
        np.testing.assert_array_equal(result, result.T)
    assert (divergences <= variations + 1e-12).all()  # Lin 1991, theorem 3, in bits
    # Both give Gram matrices, so that a number of effective heads can be read from them.
    for result in (divergences, variations):
        assert np.linalg.eigvalsh(1 - result).min() > -1e-12
