"""A few steps of what the page's button does teach each task something."""

from dataclasses import replace

import pytest
import torch

from attention import EncoderDecoder, ModelConfig, StackConfig
from attention.tasks import get_task
from attention.training import TrainingSettings, advance, start
from attention.training.evaluation import evaluate


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "num_steps", "least"),
    [
        ("dates", 60, 0.35),  # eleven tokens, of which always saying the most frequent one gives 0.25
        ("pinyin", 150, 0.05),  # the most frequent of 1,191 syllables is right for 0.02
    ],
)
def test_a_few_quick_steps_are_far_above_chance(name, num_steps, least):
    task = get_task(name)
    config = ModelConfig(
        StackConfig(64, 4, num_layers=1), StackConfig(64, 8, num_layers=1),
        src_vocab_size=len(task.src_vocab), tgt_vocab_size=len(task.tgt_vocab), bias=True,
    )  # fmt: skip
    quick = replace(TrainingSettings.quick(task, config), num_steps=num_steps, warmup=10, batch_size=64)
    model = advance(start(quick), num_steps).model()
    untrained = evaluate(EncoderDecoder(config), task, task.held_out(100))
    scores = evaluate(model, task, task.held_out(100))
    assert untrained.token_accuracy < least / 2
    assert scores.token_accuracy > least


def test_embeddings_can_learn_faster_than_the_rest():
    """Adam's first step is as long as the learning rate, so the two rates are seen in what the first step changes."""
    config = ModelConfig(StackConfig(22, 2, num_layers=1), StackConfig(26, 13, num_layers=1), src_vocab_size=29,
                         tgt_vocab_size=29)  # fmt: skip
    settings = TrainingSettings("reverse", config, num_steps=9, batch_size=7, warmup=0, weight_decay=0.0)
    before = start(settings).weights
    usual = advance(start(settings), 1).weights
    faster = advance(start(replace(settings, embedding_rate=7.0)), 1).weights
    for name, weight in before.items():
        if name.endswith("embedding.tokens.weight"):
            torch.testing.assert_close(faster[name] - weight, 7 * (usual[name] - weight), atol=1e-5, rtol=1e-4)
        else:
            assert torch.equal(faster[name], usual[name])


def test_a_negative_rate_is_refused():
    config = ModelConfig(StackConfig(22, 2), StackConfig(26, 13), src_vocab_size=29, tgt_vocab_size=29)
    with pytest.raises(ValueError, match=r"embedding_rate \(-1\) must not be negative"):
        TrainingSettings("reverse", config, num_steps=9, batch_size=7, embedding_rate=-1)
