"""What a question is made of. Words are the pages' own: the library gives kinds and numbers."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from attention.messages import Message
from attention.shapes.ledger import LedgerStep

MOST = 4  # choices, the right one among them
T = TypeVar("T")


@dataclass(frozen=True)
class Choice:
    """One of the answers offered."""

    said: Message
    is_right: bool


@dataclass(frozen=True)
class Question:
    """One question, with its answer found by running what it asks about.

    Attributes:
        kind: names its sentence, and that of the explanation.
        asked: the numbers of the sentence.
        choices: two to four, one of them right.
        why: the numbers of the explanation, which says what was run and what came out.
        steps: of the shape ledger, where that explains it.
    """

    kind: str
    asked: Message
    choices: tuple[Choice, ...]
    why: Message
    steps: tuple[LedgerStep, ...] = ()

    def __post_init__(self) -> None:
        right = sum(choice.is_right for choice in self.choices)
        if right != 1 or len({choice.said for choice in self.choices}) != len(self.choices) or len(self.choices) < 2:
            raise ValueError(f"a question of kind {self.kind!r} has {right} right answers of {len(self.choices)}")

    @property
    def right(self) -> int:
        """The place of the right choice."""
        return next(place for place, choice in enumerate(self.choices) if choice.is_right)


def question(
    kind: str, values: dict, choices: tuple[Choice, ...], steps: Iterable[LedgerStep] = (), **found: object
) -> Question:
    """`values` are what the question names, `found` what only the explanation does."""
    return Question(kind, message(kind, **values), choices, message(kind, **values, **found), tuple(steps))


def message(code: str, /, **values: object) -> Message:
    """A message with its numbers alone as English: the sentences belong to the pages."""
    return Message.of(code, ", ".join([code, *(f"{name}={value}" for name, value in values.items())]), **values)


def offered(rng: Random, right: T, wrong: Iterable[T], say: Callable[[T], Message]) -> tuple[Choice, ...]:
    """The right answer among some of the wrong ones, in any order; those that come to the same are left out."""
    said = {say(answer) for answer in wrong} - {say(right)}
    others = sorted(said, key=lambda each: each.english)
    chosen = rng.sample(others, min(MOST - 1, len(others)))
    choices = [Choice(say(right), True), *(Choice(each, False) for each in chosen)]
    rng.shuffle(choices)
    return tuple(choices)


def in_order(right: str, codes: Iterable[str]) -> tuple[Choice, ...]:
    """Answers that are words, always in the same order."""
    return tuple(Choice(message(code), code == right) for code in codes)


def a_number(value: float) -> Message:
    """A whole number."""
    return message("number", value=int(value))


def a_decimal(value: float) -> Message:
    """A number that may not be whole, told by three digits."""
    return message("decimal", value=round(float(value), 3))


def a_shape(sizes: Iterable[int]) -> Message:
    """Sizes of a tensor."""
    return message("shape", sizes=", ".join(map(str, sizes)))


def some_heads(numbers: Iterable[int]) -> Message:
    """Heads by their numbers."""
    return message("heads", numbers=", ".join(map(str, numbers)))
