"""Reverse a string of letters: the clearest picture attention can give, an anti-diagonal.

Strings are generated. A checksum over letters and their places, as in a book's ISBN, decides which strings are
held out; training never shows one of those.
"""

from typing import ClassVar

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from attention.tasks.base import Alignment, Batch, Example, Task, Tokens
from attention.tasks.reading import LETTERS, read_letters
from attention.tasks.vocabulary import END, SPECIALS, START, Vocabulary

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
    batch_size: ClassVar = 64
    num_steps: ClassVar = 400

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
        """Strings of one length, drawn anew for each batch, so nothing is padded."""
        letters = _random_strings(generator, batch_size, held_out=False)
        backwards = letters.flip(1)
        start, end = letters.new_full((batch_size, 1), START), letters.new_full((batch_size, 1), END)
        return Batch(
            src_ids=torch.cat([letters, end], 1),
            tgt_in=torch.cat([start, backwards], 1),
            tgt_out=torch.cat([backwards, end], 1),
        )

    def held_out(self, limit: int | None = None) -> list[Example]:
        """Up to NUM_HELD_OUT strings, made from a seed of their own; lengths occur equally often."""
        generator = torch.Generator().manual_seed(_HELD_OUT_SEED)
        examples = []
        for _ in range(NUM_HELD_OUT if limit is None else min(limit, NUM_HELD_OUT)):
            source = self.src_vocab.decode(_random_strings(generator, 1, held_out=True)[0].tolist())
            (target,) = self.answers(source)
            examples.append(Example(source, (target,), (self.gold_alignment(source, target),)))
        return examples


def is_held_out(ids: Int[Tensor, "batch len"]) -> Bool[Tensor, " batch"]:
    """Whether each string is kept for testing: Σ place · letter (both from 1) is a multiple of 23."""
    letters = ids - len(SPECIALS) + 1
    places = torch.arange(1, ids.shape[1] + 1)
    return (letters * places).sum(1) % HELD_OUT_ONE_IN == 0


def _random_strings(generator: torch.Generator, count: int, held_out: bool) -> Int[Tensor, "count len"]:
    """Random strings of one random length, all from the same side of the split."""
    length = int(torch.randint(SHORTEST, LONGEST + 1, (), generator=generator))
    found: list[Tensor] = []
    while sum(map(len, found)) < count:
        # A few more than needed, as some are on the wrong side.
        drawn = torch.randint(len(LETTERS), (count + 16, length), generator=generator) + len(SPECIALS)
        found.append(drawn[is_held_out(drawn) == held_out])
    return torch.cat(found)[:count]
