"""What the button "Train this one" gives, and how long one thread takes over it.

    python -m benchmarks.button [--tasks reverse dates pinyin spelling] [--seeds 1]

The model is 64 wide, with 2 + 2 layers and 8 heads on both sides; the recipe is `TrainingSettings.quick`. Seconds are
those of the processor, training and the final score apart; the score is that of the first 1,000 held-out examples.
"""

import argparse
import time

import torch

from attention import ModelConfig, StackConfig
from attention.jobs.training_service import NUM_EXAMPLES
from attention.tasks import get_task
from attention.training import TrainingSettings, advance, start
from attention.training.evaluation import evaluate

AIMS = {"reverse": (0.98, 6), "dates": (0.95, 30), "pinyin": (0.75, 25), "spelling": (0.45, 30)}  # share, seconds


def train(name: str, seed: int) -> tuple[float, float, float]:
    """Share of whole answers right, seconds of the steps, seconds of the score."""
    task = get_task(name)
    task.sample_batch(torch.Generator(), 1)  # the first batch of a process loads the data: not measured
    stack = StackConfig(64, 8, num_layers=2)
    sizes = {"src_vocab_size": len(task.src_vocab), "tgt_vocab_size": len(task.tgt_vocab)}
    settings = TrainingSettings.quick(task, ModelConfig(stack, stack, bias=True, **sizes), seed)
    began = time.process_time()
    state = advance(start(settings), settings.num_steps)
    trained = time.process_time()
    scores = evaluate(state.model(), task, task.held_out(NUM_EXAMPLES))
    return scores.sequence_accuracy, trained - began, time.process_time() - trained


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--tasks", nargs="+", choices=AIMS, default=list(AIMS))
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{'':10}{'seed':>5}{'right':>8}{'aim':>6}{'seconds':>9}{'aim':>5}{'scoring':>9}")
    for name in options.tasks:
        share, aim = AIMS[name]
        for seed in range(options.seeds):
            right, seconds, scoring = train(name, seed)
            print(f"{name:10}{seed:5}{right:8.3f}{share:6.2f}{seconds:9.1f}{aim:5}{scoring:9.1f}", flush=True)


if __name__ == "__main__":
    main()
