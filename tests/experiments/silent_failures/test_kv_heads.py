"""Decoder heads on the wrong keys: one head for all, and heads handed out in turn."""

import itertools

import numpy as np
import pytest
import torch
from silent_numbers import numbers
from torch import nn

from attention import EncoderDecoder, ModelConfig, StackConfig
from attention.experiments.silent_failures.kv_heads import broadcast_head, tiled_kv
from attention.experiments.silent_failures.shipped_model import (
    batch_of,
)
from attention.tasks import get_task


@pytest.mark.parametrize("seed", range(5))
def test_one_kv_head_makes_heads_alike(seed):
    found = numbers(broadcast_head(seed=seed))
    assert found["distinct_kv_heads"] == (8, 1)
    own, one = found["output_likeness"]
    assert abs(own) < 0.2 and one > 0.6


def test_likeness_pair_by_pair():
    failure = broadcast_head("level", num_heads=3, head_dim=5, seed=1)
    task = get_task("reverse")
    encoder, decoder = StackConfig(64, 1, 5), StackConfig(64, 3, 5)
    config = ModelConfig(encoder, decoder, kv="direct", src_vocab_size=29, tgt_vocab_size=29)
    model, batch = EncoderDecoder(config, seed=1), batch_of(task, ["level"])
    with torch.no_grad():
        weights = model(batch.src_ids, batch.tgt_in).maps.cross[-1][0].double()
        v = model.encode(batch.src_ids).memory.v[0, 0].double()
    outputs = [(head @ v).flatten() for head in weights]
    cosines = [nn.functional.cosine_similarity(a, b, dim=0).item() for a, b in itertools.combinations(outputs, 2)]
    assert numbers(failure)["output_likeness"][1] == pytest.approx(np.mean(cosines), abs=1e-5)
    assert failure.maps[1].values[0, 1] == pytest.approx(cosines[0], abs=1e-5)


def test_half_of_four_heads_are_misled():
    failure = tiled_kv()
    assert numbers(failure)["heads_misled"] == (0, 2)
    assert numbers(failure)["output_difference"][1] > 0.5
    right, wrong = failure.maps
    assert right.values.tolist() == [[1, 0], [1, 0], [0, 1], [0, 1]]
    assert wrong.values.tolist() == [[1, 0], [0, 1], [1, 0], [0, 1]]


@pytest.mark.parametrize(("heads", "kv_heads"), [(5, 5), (5, 1)])
def test_equal_counts_and_a_single_kv_head_hide_the_fault(heads, kv_heads):
    found = numbers(tiled_kv(heads, kv_heads))
    assert found["heads_misled"] == (0, 0)
    assert found["output_difference"][1] < 1e-5


def test_heads_that_do_not_divide_are_refused():
    with pytest.raises(ValueError, match=r"5.*multiple.*3"):
        tiled_kv(5, 3)
