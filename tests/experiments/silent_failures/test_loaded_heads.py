"""Weights of 8 heads in other head counts."""

import pytest
from safetensors.torch import load_file
from silent_numbers import numbers

from attention import EncoderDecoder
from attention.checkpoints import DIRECTORY
from attention.experiments.silent_failures.loaded_heads import loaded_head_counts
from attention.experiments.silent_failures.shipped_model import (
    NUM_HELD_OUT,
    config_for,
)
from attention.tasks import get_task
from attention.training.evaluation import evaluate


def test_accuracy_falls_on_both_sides_of_the_trained_head_count():
    failure = loaded_head_counts()
    one, four, eight, sixteen, thirty_two, sixty_four = failure.curve.lines[0][1].tolist()
    assert failure.curve.x == (1, 4, 8, 16, 32, 64) and failure.curve.marked == 8
    assert one < four < eight == 1.0 > sixteen > thirty_two > sixty_four
    assert one < 0.5 and sixty_four < 0.5  # as in any other training of this task
    assert numbers(failure)["letters_right_at", 16] == (1.0, pytest.approx(sixteen, abs=1e-6))


def test_accuracy_of_sixteen_heads_as_models_are_scored_elsewhere():
    task = get_task("reverse")
    model = EncoderDecoder(config_for(task, 16))
    stored = load_file(DIRECTORY / "reverse-4x16-8x8.safetensors")
    model.load_state_dict({name: weight.float() for name, weight in stored.items()}, strict=True)
    scores = evaluate(model.eval(), task, task.held_out(NUM_HELD_OUT))
    assert numbers(loaded_head_counts((16,)))["letters_right_at", 16][1] == pytest.approx(
        scores.token_accuracy, abs=1e-3
    )
