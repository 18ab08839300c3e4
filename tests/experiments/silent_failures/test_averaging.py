"""What is left of the heads when their maps are averaged."""

import math

import numpy as np
import pytest
import torch
from silent_numbers import numbers
from torch import nn

from attention.experiments.silent_failures.averaging import averaged_maps
from attention.experiments.silent_failures.shipped_model import (
    shipped_model,
)


def test_the_averaged_map_is_what_pytorch_returns():
    """`nn.MultiheadAttention` with the weights of the encoder's last layer, and its default."""
    failure = averaged_maps("knight")
    model, task = shipped_model("spelling")
    layer = model.encoder.layers[-1]
    mine, mha = layer.attention, nn.MultiheadAttention(64, 4, batch_first=True)
    with torch.no_grad():
        mha.in_proj_weight.copy_(torch.cat([mine.w_q.weight, mine.w_k.weight, mine.w_v.weight]))
        mha.in_proj_bias.copy_(torch.cat([mine.w_q.bias, mine.w_k.bias, mine.w_v.bias]))
        x = model.encoder.embedding(torch.tensor([task.encode_source(tuple("knight"))]))
        x, _ = model.encoder.layers[0](x, torch.ones(1, 1, 1, 7, dtype=torch.bool), True, None)
        x = layer.norm_attention(x)
        _, average = mha(x, x, x)
        _, heads = mha(x, x, x, average_attn_weights=False)
    np.testing.assert_allclose(failure.maps[-1].values, average[0], atol=1e-5)
    for shown, head in zip(failure.maps[:-1], heads[0], strict=True):
        np.testing.assert_allclose(shown.values, head, atol=1e-5)

    def entropy(rows):
        return float(-(rows * rows.log()).sum(-1).mean() / math.log(7))

    found = numbers(failure)
    per_head = [entropy(head) for head in heads[0]]
    assert found["entropy_mean"] == (
        pytest.approx(np.mean(per_head), abs=1e-4),
        pytest.approx(entropy(average[0]), abs=1e-4),
    )
    assert found["peak"] == (
        pytest.approx(float(heads.amax(-1).mean()), abs=1e-5),
        pytest.approx(float(average.amax(-1).mean()), abs=1e-5),
    )
    missed = [[int(head[row].argmax()) != int(average[0, row].argmax()) for row in range(7)] for head in heads[0]]
    assert found["rows_missed"] == (0, pytest.approx(np.mean(missed)))
    sharpest = int(np.argmin(per_head))
    assert found["rows_missed_sharpest"] == (0, pytest.approx(np.mean(missed[sharpest])))
    assert dict(failure.facts)["sharpest"] == sharpest + 1


def test_an_average_is_never_sharper():
    """The entropy of a mean is at least the mean of the entropies (it is concave), and its peaks are no higher."""
    for word in ("knight", "box", "attention"):
        found = numbers(averaged_maps(word))
        assert found["entropy_mean"][0] < found["entropy_mean"][1]
        assert found["peak"][0] > found["peak"][1]
