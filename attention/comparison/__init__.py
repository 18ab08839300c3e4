"""The fixes compared: the same training for every way of feeding the decoder's heads, with several seeds.

`arms` says what is compared with what, `run` makes one run, `rows` keeps finished runs as CSV, `costs` and `measures`
say what a model costs and what its heads do, `verdict` compares arms pair by pair over seeds. The command line is
`python -m attention.compare`.
"""

from attention.comparison.arms import Arm, Comparison, fixes, sweep
from attention.comparison.rows import Results, Row, RowFile, read_rows, settings_columns, to_csv

__all__ = [
    "Arm",
    "Comparison",
    "Results",
    "Row",
    "RowFile",
    "fixes",
    "read_rows",
    "settings_columns",
    "sweep",
    "to_csv",
]
