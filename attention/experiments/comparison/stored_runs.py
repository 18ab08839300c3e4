"""The results that ship with the app: one comparison of the fixes and one head-count sweep, made by the commands

    python -m attention.compare --task spelling --enc-heads 8 --dec-heads 16 --keep size --seeds 5 --steps 700 \\
        --out attention/experiments/comparison/stored/fixes-spelling-8-16-size.csv
    python -m attention.compare --sweep --task reverse --enc-heads 8 --seeds 5 --steps 200 \\
        --out attention/experiments/comparison/stored/sweep-reverse-8.csv
"""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from statistics import mean

import numpy as np

from attention.experiments.comparison.arms import Arm, Comparison, fixes, sweep
from attention.experiments.comparison.finished_runs import FinishedRun, read_rows, settings_columns
from attention.shapes.costs import num_parameters
from attention.tasks import get_task
from attention.training import TrainingSettings

DIRECTORY = Path(__file__).parent / "stored"
FIXES = Comparison("spelling", enc_heads=8, dec_heads=16, keep="size", num_seeds=5, num_steps=700)
SWEEP = Comparison("reverse", enc_heads=8, num_seeds=5, num_steps=200)
FILES = {"fixes": "fixes-spelling-8-16-size.csv", "sweep": "sweep-reverse-8.csv"}
# What makes two runs the same experiment, whatever else of the recipe has changed since a result was stored.
WHAT = ("task", "num_steps", "num_examples", "kv", "kv_variant")
NUM_TYPICAL = 100  # examples, from which lengths are judged
SHAPE = ("d_model", "num_heads", "head_dim", "num_layers", "num_kv_heads")


@cache
def all_stored(kind: str) -> tuple[FinishedRun, ...]:
    """All runs of the stored result "fixes" or "sweep"; none where it was not made."""
    path = DIRECTORY / FILES[kind]
    if not path.exists():
        return ()
    return tuple(read_rows(path.read_text(encoding="utf-8"), path.name))


def stored_for(comparison: Comparison, arms: Iterable[Arm], kind: str) -> list[FinishedRun]:
    """The stored runs of this very experiment, arm by arm; none if another one was stored."""
    rows = {}
    for row in all_stored(kind):
        rows.setdefault(_experiment(row.settings), []).append(row)
    found = []
    for arm in arms:
        if not arm.error:
            columns = settings_columns(comparison.settings(arm, 0), comparison.num_examples)
            found += [FinishedRun(arm.name, row.settings, row.results) for row in rows.get(_experiment(columns), ())]
    return found


def expected_seconds(settings: TrainingSettings) -> float:
    """Seconds of one processor core that a training takes on a machine like that of the stored results, roughly.

    Judged by its weights, tokens and steps, as the stored runs took them. What the vocabularies add is left out.
    """
    return float(_work(settings) @ _seconds_of_work())


@cache
def _seconds_of_work() -> np.ndarray:
    """Seconds per weight and token, and per step: least squares over all stored runs, relative to what each took."""
    work, seconds = [], []
    for kind, comparison, arms in (("fixes", FIXES, fixes(FIXES)), ("sweep", SWEEP, sweep(SWEEP))):
        for arm in arms:
            for row in stored_for(comparison, [arm], kind):
                work.append(_work(comparison.settings(arm, row.seed)))
                seconds.append(row.results.seconds)
    relative = np.array(work) / np.array(seconds)[:, None]
    return np.linalg.lstsq(relative, np.ones(len(relative)), rcond=None)[0]


def _work(settings: TrainingSettings) -> np.ndarray:
    """Weights that each token meets, times tokens; and steps. (Counting multiply-adds takes long, and says no more.)"""
    config, tokens = settings.config, settings.batch_size * _typical_length(settings.task)
    embeddings = config.src_vocab_size * config.encoder.d_model + config.tgt_vocab_size * config.decoder.d_model
    return np.array([float(num_parameters(config) - embeddings) * tokens, 1.0]) * settings.num_steps


@cache
def _typical_length(task: str) -> float:
    """Mean tokens of a source and of a target, with their end. A batch would load all that training draws from."""
    examples = get_task(task).examples_of("validation", NUM_TYPICAL)
    return 1 + mean(len(side) for example in examples for side in (example.source, example.targets[0]))


def _experiment(settings: Mapping[str, str]) -> tuple[str, ...]:
    names = (*WHAT, *(f"{side}_{name}" for side in ("enc", "dec") for name in SHAPE))
    return tuple(settings.get(name, "") for name in names)
