"""Dates as people write them, to ISO: "3rd of Nov 94" is 1994-11-03. Tokens are single characters.

What is written and what may be typed come from the same lists (`written_dates.py`). Every 23rd day of the calendar
is held out, in all its forms: no day that is scored was ever trained on, however it is written.
"""

from datetime import date
from typing import ClassVar

import torch

from attention.tasks.base import Alignment, Batch, Example, Task, Tokens, make_batch
from attention.tasks.vocabulary import Vocabulary
from attention.tasks.written_dates import FIRST_DAY, LAST_DAY, PIVOT, SPACE, read_date, spell, understand

HELD_OUT_ONE_IN = 23
NUM_HELD_OUT = 2_000
_HELD_OUT_SEED = 20_252


class Dates(Task):
    """Two-digit years: 30 to 99 are 1930 to 1999, 00 to 29 are 2000 to 2029; a year of two digits comes last.

    Day and month: in any order beside the month's name. In numbers alone the year has four digits; when it comes first
    the month follows, when it comes last either order is read, but only where just one of them is a day of the
    calendar (23/11/1994, 11/23/1994) or both are the same (5/5/1994). 3/11/1994 is never written and is refused.
    """

    name: ClassVar = "dates"
    title: ClassVar = "Dates to ISO"
    description: ClassVar = (
        f"Turns an English date of {FIRST_DAY.year} to {LAST_DAY.year} into its ISO form. A year with two digits is "
        f"one of {1900 + PIVOT} to {1999 + PIVOT}; numbers alone are read only where day and month cannot be swapped. "
        f"Dates are made up at random while training; every {HELD_OUT_ONE_IN}rd day of the calendar is kept for "
        "testing only, in all its forms."
    )
    source_words: ClassVar = "characters"
    target_words: ClassVar = "characters"
    target_joint: ClassVar = ""
    examples: ClassVar = (
        "3rd of Nov 94",
        "November 3, 1994",
        "12 Oct 11",
        "Wed, 29 Feb 2012",
        "23/11/1994",
        "11/23/1994",
        "sept. 30th, '29",
        "2031-05-07",
    )
    src_vocab: ClassVar = Vocabulary((SPACE, *"'-,./0123456789abcdefghijlmnoprstuvwy"))  # no k, q, x, z in any date
    tgt_vocab: ClassVar = Vocabulary(tuple("-0123456789"))
    max_src_len: ClassVar = len("wednesday, the 23rd of september 1994")
    batch_size: ClassVar = 32
    num_steps: ClassVar = 600
    learning_rate: ClassVar = 5e-3
    warmup: ClassVar = 50

    def read(self, text: str) -> Tokens:
        return read_date(text).tokens

    def join_source(self, tokens: Tokens) -> str:
        return "".join(tokens).replace(SPACE, " ")

    def max_tgt_len(self, source_len: int) -> int:
        return len("1994-11-03") + 2  # one more than needed: a model that does not stop in time is seen doing so

    def answers(self, tokens: Tokens) -> tuple[Tokens, ...]:
        written = understand(tokens)
        return (tuple(written.date.isoformat()),) if written else ()

    def is_training_word(self, tokens: Tokens) -> bool | None:
        """Whether training may show this day, in this form or another."""
        written = understand(tokens)
        return written is not None and not is_held_out(written.date)

    def gold_alignment(self, tokens: Tokens, target: Tokens) -> Alignment | None:
        """A digit comes from the same digit where it is written, else from all that is written of year, month or day.

        "3rd of Nov 94": 1, 9 come from {9, 4}, then 9 and 4 from themselves; 1, 1 from {n, o, v}; 0, 3 from {3}.
        The hyphens come from nothing.
        """
        written = understand(tokens)
        return written.gold() if written and target == tuple(written.date.isoformat()) else None

    def sample_batch(self, generator: torch.Generator, batch_size: int) -> Batch:
        """Texts of all lengths side by side: batches of about one length teach less in a step, and are no faster."""
        return make_batch(self, _random_pairs(generator, batch_size, held_out=False))

    def held_out(self, limit: int | None = None) -> list[Example]:
        """NUM_HELD_OUT different texts of held-out days, made from a seed of their own."""
        generator = torch.Generator().manual_seed(_HELD_OUT_SEED)
        pairs: dict[Tokens, Tokens] = {}
        while len(pairs) < NUM_HELD_OUT:
            pairs |= dict(_random_pairs(generator, NUM_HELD_OUT, held_out=True))
        return [
            Example(source, (target,), (self.gold_alignment(source, target),))
            for source, target in list(pairs.items())[:NUM_HELD_OUT][:limit]
        ]


def is_held_out(day: date) -> bool:
    """Whether a day is kept for testing: every 23rd, counted from the first of January of the year 1."""
    return day.toordinal() % HELD_OUT_ONE_IN == 0


def _random_pairs(generator: torch.Generator, count: int, held_out: bool) -> list[tuple[Tokens, Tokens]]:
    """Random days from one side of the split, each in a random form, and their ISO forms."""
    first, last = FIRST_DAY.toordinal(), LAST_DAY.toordinal()
    pairs: list[tuple[Tokens, Tokens]] = []
    while len(pairs) < count:
        ordinals = torch.randint(first, last + 1, (count,), generator=generator)
        if held_out:
            ordinals = ordinals - ordinals % HELD_OUT_ONE_IN  # the held-out day before
            ordinals = ordinals[ordinals >= first]
        else:
            ordinals = ordinals[ordinals % HELD_OUT_ONE_IN != 0]
        choices = torch.randint(2**31, (len(ordinals), 7), generator=generator)
        for ordinal, numbers in zip(ordinals.tolist(), choices.tolist(), strict=True):
            day = date.fromordinal(ordinal)
            pairs.append((spell(day, numbers), tuple(day.isoformat())))
    return pairs[:count]
