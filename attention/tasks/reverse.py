"""Reverse a string of letters: the clearest picture attention can give, an anti-diagonal.

Strings are generated. A checksum over letters and their places, as in a book's ISBN, decides which strings are
held out; training never shows one of those.
"""

from typing import ClassVar

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Int
from torch import Tensor

from attention.config import END, PAD, START
from attention.tasks.base import Alignment, Batch, Example, Task, Tokens
from attention.tasks.reading import LETTERS, read_letters
from attention.tasks.vocabulary import SPECIALS, Vocabulary

SHORTEST, LONGEST = 2, 12
HELD_OUT_ONE_IN = 23
NUM_HELD_OUT = 2_000
_HELD_OUT_SEED = 20_251


class Reverse(Task):
    name: ClassVar = "reverse"
    title: ClassVar = "Reverse a string"
    description: ClassVar = (
        f"Says {SHORTEST} to {LONGEST} letters backwards. Strings are made up at random while training, "
        f"about one string in {HELD_OUT_ONE_IN} is kept for testing only."
    )
    source_words: ClassVar = "letters"
    target_words: ClassVar = "letters"
    examples: ClassVar = ("knight", "stressed", "abcdef", "level", "zzz", "attention")
    src_vocab: ClassVar = Vocabulary(tuple(LETTERS))
    tgt_vocab: ClassVar = Vocabulary(tuple(LETTERS))
    max_src_len: ClassVar = LONGEST
    batch_size: ClassVar = 24
    num_steps: ClassVar = 250
    learning_rate: ClassVar = 5e-3
    warmup: ClassVar = 30

    def read(self, text: str) -> Tokens:
        return read_letters(text, SHORTEST, LONGEST)

    def max_tgt_len(self, source_len: int) -> int:
        return source_len + 2  # one more than needed: a model that does not stop in time is seen doing so

    def answers(self, tokens: Tokens) -> tuple[Tokens, ...]:
        return (tuple(reversed(tokens)),)

    def is_training_word(self, tokens: Tokens) -> bool | None:
        return None  # 26 to the 12th strings: whether training met this one by chance says nothing

    def gold_alignment(self, tokens: Tokens, target: Tokens) -> Alignment | None:
        if (target,) != self.answers(tokens):
            return None
        return tuple(frozenset({len(tokens) - 1 - t}) for t in range(len(tokens)))

    def sample_batch(self, generator: torch.Generator, batch_size: int) -> Batch:
        """Strings of all lengths side by side: with one length per batch learning takes twice as long."""
        letters, lengths = _random_strings(generator, batch_size, held_out=False)
        source = F.pad(letters, (0, 1)).scatter(1, lengths, END)  # room for one more token, and END after the last
        backwards = _backwards(letters, lengths)
        return Batch(
            src_ids=source,
            tgt_in=F.pad(backwards, (1, 0), value=START),
            tgt_out=F.pad(backwards, (0, 1)).scatter(1, lengths, END),
        )

    def held_out(self, limit: int | None = None) -> list[Example]:
        """Up to NUM_HELD_OUT strings, made from a seed of their own; lengths occur equally often."""
        generator = torch.Generator().manual_seed(_HELD_OUT_SEED)
        letters, _ = _random_strings(generator, NUM_HELD_OUT, held_out=True)
        sources = [self.src_vocab.decode(filter(None, row)) for row in letters[:limit].tolist()]
        targets = [source[::-1] for source in sources]
        return [Example(s, (t,), (self.gold_alignment(s, t),)) for s, t in zip(sources, targets, strict=True)]


def is_held_out(letters: Int[Tensor, "batch len"]) -> Bool[Tensor, " batch"]:
    """Whether each (padded) string is kept for testing: Σ place · letter, both from 1, is a multiple of 23."""
    numbers = (letters - len(SPECIALS) + 1).clamp(min=0)  # padding counts 0
    places = torch.arange(1, letters.shape[1] + 1)
    return (numbers * places).sum(1) % HELD_OUT_ONE_IN == 0


def _random_strings(
    generator: torch.Generator, count: int, held_out: bool
) -> tuple[Int[Tensor, "count len"], Int[Tensor, "count 1"]]:
    """Random strings, padded, from one side of the split, and their lengths."""
    letters, lengths = torch.empty(0, LONGEST, dtype=torch.int64), torch.empty(0, 1, dtype=torch.int64)
    while len(letters) < count:
        drawn_lengths = torch.randint(SHORTEST, LONGEST + 1, (2 * count, 1), generator=generator)
        drawn = torch.randint(len(LETTERS), (2 * count, LONGEST), generator=generator) + len(SPECIALS)
        drawn = drawn.masked_fill(torch.arange(LONGEST) >= drawn_lengths, PAD)
        keep = is_held_out(drawn) == held_out
        letters, lengths = torch.cat([letters, drawn[keep]]), torch.cat([lengths, drawn_lengths[keep]])
    lengths = lengths[:count]
    return letters[:count, : int(lengths.max())], lengths


def _backwards(letters: Int[Tensor, "batch len"], lengths: Int[Tensor, "batch 1"]) -> Int[Tensor, "batch len"]:
    """Each row reversed within its own length."""
    comes_from = lengths - 1 - torch.arange(letters.shape[1])  # negative in the padding
    return letters.gather(1, comes_from.clamp(min=0)).masked_fill(comes_from < 0, PAD)
