import numpy as np
import pytest
from scipy import stats

from attention.metrics import answer_diagonal, entropy, mean_distance, proportional_diagonal

HEADS, Q_LEN, KV_LEN = 3, 5, 7


def softmax_rows(shape, seed=0, dtype=np.float64):
    scores = np.random.default_rng(seed).normal(size=shape) * 2
    exp = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (exp / exp.sum(axis=-1, keepdims=True)).astype(dtype)


def everything(q_len=Q_LEN, kv_len=KV_LEN):
    return np.ones((q_len, kv_len), dtype=bool)


def test_entropy_agrees_with_scipy():
    weights = softmax_rows((HEADS, Q_LEN, KV_LEN))
    expected = stats.entropy(weights, axis=-1, base=KV_LEN).mean(axis=-1)
    np.testing.assert_allclose(entropy(weights, everything()), expected, atol=1e-12)


def test_entropy_by_hand():
    # ln 2 / ln 4 = 1/2; (3/4 · log₂(4/3) + 1/4 · log₂ 4) / log₂ 4 = 0.405639…
    weights = np.array([[[0.5, 0.5, 0, 0], [0, 0.75, 0, 0.25]]])
    np.testing.assert_allclose(entropy(weights, everything(2, 4)), [(0.5 + 0.40563906222956647) / 2], atol=1e-15)


@pytest.mark.parametrize("kv_len", [2, 3, 7, 16, 61])
def test_entropy_runs_from_one_key_to_uniform(kv_len):
    one_key = np.zeros((Q_LEN, kv_len), dtype=np.float32)
    one_key[:, 1] = 1
    uniform = np.full((Q_LEN, kv_len), 1 / kv_len, dtype=np.float32)  # sums to 1 only to 1e-7
    result = entropy(np.stack([one_key, uniform]), everything(Q_LEN, kv_len))
    assert result[0] == 0
    np.testing.assert_allclose(result[1], 1, atol=1e-12)
    assert result[1] <= 1


def test_entropy_counts_the_keys_that_a_row_may_see():
    """Uniform over what a causal mask allows is 1 everywhere, and the first row, which has no choice, stays out."""
    causal = np.tril(np.ones((Q_LEN, Q_LEN), dtype=bool))
    uniform = (causal / causal.sum(axis=1, keepdims=True))[None]
    np.testing.assert_allclose(entropy(uniform, causal), [1], atol=1e-12)
    peaked = uniform.copy()
    peaked[0, 1:] = np.eye(Q_LEN)[1:]  # every row but the first looks at one key
    assert entropy(peaked, causal)[0] == 0


def test_masks_may_differ_between_heads():
    allowed = np.ones((2, 2, 3), dtype=bool)
    allowed[1, :, 2] = False
    weights = np.where(allowed, 1.0, 0.0)
    weights /= weights.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(entropy(weights, allowed), [1, 1], atol=1e-12)


def test_no_row_with_a_choice_is_undefined():
    one = np.ones((HEADS, 1, 1))
    assert np.isnan(entropy(one, everything(1, 1))).all()
    assert np.isnan(mean_distance(one, everything(1, 1), expected=np.zeros(1))).all()
    masked = np.zeros((HEADS, Q_LEN, KV_LEN))
    nothing = ~everything()
    assert np.isnan(entropy(masked, nothing)).all()
    assert np.isnan(mean_distance(masked, nothing, expected=np.zeros(Q_LEN))).all()
    assert np.isnan(entropy(np.zeros((HEADS, 0, KV_LEN)), everything(0))).all()


def test_rows_without_keys_leave_the_others_alone():
    weights = softmax_rows((HEADS, Q_LEN, KV_LEN))
    allowed = everything()
    before = entropy(weights[:, 1:], allowed[1:]), mean_distance(weights[:, 1:], allowed[1:], expected=np.arange(1, 5))
    weights[:, 0] = 0
    for mask in (allowed, np.concatenate([~allowed[:1], allowed[1:]])):  # all zero, whatever the mask says
        np.testing.assert_array_equal(entropy(weights, mask), before[0])
        np.testing.assert_array_equal(mean_distance(weights, mask, expected=np.arange(Q_LEN)), before[1])


def test_padding_changes_nothing():
    weights = softmax_rows((HEADS, 3, 5), seed=1)
    padded = np.zeros((HEADS, 7, 11))
    padded[:, :3, :5] = weights
    padded[:, 3:, :5] = 0.2  # a padded query looks somewhere too
    allowed = np.zeros((7, 11), dtype=bool)
    allowed[:, :5] = True
    real = np.arange(7) < 3
    expected = proportional_diagonal(3, 5)
    padded_expected = np.concatenate([expected, np.zeros(4)])
    np.testing.assert_array_equal(entropy(padded, allowed, real=real), entropy(weights, everything(3, 5)))
    np.testing.assert_allclose(
        mean_distance(padded, allowed, expected=padded_expected, real=real),
        mean_distance(weights, everything(3, 5), expected=expected),
        atol=1e-15,
    )


def test_distance_by_hand():
    weights = np.array([[[0.5, 0, 0.5], [0, 1, 0]], [[0, 0, 1], [1, 0, 0]]])
    # own position: head 1: (0.5·0 + 0.5·2, 0) → 0.5; head 2: (2, 1) → 1.5
    np.testing.assert_allclose(mean_distance(weights, everything(2, 3), expected=np.arange(2)), [0.5, 1.5])
    # diagonal of 2 rows over 3 keys: 0 and 2; head 1: (1, 1) → 1; head 2: (2, 2) → 2
    diagonal = proportional_diagonal(2, 3)
    np.testing.assert_allclose(mean_distance(weights, everything(2, 3), expected=diagonal), [1, 2])


def test_distance_of_shifted_heads():
    identity, previous = np.eye(7), np.eye(7, k=-1)
    causal = np.tril(np.ones((7, 7), dtype=bool))
    result = mean_distance(np.stack([identity, previous]), causal, expected=np.arange(7))
    np.testing.assert_array_equal(result, [0, 1])


def test_diagonal_runs_from_corner_to_corner():
    np.testing.assert_allclose(proportional_diagonal(3, 5), [0, 2, 4])
    np.testing.assert_allclose(proportional_diagonal(4, 3), [0, 2 / 3, 4 / 3, 2])
    np.testing.assert_array_equal(proportional_diagonal(7, 7), np.arange(7))
    np.testing.assert_array_equal(proportional_diagonal(1, 5), [0])
    np.testing.assert_array_equal(proportional_diagonal(3, 1), [0, 0, 0])
    assert proportional_diagonal(0, 5).shape == (0,)
    with pytest.raises(ValueError, match="3 and 0"):
        proportional_diagonal(3, 0)


@pytest.mark.parametrize(
    "weights, allowed, named",
    [
        (np.ones((2, 3)), np.ones((2, 3), dtype=bool), r"\(2, 3\)"),
        (np.ones((2, 3, 5)), np.ones((3, 7), dtype=bool), r"\(3, 5\).*\(3, 7\)"),
        (np.ones((2, 3, 5)), np.ones((3, 5)), "boolean.*float64"),
    ],
)
def test_wrong_shapes_are_refused(weights, allowed, named):
    with pytest.raises(ValueError, match=named):
        entropy(weights, allowed)


def test_wrong_lengths_are_refused():
    weights, allowed = softmax_rows((2, 3, 5)), everything(3, 5)
    with pytest.raises(ValueError, match=r"\(3\).*\(5,\)"):
        mean_distance(weights, allowed, expected=np.arange(5))
    with pytest.raises(ValueError, match=r"\(3\).*\(5,\)"):
        entropy(weights, allowed, real=np.ones(5, dtype=bool))


def test_the_answers_diagonal_leads_through_the_letters_and_ends_at_the_end():
    assert answer_diagonal(4, 7).tolist() == [0, 2.5, 5, 6]  # n aɪ t </s> from knight and its end
    assert answer_diagonal(2, 4, ended=False).tolist() == [0, 2]  # stopped at the limit: there is no row of the end
    assert answer_diagonal(1, 4).tolist() == [3]
