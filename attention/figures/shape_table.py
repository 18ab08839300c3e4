"""The shape ledger as a table, for those who read and for screen readers."""

from html import escape

from attention.ledger import NamedShape, Step

HEADINGS = ("step", "formula", "shapes in", "shape out", "verdict")


def shape_table(steps: tuple[Step, ...], current: int | None = None, *, caption: str = "") -> str:
    """The steps as an HTML table, for a style sheet with the class "ledger"; `current`, counted from 0, stands out."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in HEADINGS)
    rows = "".join(_row(number, step, number == current) for number, step in enumerate(steps))
    return (
        f'<div class="ledger" tabindex="0" role="region" aria-label="{escape(caption)}"><table>'
        f"<caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _row(number: int, step: Step, current: bool) -> str:
    classes = " ".join(filter(None, ("" if step.ok else "failed", "current" if current else "")))
    given = "<br>".join(_shape(shape, side, step) for side, shape in enumerate(step.inputs))
    made = _shape(step.output, None, step) if step.output else "–"
    verdict = "✓" if step.ok else f"✗ {escape(step.error)}"
    if step.ok and step.note:
        verdict = f"✓ {escape(step.note)}"
    aria = ' aria-current="step"' if current else ""
    return (
        f'<tr class="{classes}"{aria}><th scope="row">{number + 1}. {escape(step.name)}</th>'
        f"<td>{escape(step.formula)}</td><td>{given}</td><td>{made}</td><td>{verdict}</td></tr>"
    )


def _shape(shape: NamedShape, side: int | None, step: Step) -> str:
    clashing = {clash.axes[side] for clash in step.clashes} if side is not None else set()
    dims = [
        f"<mark>{escape(name)} {size} ✗</mark>" if axis in clashing else f"{escape(name)} {size}"
        for axis, (name, size) in enumerate(shape.dims)
    ]
    return f"<b>{escape(shape.symbol)}</b> ({', '.join(dims)})"
