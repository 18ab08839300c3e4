"""The fixes compared: the same training for every K/V way, with several seeds.

`arms` says what is compared with what, `run` makes one run, `head_measures` says what its heads do. `finished_runs`
keeps runs as CSV, and `stored_runs` are those that ship. `differences` compares arms pair by pair over seeds;
`findings` and `report` say what comes of it. The command line is `python -m attention.compare`.
"""

from attention.experiments.comparison.arms import Arm, Comparison, fixes, sweep
from attention.experiments.comparison.finished_runs import (
    FinishedRun,
    Results,
    RowFile,
    read_rows,
    settings_columns,
    to_csv,
)

__all__ = [
    "Arm",
    "Comparison",
    "FinishedRun",
    "Results",
    "RowFile",
    "fixes",
    "read_rows",
    "settings_columns",
    "sweep",
    "to_csv",
]
