"""One of the models that ship, from its settings to its file."""

import time
from pathlib import Path

import torch

from attention.model import EncoderDecoder
from attention.tasks import get_task
from attention.training import TrainingSettings, advance, start
from attention.training.evaluation import evaluate_apart
from attention.training.stored import Card, CheckpointError, load_weights, read_card, save


def is_made(name: str, settings: TrainingSettings, directory: Path) -> bool:
    """Whether its file is there, can be loaded, and was trained with just these settings."""
    path = directory / f"{name}.safetensors"
    try:
        load_weights(path, settings.config)
        return read_card(path).settings == settings
    except CheckpointError:
        return False


def make(name: str, settings: TrainingSettings, directory: Path) -> None:
    """Train, round, score and save one model."""
    torch.set_num_threads(1)  # the same bits on every machine size
    began = time.perf_counter()
    task = get_task(settings.task)
    model = round_to_16_bit(train(name, settings))
    trained = time.perf_counter()
    scores, apart = evaluate_apart(model, task, task.held_out())
    save(model, Card(name, settings, scores, torch.__version__, apart), directory)
    print(
        f"{name}: {scores.sequence_accuracy:.1%} of {scores.num_examples:,} test examples right, "
        f"{(trained - began) / 60:.1f} minutes of training, {(time.perf_counter() - trained) / 60:.1f} of scoring",
        flush=True,
    )


def train(name: str, settings: TrainingSettings) -> EncoderDecoder:
    """Train to the end, with a line now and then."""
    state, began = start(settings), time.perf_counter()
    while not state.done:
        state = advance(state, max(settings.num_steps // 10, 1))
        recent = state.history[-100:]
        loss = sum(report.loss for report in recent) / len(recent)
        seconds = time.perf_counter() - began
        print(f"{name}: step {state.step:,}, loss {loss:.3f}, {seconds:.0f} s", flush=True)
    return state.model()


def round_to_16_bit(model: EncoderDecoder) -> EncoderDecoder:
    """The model as it will be after saving and loading."""
    halved = {name: tensor.half() for name, tensor in model.state_dict().items()}
    return EncoderDecoder.with_weights(model.config, halved)
