"""Inverted masks and forgotten scales."""

import math

import numpy as np
import pytest
import torch
from silent_numbers import numbers

from attention.experiments.silent_failures.scores import forget_scale, inverted_mask, run_with_masks, unscaled_scores
from attention.experiments.silent_failures.shipped_model import (
    batch_of,
    shipped_model,
)
from attention.functional import attention_weights


def test_inverted_masks_look_only_where_they_should_not():
    failure = inverted_mask()
    found = numbers(failure)
    assert found["on_future"] == found["on_padding"] == (0, pytest.approx(1, abs=1e-6))
    for accuracy in ("letters_right_causal", "letters_right_padding"):
        right, wrong = found[accuracy]
        assert right == 1.0 and wrong < 0.1
    right, wrong = failure.maps
    assert np.array_equal(right.allowed, np.tril(np.ones((7, 7), bool)))
    assert np.array_equal(wrong.allowed, ~right.allowed)
    np.testing.assert_allclose(right.values[0], [1, 0, 0, 0, 0, 0, 0], atol=1e-6)
    np.testing.assert_allclose(wrong.values.sum(1), [1, 1, 1, 1, 1, 1, 0], atol=1e-6)  # the last row has no key


def test_the_run_with_masks_is_the_model_when_the_masks_are_its_own():
    model, task = shipped_model()
    batch = batch_of(task, ("ox", "knight"))
    padding = (batch.src_ids != 0)[:, None, None, :]
    causal = torch.ones(7, 7, dtype=torch.bool).tril() & (batch.tgt_in != 0)[:, None, None, :]
    with torch.no_grad():
        run, out = run_with_masks(model, batch, padding, causal), model(batch.src_ids, batch.tgt_in)
    torch.testing.assert_close(run.logits, out.logits, rtol=0, atol=1e-5)
    for mine, models in ((run.own, out.maps.decoder), (run.cross, out.maps.cross)):
        torch.testing.assert_close(tuple(mine), models, rtol=0, atol=1e-5)


def test_entropy_stays_with_the_scale_and_falls_without():
    failure = unscaled_scores()
    lines = {name: values.tolist() for name, values in failure.curve.lines}
    assert failure.curve.x == (4, 8, 16, 32, 64)
    assert all(0.835 < entropy < 0.855 for entropy in lines["scaled"])
    assert lines["unscaled"] == sorted(lines["unscaled"], reverse=True)
    assert lines["unscaled"][0] == pytest.approx(0.62, abs=0.015)
    assert lines["unscaled"][-1] == pytest.approx(0.15, abs=0.01)
    right, wrong = numbers(failure)["letters_right"]
    assert right == 1.0 and wrong < 0.8


def test_entropy_of_other_random_numbers():
    rng = np.random.default_rng(1)
    q, k = rng.normal(size=(3000, 1, 16)), rng.normal(size=(3000, 12, 16))
    scores = (q * k).sum(-1)
    curve = {name: values.tolist()[2] for name, values in unscaled_scores().curve.lines}
    for name, divisor in (("scaled", 4), ("unscaled", 1)):
        weights = np.exp(scores / divisor)
        weights /= weights.sum(1, keepdims=True)
        entropy = -(weights * np.log(weights)).sum(1).mean() / math.log(12)
        assert curve[name] == pytest.approx(entropy, abs=0.015)


def test_forgetting_the_scale_raises_each_weight_to_a_power():
    """exp(s) = exp(s/√d) to the √d: in the first layer, where the inputs are still the same, with d = 16."""
    model, task = shipped_model()
    ids = batch_of(task, ("knight",)).src_ids
    with torch.no_grad():
        before = model.encode(ids).recordings[0].weights.double()
        forget_scale(model)
        after = model.encode(ids).recordings[0].weights.double()
    expected = before**4 / (before**4).sum(-1, keepdim=True)
    torch.testing.assert_close(after, expected, rtol=0, atol=1e-5)


def test_every_kind_of_attention_forgets():
    model, _ = shipped_model()
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    with torch.no_grad():
        forget_scale(model)
    changed = {
        name.rsplit(".", 1)[0] for name, weight in model.state_dict().items() if not torch.equal(weight, before[name])
    }
    encoder = {f"encoder.layers.{layer}.attention.w_q" for layer in range(2)}
    decoder = {f"decoder.layers.{layer}.{part}.w_q" for layer in range(2) for part in ("attention", "cross")}
    assert changed == encoder | decoder


def test_attention_on_zero_scores_is_a_row_of_the_mask():
    """What the demonstrations rest on: one convention of masks, True = may look."""
    zeros = torch.zeros(1, 1, 3, 2)
    causal = torch.ones(3, 3, dtype=torch.bool).tril()
    assert attention_weights(zeros, zeros, causal)[0, 0, 0].tolist() == [1, 0, 0]
    assert attention_weights(zeros, zeros, ~causal)[0, 0].tolist() == [[0, 0.5, 0.5], [0, 0, 1], [0, 0, 0]]
