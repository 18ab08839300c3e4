"""How the examples of a task are dealt out: to training, to validation, to test.

One in 23 goes to the test, which nothing is ever chosen by: it says how good a model is. One in 23 goes to validation,
by which recipes and numbers of steps are chosen. Everything else is trained on.

Words have relatives: whoever was trained on "walks" has an easy test with "walk". So texts of a fixed collection are
dealt out a family at a time (`families.py` beside the task says what a family is), by a hash of the family's first
member. Finding the families takes too long for every process; `python -m attention.tasks.make_parts` does it once and
writes test.txt and validation.txt into the task's folder.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

Part = Literal["training", "validation", "test"]
ONE_IN = 23
KEPT_APART: tuple[Part, ...] = ("test", "validation")


def part_of_number(number: int) -> Part:
    """Where a number belongs, such as a hash, a checksum or a day: by what is left when it is divided by 23."""
    rest = number % ONE_IN
    return KEPT_APART[rest] if rest < len(KEPT_APART) else "training"


def text_hash(text: str) -> int:
    """A number that depends on the text alone: Python's own hash() changes from run to run."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def deal_out(families: Iterable[Sequence[str]]) -> dict[Part, list[str]]:
    """The texts of each part that is kept apart, in the order of their hash, which says nothing about them."""
    found: dict[Part, list[str]] = {part: [] for part in KEPT_APART}
    for family in families:
        part = part_of_number(text_hash(min(family)))
        if part in found:
            found[part].extend(family)
    return {part: sorted(texts, key=text_hash) for part, texts in found.items()}


@dataclass(frozen=True)
class Parts:
    """The texts of a collection that are kept apart; all its others are for training."""

    test: tuple[str, ...]
    validation: tuple[str, ...]

    @classmethod
    def read(cls, folder: Path) -> "Parts":
        """What `write` wrote."""
        return cls(**{part: tuple((folder / f"{part}.txt").read_text("utf-8").split()) for part in KEPT_APART})

    @cached_property
    def _by_text(self) -> dict[str, Part]:
        return {text: part for part in KEPT_APART for text in getattr(self, part)}

    def part_of(self, text: str) -> Part:
        """The part of a text of the collection."""
        return self._by_text.get(text, "training")


def write(parts: dict[Part, list[str]], folder: Path) -> None:
    """One text a line."""
    for part, texts in parts.items():
        (folder / f"{part}.txt").write_text("\n".join(texts) + "\n", "utf-8")
