"""The results that ship with the app: one comparison of the fixes and one head-count sweep, made by the commands

    python -m attention.compare --task spelling --enc-heads 8 --dec-heads 16 --keep size --seeds 5 --steps 600 \\
        --out attention/comparison/stored/fixes-spelling-8-16-size.csv
    python -m attention.compare --sweep --task reverse --enc-heads 8 --seeds 3 --steps 250 \\
        --out attention/comparison/stored/sweep-reverse-8.csv
"""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import numpy as np
import torch

from attention.comparison.arms import Arm, Comparison, fixes, sweep
from attention.comparison.costs import source_madds, target_madds
from attention.comparison.rows import Row, read_rows, settings_columns
from attention.tasks import get_task
from attention.training import TrainingSettings

DIRECTORY = Path(__file__).parent / "stored"
FIXES = Comparison("spelling", enc_heads=8, dec_heads=16, keep="size", num_seeds=5, num_steps=600)
SWEEP = Comparison("reverse", enc_heads=8, num_seeds=3, num_steps=250)
FILES = {"fixes": "fixes-spelling-8-16-size.csv", "sweep": "sweep-reverse-8.csv"}
# What makes two runs the same experiment, whatever else of the recipe has changed since a result was stored.
WHAT = ("task", "num_steps", "num_examples", "kv", "kv_variant")
SHAPE = ("d_model", "num_heads", "head_dim", "num_layers", "num_kv_heads")


@cache
def stored(kind: str) -> tuple[Row, ...]:
    """All rows of the stored result "fixes" or "sweep"; none where it was not made."""
    path = DIRECTORY / FILES[kind]
    if not path.exists():
        return ()
    return tuple(read_rows(path.read_text(encoding="utf-8"), path.name))


def stored_for(comparison: Comparison, arms: Iterable[Arm], kind: str) -> list[Row]:
    """The stored rows of this very experiment, arm by arm; none if another one was stored."""
    rows = {}
    for row in stored(kind):
        rows.setdefault(_experiment(row.settings), []).append(row)
    found = []
    for arm in arms:
        if not arm.error:
            columns = settings_columns(comparison.settings(arm, 0), comparison.num_examples)
            found += [Row(arm.name, row.settings, row.results) for row in rows.get(_experiment(columns), ())]
    return found


def expected_seconds(settings: TrainingSettings) -> float:
    """Seconds of one processor core that a training takes on a machine like that of the stored results, roughly.

    Judged by its multiply-adds and its steps, as the stored runs took them. What the vocabularies add is left out.
    """
    return float(_work(settings) @ _seconds_of_work())


@cache
def _seconds_of_work() -> np.ndarray:
    """Seconds per multiply-add and per step: least squares over all stored runs, relative to what each took."""
    work, seconds = [], []
    for kind, comparison, arms in (("fixes", FIXES, fixes(FIXES)), ("sweep", SWEEP, sweep(SWEEP))):
        for arm in arms:
            for row in stored_for(comparison, [arm], kind):
                work.append(_work(comparison.settings(arm, row.seed)))
                seconds.append(row.results.seconds)
    relative = np.array(work) / np.array(seconds)[:, None]
    return np.linalg.lstsq(relative, np.ones(len(relative)), rcond=None)[0]


def _work(settings: TrainingSettings) -> np.ndarray:
    """Multiply-adds of a training, forward and twice as many backward, judged by one of its batches; and its steps."""
    source, target, _ = _typical_batch(settings.task, settings.batch_size)
    forward = source_madds(settings.config, source) + target_madds(settings.config, source, target)
    return np.array([3.0 * forward * settings.batch_size * settings.num_steps, settings.num_steps])


@cache
def _typical_batch(task: str, batch_size: int) -> tuple[int, ...]:
    """The padded lengths of one batch."""
    return tuple(ids.shape[1] for ids in get_task(task).sample_batch(torch.Generator().manual_seed(0), batch_size))


def _experiment(settings: Mapping[str, str]) -> tuple[str, ...]:
    names = (*WHAT, *(f"{side}_{name}" for side in ("enc", "dec") for name in SHAPE))
    return tuple(settings.get(name, "") for name in names)
