"""Make the models that ship, and their index: `python -m attention.checkpoints.make`.

Two processes of one thread each, every model in one of them: on the same kind of processor, with the same version of
PyTorch, the same files come out again. What is there is skipped, so it can be stopped, and the same command goes on.
"""

import argparse
import os
from collections.abc import Mapping
from concurrent.futures import as_completed
from dataclasses import replace
from pathlib import Path

from attention.checkpoints import DIRECTORY
from attention.checkpoints.index import read_index, write_index
from attention.checkpoints.one_model import is_made, make
from attention.checkpoints.table import markdown_table
from attention.config import ModelConfig, StackConfig
from attention.tasks import get_task
from attention.training import TrainingSettings, own_process
from attention.training.stored import CheckpointError

WIDTH = 64
COUNTS = (1, 2, 4, 8, 16, 32)
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
PAIRS = tuple(((enc, WIDTH // enc), (dec, WIDTH // dec), "reproject") for enc in COUNTS for dec in COUNTS)
SAME_SIZE = tuple(((8, 8), (dec, 8), "reproject") for dec in COUNTS)
# One recipe for each task: shipped models are not there to be ranked.
RECIPES = {
    "spelling": {"num_steps": 1_500, "batch_size": 128, "matrix_rate": 1e-2, "weight_decay": 0.05},
    "reverse": {"num_steps": 1_000, "batch_size": 64},
    "dates": {"num_steps": 600, "batch_size": 64},
    "pinyin": {"num_steps": 1_200, "batch_size": 128, "learning_rate": 4e-3, "embedding_rate": 10.0},
}
# All that ship, in the order in which they are made; what stands here twice is made once.
MODELS = (
    *(("spelling", *heads) for heads in (*HEADS, *REUSED)),
    *((task, *heads) for task in RECIPES if task != "spelling" for heads in HEADS),
    *(("spelling", *heads) for heads in (*PAIRS, *SAME_SIZE)),
)


def recipes() -> dict[str, TrainingSettings]:
    """Settings of every model that ships, by name."""
    return dict(_recipe(*model) for model in MODELS)


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


def make_all(wanted: Mapping[str, TrainingSettings], directory: Path = DIRECTORY, num_workers: int = 2) -> list[str]:
    """Make those that are not there, and write the index anew after each.

    Returns:
        What went wrong, a line each.
    """
    import loky  # a process of its own kind: the standard library's run the main script again

    left = {name: settings for name, settings in wanted.items() if not is_made(name, settings, directory)}
    print(f"{len(wanted) - len(left)} of {len(wanted)} models are there", flush=True)
    executor = loky.ProcessPoolExecutor(num_workers, initializer=own_process.begin, initargs=(os.getpid(),))
    failed = []
    try:
        jobs = {executor.submit(make, name, settings, directory): name for name, settings in left.items()}
        for number, job in enumerate(as_completed(jobs), start=1):
            try:
                job.result()
                write_index(directory)
            except CheckpointError as error:
                failed.append(f"{jobs[job]} could not be made: {error}")
            print(f"{number} of {len(left)} done", flush=True)
    finally:
        executor.shutdown(kill_workers=True)
    return failed + [f"left out of the index: {reason}" for reason in write_index(directory)]


def main() -> None:
    known = recipes()
    parser = argparse.ArgumentParser(
        description="Train the models that ship, but for those that are there.",
        epilog=f"The models: {', '.join(known)}.",
        allow_abbrev=False,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these models")
    parser.add_argument("--workers", type=int, default=2, help="processes, each of one thread (default: 2)")
    parser.add_argument("--steps", type=int, help="so many instead of the recipe's, for a trial elsewhere")
    parser.add_argument("--to", type=Path, default=DIRECTORY, help="folder of the files (default: where they ship)")
    parser.add_argument("--table", action="store_true", help="print README's table of the models and make none")
    asked = parser.parse_args()
    if asked.table:
        print(markdown_table(entry.card for entry in read_index(asked.to)))
        return
    if asked.steps is not None and asked.to == DIRECTORY:
        parser.error("models of a trial do not ship: say with --to where they go")
    names = asked.names or list(known)
    if unknown := [name for name in names if name not in known]:
        parser.error(f"there is no model {unknown[0]}; there are {', '.join(known)}")
    wanted = {name: known[name] for name in known if name in names}
    if asked.steps is not None:
        wanted = {name: replace(settings, num_steps=asked.steps) for name, settings in wanted.items()}
    asked.to.mkdir(parents=True, exist_ok=True)
    try:
        failed = make_all(wanted, asked.to, asked.workers)
    except KeyboardInterrupt:
        parser.exit(130, "stopped; the same command goes on\n")
    if failed:
        parser.exit(1, "".join(f"{line}\n" for line in failed))


if __name__ == "__main__":
    main()
