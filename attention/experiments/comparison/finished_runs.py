"""One row per finished run: all its settings and all that was found, as a line of a CSV file.

A file is written one whole line at a time. A line that was cut off in the middle (the machine stopped) is dropped when
the file is read, and the run is made again.
"""

import csv
import io
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path

from attention.training import TrainingSettings


@dataclass(frozen=True)
class Results:
    """What one run found; see `costs.Costs`, `evaluation.Scores` and `head_measures.HeadMeasures` for what each means.

    What has a usual value was not measured by older versions, and a file of theirs is read with it.

    Attributes:
        seconds: of a processor core, for steps and scoring on one thread; depends on the machine.
        alignment_best, alignment_mean: over all cross-attention heads that read the source. The best of many heads is
            high by chance more often than the best of few; the mean is not.
        loss_curve, accuracy_curve: means over equal parts of the training, on each batch before it was learnt from.
        torch: version of PyTorch.
    """

    parameters: int
    kv_bytes: int
    source_madds: float
    target_madds: float
    seconds: float
    token_accuracy: float
    sequence_accuracy: float
    alignment_best: float
    alignment_mean: float
    diagonal: float
    num_aligned: int
    same_pattern: float
    same_contribution: float
    entropy: float
    distance: float
    loss_curve: tuple[float, ...]
    accuracy_curve: tuple[float, ...]
    torch: str
    effective_maps: float = math.nan
    contribution_sizes: tuple[float, ...] = ()


@dataclass(frozen=True)
class FinishedRun:
    """A finished run: the arm it belongs to, its settings as text by column, and what was found."""

    arm: str
    settings: Mapping[str, str]
    results: Results

    @property
    def seed(self) -> int:
        return int(self.settings["seed"])


def settings_columns(settings: TrainingSettings, num_examples: int) -> dict[str, str]:
    """Everything that a run depends on, as text: two runs are the same run if and only if these are equal."""
    columns = {}
    for name, value in asdict(settings).items():
        columns |= _flat(name, value)
    return columns | {"num_examples": str(num_examples)}


def _flat(name: str, value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        return {name: "" if value is None else str(value)}
    prefix = {"config": "", "encoder": "enc_", "decoder": "dec_"}.get(name, f"{name}_")
    return {prefix + key: text for field, item in value.items() for key, text in _flat(field, item).items()}


def to_csv(rows: Iterable[FinishedRun]) -> str:
    """The rows as CSV with a header; an empty text for no rows."""
    rows = list(rows)
    return _line(_header(rows[0])) + "".join(_line(_values(row)) for row in rows) if rows else ""


def read_rows(text: str, source: str = "the file") -> list[FinishedRun]:
    """Rows of a CSV text; a last line that was not written to its end is left out.

    Raises:
        ValueError: a column is missing, or a line in the middle is broken; `source` names the file in the sentence.
    """
    whole = text[: text.rfind("\n") + 1]
    lines = list(csv.reader(io.StringIO(whole)))
    if not lines:
        return []
    header, *lines = lines
    required = [field.name for field in fields(Results) if field.default is MISSING]
    if missing := [name for name in ("arm", "seed", *required) if name not in header]:
        raise ValueError(f"{source} is not a table of this comparison: it has no column {missing[0]!r}")
    rows = []
    for number, line in enumerate(lines, start=2):
        if len(line) != len(header):
            raise ValueError(f"line {number} of {source} has {len(line)} columns instead of {len(header)}")
        cells = dict(zip(header, line, strict=True))
        try:
            known = [field for field in fields(Results) if field.name in cells]
            results = Results(**{field.name: _parse(field.type, cells.pop(field.name)) for field in known})
        except ValueError as error:
            raise ValueError(f"line {number} of {source} is broken: {error}") from error
        rows.append(FinishedRun(cells.pop("arm"), cells, results))
    return rows


class RowFile:
    """A CSV file that grows by one row at a time, and that an interrupted comparison goes on with.

    Raises:
        ValueError: the file holds something else, or rows of another version with other columns.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        self.rows = read_rows(text, str(path))
        self._header = next(csv.reader(io.StringIO(text))) if self.rows else None
        whole = text[: text.rfind("\n") + 1] if self.rows else ""
        if whole != text:
            path.write_text(whole, encoding="utf-8")

    def find(self, settings: Mapping[str, str]) -> FinishedRun | None:
        """The finished run with these settings."""
        return next((row for row in self.rows if row.settings == settings), None)

    def append(self, row: FinishedRun) -> None:
        """Add a row, and see to it that it is on the disk."""
        header = _header(row)
        if self._header is not None and header != self._header:
            raise ValueError(f"{self.path} has other columns than this version writes; give another file")
        line = _line(_values(row)) if self._header else _line(header) + _line(_values(row))
        with self.path.open("a", encoding="utf-8", newline="") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        self._header = header
        self.rows.append(row)


def _header(row: FinishedRun) -> list[str]:
    return ["arm", *row.settings, *(field.name for field in fields(Results))]


def _values(row: FinishedRun) -> list[str]:
    results = (getattr(row.results, field.name) for field in fields(Results))
    return [row.arm, *row.settings.values(), *map(_text, results)]


def _line(values: list[str]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(values)
    return buffer.getvalue()


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(f"{item:.4f}" for item in value)
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.7g}"
    return str(value)


def _parse(kind: type, text: str) -> object:
    if kind is float:
        return float(text) if text else math.nan
    if kind in (int, str):
        return kind(text)
    return tuple(map(float, text.split()))
