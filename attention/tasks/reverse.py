"""Reverse a string of letters: the clearest picture attention can give, an anti-diagonal.

Strings are generated. A checksum over letters and their places, as in a book's ISBN, decides which part a string
belongs to; training never shows one of the other two.
"""

from typing import ClassVar

import torch
import torch.nn.functional as F
from jaxtyping import Int
from torch import Tensor

from attention.config import END, PAD, START
from attention.tasks.base import Alignment, Batch, Example, Task, Tokens
from attention.tasks.parts import KEPT_APART, ONE_IN, Part, part_of_number
from attention.tasks.reading import LETTERS, read_letters
from attention.tasks.vocabulary import SPECIALS, Vocabulary

SHORTEST, LONGEST = 2, 12
NUM_EXAMPLES = 2_000  # of each part that is kept apart
_SEEDS = {"test": 20_251, "validation": 20_253}


class Reverse(Task):
    name: ClassVar = "reverse"
    backwards: ClassVar = True
    examples: ClassVar = ("knight", "stressed", "abcdef", "level", "zzz", "attention")
    src_vocab: ClassVar = Vocabulary(tuple(LETTERS))
    tgt_vocab: ClassVar = Vocabulary(tuple(LETTERS))
    max_src_len: ClassVar = LONGEST
    batch_size: ClassVar = 24
    num_steps: ClassVar = 200
    matrix_rate: ClassVar = 10e-3
    warmup: ClassVar = 20

    def read(self, text: str) -> Tokens:
        return read_letters(text, SHORTEST, LONGEST)

    def max_tgt_len(self, source_len: int) -> int:
        return source_len + 2  # one more than needed: a model that does not stop in time is seen doing so

    def answers(self, tokens: Tokens) -> tuple[Tokens, ...]:
        return (tuple(reversed(tokens)),)

    def part_of(self, tokens: Tokens) -> Part | None:
        (number,) = checksums(torch.tensor([self.src_vocab.encode(tokens)])).tolist()
        return part_of_number(number)

    def gold_alignment(self, tokens: Tokens, target: Tokens) -> Alignment | None:
        if (target,) != self.answers(tokens):
            return None
        return tuple(frozenset({len(tokens) - 1 - t}) for t in range(len(tokens)))

    def sample_batch(self, generator: torch.Generator, batch_size: int) -> Batch:
        """Strings of all lengths side by side: with one length per batch learning takes twice as long."""
        letters, lengths = _random_strings(generator, batch_size)
        source = F.pad(letters, (0, 1)).scatter(1, lengths, END)  # room for one more token, and END after the last
        backwards = _backwards(letters, lengths)
        return Batch(
            src_ids=source,
            tgt_in=F.pad(backwards, (1, 0), value=START),
            tgt_out=F.pad(backwards, (0, 1)).scatter(1, lengths, END),
        )

    def examples_of(self, part: Part, limit: int | None = None) -> list[Example]:
        """Up to NUM_EXAMPLES different strings from a seed of their own, of lengths as equal as there are strings.

        Of two letters there are about thirty in a part, and they are all here.
        """
        generator = torch.Generator().manual_seed(_SEEDS[part])
        lengths = range(SHORTEST, LONGEST + 1)
        found: list[Tokens] = []
        for place, length in enumerate(lengths):
            share = (NUM_EXAMPLES - len(found)) // (len(lengths) - place)
            found += self._strings(part, length, share, generator)
        mixed = [found[i] for i in torch.randperm(len(found), generator=generator).tolist()]
        return [Example(s, (s[::-1],), (self.gold_alignment(s, s[::-1]),)) for s in mixed[:limit]]

    def _strings(self, part: Part, length: int, count: int, generator: torch.Generator) -> list[Tokens]:
        """`count` different strings of a part, or all there are where these are fewer."""
        if len(LETTERS) ** length <= NUM_EXAMPLES:
            every = torch.cartesian_prod(*[torch.arange(len(LETTERS))] * length)
            drawn = every[torch.randperm(len(every), generator=generator)]
        else:  # so many that there are enough different ones of the part among them
            drawn = torch.randint(len(LETTERS), (3 * ONE_IN * count, length), generator=generator)
        drawn = drawn + len(SPECIALS)
        parts = [part_of_number(number) == part for number in checksums(drawn).tolist()]
        return list(dict.fromkeys(map(self.src_vocab.decode, drawn[torch.tensor(parts)].tolist())))[:count]


def checksums(letters: Int[Tensor, "batch len"]) -> Int[Tensor, " batch"]:
    """Of each (padded) string: Σ place · letter, both from 1. `part_of_number` of it is the string's part."""
    numbers = (letters - len(SPECIALS) + 1).clamp(min=0)  # padding counts 0
    places = torch.arange(1, letters.shape[1] + 1)
    return (numbers * places).sum(1)


def _random_strings(generator: torch.Generator, count: int) -> tuple[Int[Tensor, "count len"], Int[Tensor, "count 1"]]:
    """Random strings for training, padded, and their lengths."""
    letters, lengths = torch.empty(0, LONGEST, dtype=torch.int64), torch.empty(0, 1, dtype=torch.int64)
    while len(letters) < count:
        drawn_lengths = torch.randint(SHORTEST, LONGEST + 1, (2 * count, 1), generator=generator)
        drawn = torch.randint(len(LETTERS), (2 * count, LONGEST), generator=generator) + len(SPECIALS)
        drawn = drawn.masked_fill(torch.arange(LONGEST) >= drawn_lengths, PAD)
        keep = checksums(drawn) % ONE_IN >= len(KEPT_APART)
        letters, lengths = torch.cat([letters, drawn[keep]]), torch.cat([lengths, drawn_lengths[keep]])
    lengths = lengths[:count]
    return letters[:count, : int(lengths.max())], lengths


def _backwards(letters: Int[Tensor, "batch len"], lengths: Int[Tensor, "batch 1"]) -> Int[Tensor, "batch len"]:
    """Each row reversed within its own length."""
    comes_from = lengths - 1 - torch.arange(letters.shape[1])  # negative in the padding
    return letters.gather(1, comes_from.clamp(min=0)).masked_fill(comes_from < 0, PAD)
