"""English dates in writing: how they are spelled, how they are read, and which characters say what.

`spell` writes a day in one of many forms, `understand` reads any of them back. Both are made from the same lists
below, so whatever may be typed is also what a model is trained on.

Legend: a text is a tuple of characters, in lower case, with SPACE for a space.
"""

import re
from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from attention.tasks.base import Alignment, Tokens
from attention.tasks.reading import Refusal, lower, quoted, refusal

SPACE = "␣"  # a token that can be seen
FIRST_DAY, LAST_DAY = date(1900, 1, 1), date(2099, 12, 31)
PIVOT = 30  # of two-digit years: 30 … 99 are 1930 … 1999, 00 … 29 are 2000 … 2029

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
AFTER_WEEKDAY = (" ", ", ")
# What stands before, between and between the parts of a date, by their order.
DAY_MONTH_YEAR = (
    ("", " ", " "),
    ("", " of ", " "),
    ("the ", " of ", " "),
    ("", " ", ", "),
    ("", "-", "-"),
    ("", ". ", " "),
)
MONTH_DAY_YEAR = (("", " ", ", "), ("", " ", " "), ("", " the ", ", "), ("", "-", "-"))
YEAR_MONTH_DAY = (("", " ", " "), ("", ", ", " "), ("", "-", "-"))
BETWEEN_NUMBERS = ("-", "/", ".")

_EXAMPLES = "3rd of Nov 94, November 3, 1994 or 1994-11-03"
_ALIKE = str.maketrans("’‘‐‑–—", "''----")  # what a word processor makes of ' and -
_LONGEST_TYPED = 100  # characters, far more than any date needs


@dataclass(frozen=True)
class WrittenDate:
    """A text, the day it means, and where its year, month and day stand: (first position, position after)."""

    tokens: Tokens
    date: date
    year: tuple[int, int]
    month: tuple[int, int]
    day: tuple[int, int]

    def gold(self) -> Alignment:
        """For each character of the ISO form, the positions that make it; the hyphens are made by none."""
        hyphen = (frozenset(),)
        return (
            *self._digits(self.year, 4), *hyphen, *self._digits(self.month, 2), *hyphen, *self._digits(self.day, 2)
        )  # fmt: skip

    def _digits(self, span: tuple[int, int], count: int) -> Alignment:
        """A digit that is written comes from there; of a name or a shorter number the rest comes from all of it."""
        positions = range(*span)
        written = positions if self.tokens[positions[0]].isdigit() else ()
        made_by_all = [frozenset(positions)] * (count - len(written))
        return (*made_by_all, *(frozenset({position}) for position in written))


def _either(choices: Sequence[str]) -> str:
    return f"(?:{'|'.join(map(re.escape, choices))})"


def _forms(joints: Sequence[tuple[str, str, str]], *parts: str) -> list[re.Pattern]:
    """One pattern for each way to join the three parts of a date."""
    return [
        re.compile(f"{weekday}{before}{one}{re.escape(first)}{two}{re.escape(second)}{three}")
        for before, first, second in joints
        for weekday, one, two, three in (parts,)
    ]


_WEEKDAY = rf"(?:{_either([*WEEKDAYS, *(name[:3] for name in WEEKDAYS)])}\.?{_either(AFTER_WEEKDAY)})?"
_DAY = r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?"
_MONTH = rf"(?P<month>{'|'.join([*MONTHS, 'sept', *(name[:3] for name in MONTHS)])})\.?"
_YEAR = r"'?(?P<year>[0-9]{4}|[0-9]{2})"
_FOUR = r"(?P<year>[0-9]{4})"
_MARK = f"(?P<mark>{_either(BETWEEN_NUMBERS)})"
_CLEAR = (  # which number is what is plain: there is the month's name, or the year comes first
    *_forms(DAY_MONTH_YEAR, _WEEKDAY, _DAY, _MONTH, _YEAR),
    *_forms(MONTH_DAY_YEAR, _WEEKDAY, _MONTH, _DAY, _YEAR),
    *_forms(YEAR_MONTH_DAY, "", _FOUR, _MONTH, _DAY),
    re.compile(_FOUR + _MARK + r"(?P<month>[0-9]{1,2})(?P=mark)(?P<day>[0-9]{1,2})"),
)
_YEAR_LAST = re.compile(rf"(?P<one>[0-9]{{1,2}}){_MARK}(?P<other>[0-9]{{1,2}})(?P=mark)(?P<year>[0-9]{{2,4}})")


def understand(tokens: Sequence[str]) -> WrittenDate | None:
    """The date that a text writes; None where `read_date` would refuse it."""
    try:
        return _read("".join(tokens).replace(SPACE, " "))
    except Refusal:
        return None


def read_date(text: str) -> WrittenDate:
    """Read what was typed, in any case and with any white space; Refusal with one sentence when it is no clear date."""
    if not text:
        raise refusal("date_missing", f"Nothing was typed: type a date, such as {_EXAMPLES}.")
    if not text.strip():
        raise refusal("date_blank", f"Only white space was given: type a date, such as {_EXAMPLES}.")
    if len(text) > _LONGEST_TYPED:
        sentence = f"{{count:,}} characters are too long for a date: type one such as {_EXAMPLES}."
        raise refusal("date_long", sentence, count=len(text))
    return _read(" ".join(lower(text).translate(_ALIKE).split()))


def _read(text: str) -> WrittenDate:
    found = next(filter(None, (form.fullmatch(text) for form in _CLEAR)), None)
    if found:
        month = found["month"]
        number = int(month) if month.isdigit() else 1 + [name[:3] for name in MONTHS].index(month[:3])
        return _written(text, found.span("year"), found.span("month"), found.span("day"), number)
    if found := _YEAR_LAST.fullmatch(text):
        return _read_year_last(text, found)
    sentence = "{typed} is not a date this model reads: type day, month and year in a usual form, such as "
    raise refusal("date_unknown", f"{sentence}{_EXAMPLES}.", typed=quoted(text))


def _read_year_last(text: str, found: re.Match) -> WrittenDate:
    """Numbers alone, the year last: either order, if only one of them can be."""
    if len(found["year"]) != 4:
        sentence = "{typed} is not clear, as its year has no four digits: in numbers alone write the whole year, or "
        raise refusal("date_short_year", sentence + "write the month's name.", typed=quoted(text))
    one, other = int(found["one"]), int(found["other"])
    if 1 <= one <= 12 and 1 <= other <= 12 and one != other:
        days = {"one": f"{one} {MONTHS[other - 1].title()}", "other": f"{other} {MONTHS[one - 1].title()}"}
        sentence = "{typed} can be {one} or {other}: write the month's name, or the year first."
        raise refusal("date_ambiguous", sentence, typed=quoted(text), **days)
    month, day = ("one", "other") if other > 12 else ("other", "one")
    return _written(text, found.span("year"), found.span(month), found.span(day), int(found[month]))


def _written(text: str, year: tuple, month: tuple, day: tuple, month_number: int) -> WrittenDate:
    """The date at these places of the text; Refusal when the calendar has no such day."""
    year_number, day_number = int(text[slice(*year)]), int(text[slice(*day)])
    if year[1] - year[0] == 2:
        year_number += 1900 if year_number >= PIVOT else 2000
    first, last = FIRST_DAY.year, LAST_DAY.year
    if not first <= year_number <= last:
        sentence = "{typed} is outside the years this model knows: type a year from {first} to {last}."
        raise refusal("date_outside", sentence, typed=quoted(text), first=first, last=last)
    if not 1 <= month_number <= 12:
        sentence = "{typed} is not a day of the calendar: there is no month {month}, only 1 to 12."
        raise refusal("date_no_month", sentence, typed=quoted(text), month=month_number)
    num_days = monthrange(year_number, month_number)[1]
    if not 1 <= day_number <= num_days:
        sentence = "{typed} is not a day of the calendar: {month} {year} has days 1 to {last}."
        name = MONTHS[month_number - 1].title()
        raise refusal("date_no_day", sentence, typed=quoted(text), month=name, year=year_number, last=num_days)
    tokens = tuple(text.replace(" ", SPACE))
    return WrittenDate(tokens, date(year_number, month_number, day_number), year, month, day)


def spell(day: date, numbers: Sequence[int]) -> Tokens:
    """One of the many ways to write a day; `numbers`, seven random ones, decide which."""
    order, weekday_pick, day_pick, month_pick, year_pick, joints, mark = numbers
    month = _pick(_months(day.month), month_pick)
    number = _pick((f"{day.day}", f"{day.day}{ordinal_suffix(day.day)}", f"{day.day:02}"), day_pick)
    year = _pick(_years(day.year), year_pick)
    name = WEEKDAYS[day.weekday()]
    weekday = _pick(("", "", f"{name} ", f"{name}, ", f"{name[:3]} ", f"{name[:3]}, "), weekday_pick)
    day_first = weekday + _join(_pick(DAY_MONTH_YEAR, joints), number, month, year)
    month_first = weekday + _join(_pick(MONTH_DAY_YEAR, joints), month, number, year)
    year_first = _join(_pick(YEAR_MONTH_DAY, joints), str(day.year), month, number)
    in_numbers = _in_numbers(day, _pick(BETWEEN_NUMBERS, mark), padded=day_pick % 2 == 0)
    # what people write most comes more often
    text = _pick((day_first, day_first, month_first, month_first, year_first, *in_numbers), order)
    return tuple(text.replace(" ", SPACE))


def _join(joints: tuple[str, str, str], *parts: str) -> str:
    return "".join(joint + part for joint, part in zip(joints, parts, strict=True))


def _months(number: int) -> tuple[str, ...]:
    """A month's name in full and shortened."""
    name = MONTHS[number - 1]
    return name, name[:3], f"{name[:3]}.", "sept" if number == 9 else name[:3]


def _in_numbers(day: date, mark: str, padded: bool) -> list[str]:
    """Forms in numbers alone, without those that could be another day."""
    d, m = (f"{day.day:02}", f"{day.month:02}") if padded else (f"{day.day}", f"{day.month}")
    forms = [f"{day.year}{mark}{m}{mark}{d}"]
    if day.day > 12 or day.day == day.month:
        forms += [f"{d}{mark}{m}{mark}{day.year}", f"{m}{mark}{d}{mark}{day.year}"]
    return forms


def _years(year: int) -> tuple[str, ...]:
    """A year with four digits, and with two where those mean this year."""
    if 1900 + PIVOT <= year < 2000 + PIVOT:
        return f"{year}", f"{year}", f"{year % 100:02}", f"'{year % 100:02}"
    return (f"{year}",)


def ordinal_suffix(day: int) -> str:
    """ "st" of 1st, "nd" of 22nd, "th" of 11th."""
    return "th" if day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def _pick(choices: Sequence[str], number: int) -> str:
    return choices[number % len(choices)]
