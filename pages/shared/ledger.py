"""The words for what the shape ledger records as codes."""

import re

from attention.messages import Message
from attention.shapes.ledger import LedgerStep, NamedShape
from pages.shared.texts import catalogue, label, say


def part_name(part: str) -> str:
    """ "encoder self-attention", within a sentence."""
    return label("ledger_part", part)


def step_name(step: LedgerStep) -> str:
    """What a step is called: "split Q into heads"."""
    return label("ledger_step", step.name, **_values(step))


def formula(step: LedgerStep) -> str:
    """A step in a line of code and words."""
    return label("ledger_formula", step.name, **_values(step))


def latex(step: LedgerStep) -> str:
    """A step as mathematics, with the words that it may contain."""
    return re.sub(r"\\text\{(\w+)\}", lambda found: rf"\text{{{symbol_name(found[1])}}}", step.latex)


def symbol_name(symbol: str) -> str:
    """A symbol as it is shown; only words need a translation."""
    start = "W_" if symbol.startswith("W_") else ""
    word = symbol.removeprefix(start)
    return start + catalogue()["ledger_symbol"].get(word, word)


def dim_name(dim: str, *, short: bool = False) -> str:
    """A dimension; two that lie side by side are joined by a plus."""
    words = catalogue()["ledger_dim"] | (catalogue()["ledger_dim_short"] if short else {})
    return " + ".join(words[one] for one in dim.split("+"))


def dims_of(shape: NamedShape) -> str:
    """ "heads 16, source 6, head size 32": all but the batch, which is the same everywhere."""
    return ", ".join(f"{dim_name(name)} {size}" for name, size in shape.dims if name != "batch")


def note_text(note: Message) -> str:
    """What a failure, or a silent broadcast, means."""
    if note.code != "fault":
        return say("ledger_note", note)
    values = dict(note.values)
    return label("ledger_note", "fault", **{**values, "fault": label("ledger_fault", values["fault"])})


def _values(step: LedgerStep) -> dict[str, object]:
    values = dict(step.values)
    return {**values, **{name: symbol_name(values[name]) for name in ("symbol", "given") if name in values}}
