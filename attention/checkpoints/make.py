"""Make the models that ship: `python -m attention.checkpoints.make [NAME ...]`, all of them without a name.

One model after the other, on one thread: on the same kind of processor, with the same version of PyTorch, the same
files come out again.
"""

import argparse
import time
from pathlib import Path

import torch

from attention.checkpoints import DIRECTORY, Card, save
from attention.config import ModelConfig, StackConfig
from attention.evaluation import evaluate
from attention.model import EncoderDecoder
from attention.tasks import get_task
from attention.training import TrainingSettings, advance, start

WIDTH = 64
# (encoder heads, their size), (decoder heads, their size), how these get their K/V
HEADS = (
    ((4, 16), (4, 16), "reproject"),
    ((4, 16), (8, 8), "reproject"),
    ((8, 8), (8, 8), "reproject"),
    ((8, 8), (16, 4), "reproject"),  # more heads, same total width
    ((8, 8), (16, 8), "reproject"),  # more heads, same head size
)
# The encoder's own per-head K/V, reused: as they are, and adapted to twice as many decoder heads in three ways.
REUSED = (
    ((8, 8), (8, 8), "direct"),
    ((8, 8), (16, 8), "projection"),
    ((8, 8), (16, 8), "grouped"),
    ((8, 8), (16, 8), "extra"),
)
RECIPES = {
    "spelling": {"num_steps": 12_000, "batch_size": 128, "learning_rate": 6e-3, "weight_decay": 0.1},
    "reverse": {"num_steps": 1_000, "batch_size": 64},
    "dates": {"num_steps": 600, "batch_size": 64, "learning_rate": 6e-3},
    "pinyin": {"num_steps": 1_200, "batch_size": 128, "learning_rate": 4e-3, "embedding_rate": 10.0},
}


def recipes() -> dict[str, TrainingSettings]:
    """Settings of every model that ships, by name."""
    wanted = [(task, *heads) for task in RECIPES for heads in HEADS] + [("spelling", *heads) for heads in REUSED]
    return dict(_recipe(*model) for model in wanted)


def _recipe(task: str, enc: tuple[int, int], dec: tuple[int, int], kv: str) -> tuple[str, TrainingSettings]:
    config = ModelConfig(
        encoder=StackConfig(WIDTH, *enc),
        decoder=StackConfig(WIDTH, *dec),
        kv=kv,
        src_vocab_size=len(get_task(task).src_vocab),
        tgt_vocab_size=len(get_task(task).tgt_vocab),
        bias=True,
    )
    name = f"{task}-{enc[0]}x{enc[1]}-{dec[0]}x{dec[1]}" + (f"-{kv}" if kv != "reproject" else "")
    return name, TrainingSettings(task, config, **RECIPES[task])


def train(name: str, settings: TrainingSettings) -> EncoderDecoder:
    """Train to the end, with a line now and then."""
    state, began = start(settings), time.perf_counter()
    while not state.done:
        state = advance(state, max(settings.num_steps // 10, 1))
        recent = state.history[-100:]
        loss = sum(moment.loss for moment in recent) / len(recent)
        seconds = time.perf_counter() - began
        print(f"{name}: step {state.step:,}, loss {loss:.3f}, {seconds:.0f} s", flush=True)
    return state.model()


def round_to_16_bit(model: EncoderDecoder) -> EncoderDecoder:
    """The model as it will be after saving and loading."""
    halved = {name: tensor.half() for name, tensor in model.state_dict().items()}
    return EncoderDecoder.with_weights(model.config, halved)


def make(name: str, settings: TrainingSettings, directory: Path = DIRECTORY) -> None:
    """Train, round, score and save one model."""
    task = get_task(settings.task)
    model = train(name, settings)
    exact, scores = (evaluate(m, task, task.held_out()) for m in (model, round_to_16_bit(model)))
    for bits, found in ((32, exact), (16, scores)):
        print(f"{name}: {bits} bit: tokens {found.token_accuracy:.4f}, sequences {found.sequence_accuracy:.4f}")
    for layer, heads in enumerate(scores.alignment, start=1):
        print(f"{name}: alignment of layer {layer}: {' '.join(f'{score:.2f}' for score in heads)}")
    print(f"{name}: diagonal {scores.diagonal:.2f}, same index {scores.same_index:.2f}", flush=True)
    save(model, Card(name, settings, scores, torch.__version__), directory)


def main() -> None:
    known = recipes()
    parser = argparse.ArgumentParser(description="Train the models that ship.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(known)}; none: all")
    names = parser.parse_args().names or list(known)
    if unknown := [name for name in names if name not in known]:
        parser.error(f"there is no model {unknown[0]}; there are {', '.join(known)}")
    torch.set_num_threads(1)
    for name in names:
        make(name, known[name])


if __name__ == "__main__":
    main()
