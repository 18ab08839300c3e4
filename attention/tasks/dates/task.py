"""Dates as people write them, to ISO: "3rd of Nov 94" is 1994-11-03. Tokens are single characters.

What is written and what may be typed come from the same lists (`written_dates.py`). Every 23rd day of the calendar
is for testing, in all its forms, and the day after it for validation: no day that is scored was ever trained on,
however it is written.
"""

from datetime import date
from typing import ClassVar

import torch

from attention.tasks.base import Alignment, Batch, Example, Task, Tokens, make_batch
from attention.tasks.dates.written_dates import FIRST_DAY, LAST_DAY, SPACE, read_date, spell, understand
from attention.tasks.parts import KEPT_APART, ONE_IN, Part, part_of_number
from attention.tasks.vocabulary import Vocabulary

NUM_EXAMPLES = 2_000  # of each part that is kept apart
_SEEDS = {"test": 20_252, "validation": 20_254}


class Dates(Task):
    """Two-digit years: 30 to 99 are 1930 to 1999, 00 to 29 are 2000 to 2029; a year of two digits comes last.

    Day and month: in any order beside the month's name. In numbers alone the year has four digits; when it comes first
    the month follows, when it comes last either order is read, but only where just one of them is a day of the
    calendar (23/11/1994, 11/23/1994) or both are the same (5/5/1994). 3/11/1994 is never written and is refused.
    """

    name: ClassVar = "dates"
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
    num_steps: ClassVar = 400
    matrix_rate: ClassVar = 10e-3

    def read(self, text: str) -> Tokens:
        return read_date(text).tokens

    def join_source(self, tokens: Tokens) -> str:
        return "".join(tokens).replace(SPACE, " ")

    def max_tgt_len(self, source_len: int) -> int:
        return len("1994-11-03") + 2  # one more than needed: a model that does not stop in time is seen doing so

    def answers(self, tokens: Tokens) -> tuple[Tokens, ...]:
        written = understand(tokens)
        return (tuple(written.date.isoformat()),) if written else ()

    def part_of(self, tokens: Tokens) -> Part | None:
        """The part of the day, in this form or another."""
        written = understand(tokens)
        return part_of_number(written.date.toordinal()) if written else None

    def gold_alignment(self, tokens: Tokens, target: Tokens) -> Alignment | None:
        """A digit comes from the same digit where it is written, else from all that is written of year, month or day.

        "3rd of Nov 94": 1, 9 come from {9, 4}, then 9 and 4 from themselves; 1, 1 from {n, o, v}; 0, 3 from {3}.
        The hyphens come from nothing.
        """
        written = understand(tokens)
        return written.gold() if written and target == tuple(written.date.isoformat()) else None

    def sample_batch(self, generator: torch.Generator, batch_size: int) -> Batch:
        """Texts of all lengths side by side: batches of about one length teach less in a step, and are no faster."""
        return make_batch(self, _random_pairs(generator, batch_size, "training"))

    def examples_of(self, part: Part, limit: int | None = None) -> list[Example]:
        """Up to NUM_EXAMPLES different texts, made from a seed of their own."""
        generator = torch.Generator().manual_seed(_SEEDS[part])
        pairs: dict[Tokens, Tokens] = {}
        while len(pairs) < NUM_EXAMPLES:
            pairs |= dict(_random_pairs(generator, NUM_EXAMPLES, part))
        return [
            Example(source, (target,), (self.gold_alignment(source, target),))
            for source, target in list(pairs.items())[:NUM_EXAMPLES][:limit]
        ]


def _random_pairs(generator: torch.Generator, count: int, part: Part) -> list[tuple[Tokens, Tokens]]:
    """Random days of one part, each in a random form, and their ISO forms."""
    first, last = FIRST_DAY.toordinal(), LAST_DAY.toordinal()
    pairs: list[tuple[Tokens, Tokens]] = []
    while len(pairs) < count:
        ordinals = torch.randint(first, last + 1, (count,), generator=generator)
        if part != "training":
            # the day of this part before; days are counted from the first of January of the year 1
            ordinals = ordinals - (ordinals - KEPT_APART.index(part)) % ONE_IN
            ordinals = ordinals[ordinals >= first]
        else:
            ordinals = ordinals[ordinals % ONE_IN >= len(KEPT_APART)]
        choices = torch.randint(2**31, (len(ordinals), 7), generator=generator)
        for ordinal, numbers in zip(ordinals.tolist(), choices.tolist(), strict=True):
            day = date.fromordinal(ordinal)
            pairs.append((spell(day, numbers), tuple(day.isoformat())))
    return pairs[:count]
