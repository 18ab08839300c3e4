"""The one function that computes attention weights: values by hand, masks, empty rows, dropout, both paths."""

import math

import pytest
import torch
from random_numbers import randn, random_mask

from attention.functional import (
    attend,
    attention_scores,
    attention_weights,
    causal_mask,
    dropout,
    merge_heads,
    share_kv_heads,
    split_heads,
)


def close(actual, expected, tolerance=1e-10):
    torch.testing.assert_close(actual, expected, rtol=0, atol=tolerance)


def test_a_value_worked_out_by_hand():
    # One head of size 4, one query, two keys. Scores: 2·ln 3 / √4 = ln 3 and 0, so the weights are 3/4 and 1/4.
    q = torch.tensor([[[[2 * math.log(3), 0, 0, 0]]]], dtype=torch.float64)
    k = torch.tensor([[[[1, 0, 0, 0], [0, 1, 0, 0]]]], dtype=torch.float64)
    v = torch.tensor([[[[8, 0], [0, 4]]]], dtype=torch.float64)
    close(attention_scores(q, k), torch.tensor([[[[math.log(3), 0]]]], dtype=torch.float64))
    output, weights = attend(q, k, v)
    close(weights, torch.tensor([[[[0.75, 0.25]]]], dtype=torch.float64))
    close(output, torch.tensor([[[[6.0, 1.0]]]], dtype=torch.float64))


def test_rows_are_queries_and_columns_are_keys():
    """Query 0 looks at key 2 and query 1 at key 0: (2 queries, 3 keys)."""
    q = 50 * torch.eye(3)[[2, 0]][None, None]
    weights = attention_weights(q, torch.eye(3)[None, None])
    assert weights.shape == (1, 1, 2, 3)
    close(weights[0, 0], torch.eye(3)[[2, 0]], 1e-6)


def test_splitting_gives_each_head_its_own_run_of_features():
    x = torch.arange(2 * 3 * 35).view(2, 3, 35)
    heads = split_heads(x, 7)
    assert heads.shape == (2, 7, 3, 5)
    for head in range(7):
        assert torch.equal(heads[:, head], x[:, :, 5 * head : 5 * head + 5])
    assert torch.equal(merge_heads(heads), x)


def test_shared_heads_come_in_runs():
    """0, 0, 1, 1 and not 0, 1, 0, 1."""
    x = torch.arange(2).view(1, 2, 1, 1).expand(3, 2, 5, 7)
    assert share_kv_heads(x, 4)[0, :, 0, 0].tolist() == [0, 0, 1, 1]
    assert share_kv_heads(x, 6)[0, :, 0, 0].tolist() == [0, 0, 0, 1, 1, 1]
    assert share_kv_heads(x, 2).shape == (3, 2, 5, 7)


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize(("heads", "kv_heads"), [(1, 3), (3, 2), (2, 3), (5, 3)])
def test_kv_heads_that_do_not_divide_the_query_heads_are_an_error_and_never_an_empty_answer(
    heads, kv_heads, need_weights
):
    q, k, v = randn(2, heads, 5, 7), randn(2, kv_heads, 11, 7), randn(2, kv_heads, 11, 13)
    with pytest.raises((ValueError, RuntimeError)):
        attend(q, k, v, need_weights=need_weights)


def test_the_causal_mask_says_who_may_attend():
    assert causal_mask(3).tolist() == [[True, False, False], [True, True, False], [True, True, True]]


def test_under_the_causal_mask_the_first_row_sees_only_itself_and_nothing_looks_ahead():
    q, k = randn(2, 3, 3, 5), randn(2, 3, 3, 5, seed=1)
    weights = attention_weights(q, k, causal_mask(3))
    assert weights.shape == (2, 3, 3, 3)
    close(weights[:, :, 0], torch.tensor([1.0, 0.0, 0.0], dtype=torch.float64).expand(2, 3, 3))
    assert (weights.triu(1) == 0).all() and (weights.tril() + torch.ones(3, 3).triu(1) > 0).all()
    close(weights.sum(-1), torch.ones(2, 3, 3, dtype=torch.float64))


def test_a_masked_key_is_as_good_as_absent():
    q, k = randn(2, 3, 5, 7), randn(2, 3, 11, 7, seed=1)
    keep = torch.tensor([0, 2, 3, 7, 10])
    mask = torch.zeros(11, dtype=torch.bool)
    mask[keep] = True
    weights = attention_weights(q, k, mask.expand(1, 1, 1, 11))
    close(weights[..., keep], (q @ k[:, :, keep].mT / 7**0.5).softmax(-1))
    assert (weights[..., ~mask] == 0).all()


def test_weights_are_kept_apart_by_head():
    q, k, v = randn(5, 2, 3, 7), randn(5, 2, 3, 7, seed=1), randn(5, 2, 3, 7, seed=2)
    _, weights = attend(q, k, v)
    assert weights.shape == (5, 2, 3, 3)
    for head in range(2):
        one = slice(head, head + 1)
        close(weights[:, one], attend(q[:, one], k[:, one], v[:, one])[1])
    assert not torch.allclose(weights[:, 0], weights[:, 1])


def test_huge_scores_stay_finite():
    weights = attention_weights(torch.full((1, 1, 2, 3), 1e18), torch.full((1, 1, 5, 3), 1e18), causal_mask(5)[:2])
    assert weights.isfinite().all()
    close(weights.sum(-1), torch.ones(1, 1, 2))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_masked_and_empty_rows_are_finite_in_every_precision(dtype):
    """Left padding under a causal mask leaves row 0 without a key."""
    q, k, v = (randn(1, 2, 3, 5, seed=seed).to(dtype) for seed in range(3))
    mask = causal_mask(3) & torch.tensor([False, True, True])
    output, weights = attend(q, k, v, mask)
    assert output.isfinite().all() and weights.isfinite().all()
    assert (weights[:, :, 0] == 0).all() and (weights[:, :, :, 0] == 0).all() and (output[:, :, 0] == 0).all()
    close(weights[:, :, 1, 1], torch.ones(1, 2, dtype=dtype))


@pytest.mark.parametrize("need_weights", [True, False])
def test_an_empty_row_is_zero_and_harms_no_gradient(need_weights):
    q, k, v = (randn(2, 3, length, 7, seed=length).requires_grad_() for length in (5, 11, 11))
    mask = random_mask(2, 1, 5, 11)
    mask[1] = False  # a whole sequence of padding
    mask[0, 0, 3] = False  # and one row of the other
    with torch.autograd.set_detect_anomaly(True):  # raises where a NaN turns up anywhere on the way back
        output, _ = attend(q, k, v, mask, need_weights=need_weights)
        loss = output.square().sum()
        loss.backward()
    assert (output[1] == 0).all() and (output[0, :, 3] == 0).all() and (output[0, :, 0] != 0).all()
    assert loss.isfinite()
    for tensor in (q, k, v):
        assert tensor.grad.isfinite().all() and (tensor.grad[1] == 0).all()
    assert (q.grad[0, :, 3] == 0).all() and (q.grad[0, :, 0] != 0).any()


@pytest.mark.parametrize("mask_shape", [None, (5, 11), (2, 1, 1, 11), (2, 1, 5, 11), (2, 6, 5, 11)])
@pytest.mark.parametrize("kv_heads", [1, 2, 3, 6])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-10), (torch.float32, 1e-5)])
def test_the_explicit_and_the_fused_path_agree_in_output_and_gradients(mask_shape, kv_heads, dtype, tolerance):
    mask = None if mask_shape is None else random_mask(*mask_shape)
    results = []
    for need_weights in (True, False):
        q = randn(2, 6, 5, 7).to(dtype).requires_grad_()
        k, v = (randn(2, kv_heads, 11, size, seed=size).to(dtype).requires_grad_() for size in (7, 13))
        output, weights = attend(q, k, v, mask, need_weights=need_weights)
        assert output.shape == (2, 6, 5, 13) and (weights is not None) == need_weights
        (output * randn(2, 6, 5, 13, seed=9).to(dtype)).sum().backward()
        results.append((output.detach(), q.grad, k.grad, v.grad))
    for explicit, fused in zip(*results, strict=True):
        close(explicit, fused, tolerance)


def test_with_one_key_the_weight_is_1_also_while_dropout_rescales():
    """Weights above 1 would be those after dropout: 1 / (1 − 0.2) = 1.25."""
    q, k, v = randn(13, 3, 7, 5), randn(13, 3, 1, 5, seed=1), randn(13, 3, 1, 11, seed=2)
    output, weights = attend(q, k, v, dropout_p=0.2, generator=torch.Generator().manual_seed(0))
    close(weights, torch.ones(13, 3, 7, 1, dtype=torch.float64))
    factor = output / v
    kept = factor != 0
    close(factor[kept], torch.full_like(factor[kept], 1.25))
    assert (kept == kept[..., :1]).all()  # a dropped weight drops the whole value
    share = 1 - kept[..., 0].double().mean().item()
    assert abs(share - 0.2) < 4 * math.sqrt(0.2 * 0.8 / (13 * 3 * 7))  # four standard deviations


def test_dropout_leaves_weights_unseen_on_request_and_outputs_the_same():
    q, k, v = randn(2, 3, 5, 7), randn(2, 3, 11, 7, seed=1), randn(2, 3, 11, 7, seed=2)

    def run(need_weights):
        generator = torch.Generator().manual_seed(3)
        return attend(q, k, v, need_weights=need_weights, dropout_p=0.5, generator=generator)

    (seen, weights), (unseen, none) = run(True), run(False)
    assert torch.equal(seen, unseen) and none is None
    close(weights.sum(-1), torch.ones(2, 3, 5, dtype=torch.float64))
    close(weights, attend(q, k, v)[1])
    assert not torch.allclose(seen, attend(q, k, v)[0])


def test_dropout_keeps_the_mean_and_rescales_what_it_keeps():
    x = torch.ones(101, 103, dtype=torch.float64)
    dropped = dropout(x, 0.3, torch.Generator().manual_seed(0))
    assert set(dropped.unique().tolist()) == {0.0, 1 / 0.7}
    assert abs(dropped.mean().item() - 1) < 4 * math.sqrt(0.3 / 0.7 / x.numel())
    assert dropout(x, 0.3, None) is x and dropout(x, 0.0, torch.Generator()) is x


@pytest.mark.parametrize("need_weights", [True, False])
def test_without_a_generator_nothing_is_dropped(need_weights):
    q, k, v = randn(2, 3, 5, 7), randn(2, 3, 11, 7, seed=1), randn(2, 3, 11, 7, seed=2)
    close(attend(q, k, v, need_weights=need_weights, dropout_p=0.9)[0], attend(q, k, v)[0])
