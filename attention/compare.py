"""The fixes compared, without a browser:

    python -m attention.compare --task spelling --enc-heads 8 --dec-heads 16 --seeds 5 --steps 700 --out results.csv

One line of the CSV per finished run. The same command resumes after an interruption. `--sweep` varies the number of
decoder heads instead; `--scheduler ADDRESS` runs on a Dask cluster whose workers can import this package.
"""

import argparse
import sys
from collections.abc import Iterable
from concurrent.futures import Executor, Future, as_completed
from pathlib import Path

from tqdm import tqdm

from attention.experiments.comparison import Arm, Comparison, FinishedRun, RowFile, fixes, settings_columns, sweep
from attention.experiments.comparison.arms import KEEPS, planned
from attention.experiments.comparison.findings import fixes_findings, sweep_findings
from attention.experiments.comparison.report import report
from attention.experiments.comparison.run import run
from attention.jobs import executors
from attention.tasks import TASKS
from attention.training import TrainingSettings


def compare(comparison: Comparison, arms: Iterable[Arm], file: RowFile, executor: Executor, quiet: bool = False) -> int:
    """Make the runs that `file` does not have yet, and add each as it is finished. Returns how many failed."""
    runs: dict[TrainingSettings, Arm] = {}
    for arm, settings in planned(comparison, arms):
        runs.setdefault(settings, arm)
    jobs: dict[Future, tuple[Arm, dict[str, str]]] = {}
    failed = 0
    with tqdm(total=len(runs), unit="run", disable=quiet, smoothing=0) as bar:
        for settings, arm in runs.items():
            columns = settings_columns(settings, comparison.num_examples)
            if file.find(columns):
                bar.update()
            else:
                jobs[executor.submit(run, settings, comparison.num_examples)] = arm, columns
        bar.unpause()  # what was there already says nothing about the speed
        for future in as_completed(jobs):
            arm, columns = jobs[future]
            if error := future.exception():
                failed += 1
                bar.write(f"{arm.name}, seed {columns['seed']}, failed: {error}", file=sys.stderr)
            else:
                file.append(FinishedRun(arm.name, columns, future.result()))
            bar.set_postfix_str(arm.name)
            bar.update()
    return failed


def rows_of(comparison: Comparison, arms: Iterable[Arm], file: RowFile) -> list[FinishedRun]:
    """The finished runs of these arms; one that belongs to several arms once for each."""
    found = []
    for arm, settings in planned(comparison, arms):
        if row := file.find(settings_columns(settings, comparison.num_examples)):
            found.append(FinishedRun(arm.name, row.settings, row.results))
    return found


def arguments(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m attention.compare", description="Compare the fixes fairly.", allow_abbrev=False
    )
    parser.add_argument("--task", choices=tuple(TASKS), default="spelling")
    parser.add_argument("--enc-heads", type=int, default=8, help="default 8")
    parser.add_argument("--dec-heads", type=int, default=16, help="default 16; not used by --sweep")
    parser.add_argument("--keep", choices=KEEPS, default="size", help="the head size (default), or the total width")
    parser.add_argument("--seeds", type=int, default=5, help="runs of each arm, default 5")
    parser.add_argument("--steps", type=int, help="of each training; default: what the task usually takes")
    parser.add_argument("--examples", type=int, default=1000, help="held-out examples scored, default 1000")
    parser.add_argument("--width", type=int, default=64, help="d_model of both sides, default 64")
    parser.add_argument("--layers", type=int, default=2, help="of each side, default 2")
    parser.add_argument("--out", type=Path, required=True, help="CSV file; one that exists is continued")
    parser.add_argument("--sweep", action="store_true", help="1 to 32 decoder heads instead of the fixes")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--workers", type=int, help="processes; default: one less than there are cores")
    where.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster, such as tcp://host:8786")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    given = parser.parse_args(words)
    try:
        given.comparison = Comparison(
            task=given.task,
            enc_heads=given.enc_heads,
            dec_heads=given.dec_heads,
            keep=given.keep,
            num_seeds=given.seeds,
            num_steps=given.steps,
            num_examples=given.examples,
            width=given.width,
            num_layers=given.layers,
        )
        given.arms = sweep(given.comparison) if given.sweep else fixes(given.comparison)
        given.file = RowFile(given.out)
        planned(given.comparison, given.arms)
    except ValueError as error:
        parser.error(str(error))
    return given


def main(words: list[str] | None = None) -> int:
    given = arguments(words)
    for arm in given.arms:
        if arm.error:
            print(f"{arm.name} cannot run: {arm.error}", file=sys.stderr)
    try:
        executor = executors.dask(given.scheduler) if given.scheduler else executors.local(given.workers)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    try:
        failed = compare(given.comparison, given.arms, given.file, executor, given.quiet)
    except KeyboardInterrupt:
        print(f"Stopped; {len(given.file.rows)} runs are in {given.out}. The same command resumes.", file=sys.stderr)
        executors.close(executor)
        return 130
    executor.shutdown()
    rows = rows_of(given.comparison, given.arms, given.file)
    findings = sweep_findings(rows, given.enc_heads) if given.sweep else fixes_findings(rows, given.comparison)
    print(report(rows, given.arms, findings))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
