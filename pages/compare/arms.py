"""The arms of a comparison: their runs, and the table of what each costs and reaches."""

import math

import numpy as np
import streamlit as st

from attention.experiments.comparison import FinishedRun
from attention.experiments.comparison.arms import Arm
from attention.experiments.comparison.differences import heads_of, spread
from attention.shapes import trace_shapes
from attention.shapes.costs import LENGTH, costs
from pages.compare.controls import ComparisonView
from pages.shared.findings import arm_name
from pages.shared.ledger import note_text
from pages.shared.table import Cell, draw_table
from pages.shared.texts import label, number, percent

COSTS = ("parameters", "kv_bytes", "source_madds", "target_madds")
# Column, and how its mean and its spread are written. No mean over pairs of heads is among them: it is another number
# when the same model is cut into more heads.
MEASURES = {
    "seconds": (1, 0),
    "token_accuracy": (100, 1),
    "sequence_accuracy": (100, 1),
    "alignment_best": (100, 0),
    "alignment_mean": (100, 0),
    "effective_maps": (1, 2),
    "small_heads": (1, 1),
    "entropy": (1, 2),
    "distance": (1, 2),
}
SMALL = 0.01  # of the largest contribution in the layer


def why_not(arm: Arm) -> str:
    """Why an arm cannot run, in plain words."""
    return note_text(trace_shapes(arm.config).failure.note).removesuffix(".")


def rows_of(view: ComparisonView, arm: Arm) -> list[FinishedRun]:
    """The runs of one arm, by seed."""
    heads = arm.config.decoder.num_heads
    return sorted((row for row in view.rows if row.arm == arm.name and heads_of(row) == heads), key=lambda r: r.seed)


def value_of(row: FinishedRun, measure: str) -> float:
    """One measure of a run; NaN where it has none."""
    if measure != "small_heads":
        return getattr(row.results, measure)
    sizes = row.results.contribution_sizes
    return sum(size < SMALL for size in sizes) if sizes else math.nan


def draw_all_arms(view: ComparisonView) -> None:
    """A column per arm; what an arm costs is known before anything is trained, what no run has is left out."""
    known = [any(not math.isnan(value_of(row, name)) for row in view.rows) for name in MEASURES]
    names = [*COSTS, *(name for name, has in zip(MEASURES, known, strict=True) if has or not view.rows)]
    if not any(row.results.num_aligned for row in view.rows):
        names = [name for name in names if not name.startswith("alignment")]
    diagonals = [row.results.diagonal for row in view.rows if not math.isnan(row.results.diagonal)]
    values = {
        "length": LENGTH,
        "examples": view.comparison.num_examples,
        "task": view.comparison.task,
        "diagonal": percent(np.mean(diagonals) if diagonals else math.nan),
        "limit": percent(SMALL),
    }
    columns = [_column(view, arm, names) for arm in view.arms]
    rows = [
        (Cell(label("column", name, **values), below=label("about", name, **values)), *cells)
        for name, *cells in zip(names, *columns, strict=True)
    ]
    title = label("compare", "table")
    st.header(title, anchor=False)
    head = ("", *(arm_name(view.comparison, arm.name) for arm in view.arms))
    draw_table(title, head, rows, look="arms", caption=False)


def _column(view: ComparisonView, arm: Arm, names: list[str]) -> list[str | Cell | None]:
    """What one arm costs and reaches; one that cannot be built has a single cell, with the reason, over all lines."""
    if arm.error:
        reason = Cell(label("compare", "does_not_run", error=why_not(arm)), mark="broken", rows=len(names))
        return [reason, *[None] * (len(names) - 1)]
    rows, known = rows_of(view, arm), costs(arm.config)
    cells = []
    for name in names:
        if name in COSTS:
            cells.append(f"{getattr(known, name):,.0f}")
            continue
        times, digits = MEASURES[name]
        mean, around = spread(rows, lambda row, name=name: value_of(row, name))
        plus_minus = "" if around != around else f"± {number(times * around, max(digits, 1))}"
        text = number(times * mean, digits)
        if name == "small_heads" and mean == mean:
            stack = arm.config.decoder
            text = label("compare", "some_of", count=text, all=stack.num_layers * stack.num_heads)
        cells.append(Cell(text, below=plus_minus))
    return cells
