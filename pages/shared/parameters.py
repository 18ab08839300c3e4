"""The kinds of values that the address bar holds, and how each of them is read: input like any other.

A page declares those that only it has as `PARAMETERS` in its `address.py`; the ones that all pages share are in
`settings.py`. Nothing here knows Streamlit.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from attention.messages import Message, MessageError

LONGEST = 24  # characters of a value that a notice quotes
END, NONE = "end", "none"  # words of the address
MOST_NAMED = 12  # words that a notice lists


@dataclass(frozen=True)
class Parameter:
    """One name of the address bar.

    Attributes:
        default: what it is where the address does not say; None: nothing.
        fault: whether it puts a fault into the model. A situation, a suggestion and another model take it out.
        in_ledger: whether it is a place in the ledger of shapes. Another ledger is looked at from the start.
    """

    name: str
    default: object = None
    fault: bool = False
    in_ledger: bool = False

    def word(self, value: object) -> str:
        """The value as the address has it."""
        return str(value)


@dataclass(frozen=True)
class Choice(Parameter):
    """One of a few words."""

    allowed: tuple[str, ...] = ()

    def read(self, text: str) -> tuple[str | None, Message | None]:
        """The word, or the default with a notice."""
        if text in self.allowed:
            return text, None
        code = "unknown_word" if self.default else "unknown_word_left_out"
        few = self.allowed if len(self.allowed) <= MOST_NAMED else (*self.allowed[:MOST_NAMED], "…")
        values = {"name": self.name, "text": shown(text), "allowed": ", ".join(few), "used": self.default}
        english = "{name}={text} is not known: {allowed}; {used} is used."
        return self.default, notice(code, english, **{**values, "used": self.default or "none"})


@dataclass(frozen=True)
class Whole(Parameter):
    """A whole number within a range."""

    low: int = 0
    high: int = 0

    def read(self, text: str) -> tuple[int | None, Message | None]:
        """The number, or the nearest possible one or the default with a notice."""
        number, values = number_in(text), {"name": self.name, "text": shown(text), "low": self.low, "high": self.high}
        if math.isnan(number):
            english = "{name}={text} is not a number: {low} to {high} are allowed; the usual value is used."
            return self.default, notice("no_number", english, **values)
        nearest = int(min(max(number, self.low), self.high))
        if nearest == number:
            return nearest, None
        english = "{name}={text} is not possible: {low} to {high} are allowed; {used} is used."
        return nearest, notice("out_of_range", english, **values, used=nearest)


@dataclass(frozen=True)
class Tenths(Parameter):
    """A number with one digit behind the point, within a range."""

    low: float = 0.0
    high: float = 0.0

    def read(self, text: str) -> tuple[float | None, Message | None]:
        """The number, or the nearest possible one or the default with a notice."""
        number, values = number_in(text), {"name": self.name, "text": shown(text), "low": self.low, "high": self.high}
        if math.isnan(number):
            english = "{name}={text} is not a number: {low} to {high} are allowed; the usual value is used."
            return self.default, notice("no_number", english, **values)
        nearest = round(min(max(number, self.low), self.high), 1)
        if nearest == number:
            return nearest, None
        english = "{name}={text} is not possible: {low} to {high} in tenths are allowed; {used} is used."
        return nearest, notice("no_tenth", english, **values, used=nearest)


@dataclass(frozen=True)
class Places(Parameter):
    """Any number of places, counted from 1 and joined by dashes, "end" among them; "none" for not a single one."""

    high: int = 0

    def word(self, value: tuple[int | str, ...]) -> str:
        return "-".join(map(str, value)) or NONE

    def read(self, text: str) -> tuple[tuple[int | str, ...], Message | None]:
        """The places in order, or the default with a notice."""
        parts = [] if text == NONE else text.split("-")
        if all(part == END or (part.isascii() and part.isdecimal() and len(part) < 4) for part in parts):
            numbers = {int(part) for part in parts if part != END}
            if all(1 <= number <= self.high for number in numbers):
                return (*sorted(numbers), *([END] if END in parts else [])), None
        used = self.word(self.default)
        values = {"name": self.name, "text": shown(text), "high": self.high, "end": END, "none": NONE, "used": used}
        english = (
            "{name}={text} is not known: numbers from 1 to {high} and {end}, joined by -, or {none}; {used} is used."
        )
        return self.default, notice("no_places", english, **values)


@dataclass(frozen=True)
class Several(Parameter):
    """Any number of a few words, joined by dashes (read with commas, spaces and plus signs too); None for none."""

    allowed: tuple[str, ...] = ()

    def word(self, value: tuple[str, ...]) -> str:
        return "-".join(value)

    def read(self, text: str) -> tuple[tuple[str, ...] | None, Message | None]:
        """Those that are known, in their own order, with a notice where there are others."""
        given = {word for word in re.split(r"[-+,\s]+", text) if word}
        known = tuple(word for word in self.allowed if word in given)
        if given <= set(self.allowed):
            return known or self.default, None
        values = {"name": self.name, "text": shown(text), "allowed": ", ".join(self.allowed)}
        english = "{name}={text} is not known: {allowed}, joined by -; {used} is used."
        return known or self.default, notice("unknown_words", english, **values, used=self.word(known) or NONE)


@dataclass(frozen=True)
class Word(Parameter):
    """A word that a page takes apart by itself: `check` raises a MessageError for one that it cannot read."""

    check: Callable[[str], object] = str

    def read(self, text: str) -> tuple[str | None, Message | None]:
        """The word, or the default with a notice."""
        try:
            self.check(text)
        except MessageError as error:
            message, start = error.message, {"name": self.name, "text": shown(text)}
            english = f"{self.name}={start['text']} {message.english}"
            return self.default, Message.of(f"{self.name}_{message.code}", english, **start, **dict(message.values))
        return text, None


def notice(code: str, english: str, /, **values: object) -> Message:
    """What a visitor is told about a value; `english` has {placeholders}."""
    return Message.of(code, english.format(**values), **values)


def shown(text: str) -> str:
    """A value from the address, short enough for a sentence."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def number_in(text: str) -> float:
    """The number that was written, or NaN."""
    try:
        return float(text)
    except ValueError:
        return math.nan
