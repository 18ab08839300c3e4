"""What is tried of the article's claims: what a decoder reads, the rank of its scores, keys beside the encoder's."""

from dataclasses import replace

import pytest
import torch

from attention import ConfigError, ModelConfig, StackConfig
from attention.experiments.beside import with_slots_beside
from attention.experiments.score_rank import score_rank
from attention.experiments.what_is_read import Read, what_is_read

REUSED = ModelConfig(StackConfig(24, 8, 3), StackConfig(20, 4, 3), kv="grouped", kv_variant="drop")


@pytest.mark.parametrize("heads", [1, 2, 4, 8])
def test_of_dropped_heads_only_the_first_are_read(heads):
    config = replace(REUSED, decoder=StackConfig(20, heads, 3))
    assert what_is_read(config) == Read(handed_over=8, read=heads)


@pytest.mark.parametrize("heads", [1, 2, 4, 8])
def test_pooled_heads_and_the_numbers_of_a_memory_are_all_read(heads):
    pooled = replace(REUSED, decoder=StackConfig(20, heads, 3), kv_variant="pool")
    assert what_is_read(pooled) == Read(8, 8)
    textbook = replace(pooled, kv="reproject", kv_variant=None)
    assert what_is_read(textbook) == Read(24, 24)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ConfigError):
        what_is_read(replace(REUSED, kv="direct", kv_variant=None))


@pytest.mark.parametrize("head_dim", [3, 16, 32, 64])
def test_scores_have_the_rank_of_the_head_size(head_dim):
    found = score_rank(head_dim, tokens=41, seed=head_dim)
    assert (found.of_scores, found.zeros) == (min(head_dim, 41), 0)
    assert found.of_weights > found.of_scores or head_dim == 64


def test_a_rank_is_that_of_singular_values_worked_out_by_hand():
    generator = torch.Generator().manual_seed(2)
    q, k = (torch.randn(1, 1, 17, 5, generator=generator, dtype=torch.float64)[0, 0] for _ in "qk")
    values = torch.linalg.eigvalsh(k @ q.T @ q @ k.T)  # squares of the singular values
    assert int((values > 1e-9).sum()) == score_rank(5, 17, seed=2).of_scores == 5


@pytest.mark.parametrize(("handed", "asking"), [(8, 16), (8, 8), (1, 16), (16, 8), (3, 1)])
def test_slots_beside_the_source_change_no_number_of_heads(handed, asking):
    config = ModelConfig(StackConfig(24, handed, 3), StackConfig(20, asking, 3), kv="direct", num_slots=7)
    found = with_slots_beside(config, src_len=5)
    assert found.keys == (1, handed, 12, 3)
    assert (found.error == "") == (handed in (1, asking) or asking == 1)
