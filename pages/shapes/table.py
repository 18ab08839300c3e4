"""The shape ledger as a table, for those who read and for screen readers."""

from html import escape

from attention.shapes.ledger import LedgerStep, NamedShape
from pages.shared.ledger import dim_name, formula, note_text, step_name, symbol_name
from pages.shared.table import Cell, Html, TableRow, draw_table
from pages.shared.texts import label

COLUMNS = ("step", "formula", "given", "made", "verdict")


def draw_shape_table(steps: tuple[LedgerStep, ...], current: int | None, title: str) -> None:
    """A row for each step; `current`, counted from 0, stands out."""
    head = [label("shape_table", name) for name in COLUMNS]
    draw_table(title, head, [_row(*step) for step in enumerate(steps, start=1)], look="ledger", current=current)


def _row(number: int, step: LedgerStep) -> TableRow:
    given = "<br>".join(_shape(shape, side, step) for side, shape in enumerate(step.inputs))
    made = _shape(step.output, None, step) if step.output else "–"
    verdict = f"✗ {step.error}" if not step.ok else f"✓ {note_text(step.note)}" if step.note else "✓"
    texts = (f"{number}. {step_name(step)}", formula(step), Html(given), Html(made), verdict)
    return [Cell(text, "" if step.ok else "failed") for text in texts]


def _shape(shape: NamedShape, side: int | None, step: LedgerStep) -> str:
    clashing = {clash.axes[side] for clash in step.clashes} if side is not None else set()
    dims = [
        f"<mark>{escape(dim_name(name))} {size} ✗</mark>" if axis in clashing else f"{escape(dim_name(name))} {size}"
        for axis, (name, size) in enumerate(shape.dims)
    ]
    return f"<b>{escape(symbol_name(shape.symbol))}</b> ({', '.join(dims)})"
