"""The command line, with real small trainings: it finishes, resumes, refuses, and runs on a Dask cluster."""

import subprocess
import sys
from concurrent.futures import Executor, Future
from pathlib import Path

import pytest

from attention import compare
from attention.experiments.comparison import (
    Comparison,
    FinishedRun,
    RowFile,
    fixes,
    read_rows,
    settings_columns,
    sweep,
    to_csv,
)
from attention.experiments.comparison.run import curve, run

ROOT = Path(__file__).parents[1]
TINY = Comparison("reverse", 2, 4, num_seeds=2, num_steps=2, num_examples=11, width=16, num_layers=1)
WORDS = "--task reverse --enc-heads 2 --dec-heads 4 --seeds 2 --steps 2 --examples 11 --width 16 --layers 1 --quiet"
NUM_RUNS = 2 * 6


class AtOnce(Executor):
    """Runs a job when it is submitted; `fails` is the number of a job that does not come back."""

    def __init__(self, fails: int | None = None) -> None:
        self.jobs, self.fails = [], fails

    def submit(self, job, *args) -> Future:
        self.jobs.append(args[0])
        future: Future = Future()
        if len(self.jobs) == self.fails:
            future.set_exception(RuntimeError("the worker has gone"))
        else:
            future.set_result(job(*args))
        return future


def results_without_time(path: Path) -> list:
    rows = read_rows(path.read_text())
    return sorted((row.arm, row.seed, row.results.sequence_accuracy, row.results.loss_curve) for row in rows)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A comparison made by the command, in processes of its own, and what it printed."""
    path = tmp_path_factory.mktemp("compare") / "results.csv"
    words = [sys.executable, "-m", "attention.compare", *WORDS.split(), "--workers", "1", "--out", str(path)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return path, done


@pytest.mark.slow
def test_the_command_makes_every_run(finished):
    path, done = finished
    rows = read_rows(path.read_text())
    assert len(rows) == NUM_RUNS
    assert {row.arm for row in rows} == {arm.name for arm in fixes(TINY) if not arm.error}
    assert all(row.settings["num_examples"] == "11" and row.results.torch for row in rows)
    assert "direct cannot run: decoder num_heads (4) must equal the encoder's K/V heads (2)" in done.stderr
    assert "extra against equal_direct" in done.stdout


@pytest.mark.slow
def test_an_interrupted_comparison_goes_on_where_it_stopped(finished, tmp_path):
    path = tmp_path / "results.csv"
    lines = finished[0].read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:6]) + lines[6][:50])  # five runs, and half of a sixth
    executor = AtOnce()
    assert compare.compare(TINY, fixes(TINY), RowFile(path), executor, quiet=True) == 0
    assert len(executor.jobs) == NUM_RUNS - 5
    assert results_without_time(path) == results_without_time(finished[0])
    again = AtOnce()
    compare.compare(TINY, fixes(TINY), RowFile(path), again, quiet=True)
    assert again.jobs == []


def test_a_run_that_fails_does_not_stop_the_others(tmp_path, capsys):
    file = RowFile(tmp_path / "results.csv")
    one_seed = Comparison("reverse", 2, 4, num_seeds=1, num_steps=1, num_examples=3, width=16, num_layers=1)
    assert compare.compare(one_seed, fixes(one_seed), file, AtOnce(fails=2), quiet=True) == 1
    assert {row.arm for row in file.rows} == {"equal_reproject", "reproject", "projection", "grouped", "extra"}
    assert "equal_direct, seed 0, failed: the worker has gone" in capsys.readouterr().err


def test_the_sweep_runs_each_model_once_and_reports_it_in_every_series(tmp_path):
    small = Comparison("reverse", 2, num_seeds=1, num_steps=1, num_examples=3, width=16, num_layers=1)
    file, executor = RowFile(tmp_path / "sweep.csv"), AtOnce()
    compare.compare(small, sweep(small), file, executor, quiet=True)
    assert len(executor.jobs) == len(set(executor.jobs)) == len(file.rows) == 5 + 4 + 5 + 1
    rows = compare.rows_of(small, sweep(small), file)
    assert len(rows) == 4 * 5
    both = [row.results for row in rows if row.arm in ("width", "size") and row.settings["dec_num_heads"] == "2"]
    assert both[0] == both[1]


def test_equal_settings_give_equal_results():
    settings = TINY.settings(fixes(TINY)[5], 1)
    first, second = run(settings, 5), run(settings, 5)
    assert (first.loss_curve, first.entropy, first.token_accuracy) == (
        second.loss_curve,
        second.entropy,
        second.token_accuracy,
    )


def test_a_run_finds_every_column_that_is_shown():
    """As the command makes it and its file brings it back: how many different maps, and what each head adds."""
    arm, seed = fixes(TINY)[5], 1
    settings = TINY.settings(arm, seed)
    made = FinishedRun(arm.name, settings_columns(settings, 5), run(settings, 5))
    (back,) = read_rows(to_csv([made]))
    assert 1 <= back.results.effective_maps <= 4
    assert len(back.results.contribution_sizes) == 1 * 4 and max(back.results.contribution_sizes) == 1
    assert 0 < back.results.distance < 13


def test_a_curve_is_means_of_equal_parts():
    assert curve([1, 2, 3, 4, 5, 6], points=3) == (1.5, 3.5, 5.5)
    assert curve([1, 2], points=40) == (1, 2)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ("--enc-heads 3", "d_model (16) must be a multiple of num_heads (3)"),
        ("--seeds 0", "num_seeds (0) must be at least 1"),
        ("--task fly", "invalid choice: 'fly'"),
        ("--seed 7", "unrecognized arguments: --seed 7"),
        ("--dec 4", "unrecognized arguments: --dec 4"),
        ("--workers 1 --scheduler tcp://localhost:1", "not allowed with argument"),
    ],
)
def test_refusals_are_a_sentence(tmp_path, capsys, changed, sentence):
    words = [*WORDS.split(), "--out", str(tmp_path / "x.csv"), *changed.split()]
    with pytest.raises(SystemExit) as stopped:
        compare.main(words)
    assert stopped.value.code == 2
    assert sentence in capsys.readouterr().err


def test_another_file_is_not_written_over(tmp_path, capsys):
    path = tmp_path / "x.csv"
    path.write_text("name,value\na,1\n")
    with pytest.raises(SystemExit):
        compare.main([*WORDS.split(), "--out", str(path)])
    assert "is not a table of this comparison" in capsys.readouterr().err
    assert path.read_text() == "name,value\na,1\n"


def test_no_scheduler_is_a_sentence(tmp_path, capsys):
    pytest.importorskip("distributed")
    words = [*WORDS.split(), "--out", str(tmp_path / "x.csv"), "--scheduler", "nonsense://1"]
    assert compare.main(words) == 2
    assert "no Dask scheduler answers at nonsense://1" in capsys.readouterr().err


@pytest.mark.slow
def test_a_dask_cluster_gives_the_same_results(finished, tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # its workers have to find the package
    path = tmp_path / "results.csv"
    cluster = distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None, protocol="tcp")
    with cluster:
        assert compare.main([*WORDS.split(), "--out", str(path), "--scheduler", cluster.scheduler_address]) == 0
    assert results_without_time(path) == results_without_time(finished[0])
