"""Chinese phrases to pinyin: one syllable with its tone for each character.

Several hundred characters are read in more than one way, and only their neighbours tell: 行 is háng in 银行 and xíng
in 行走. Tones follow the phrases of the package, which write 一 and 不 as they change in speech (yí dìng), not always
alike. About one phrase in 23 is held out, chosen by a hash of the phrase. Relatives are not kept apart: training may
show 银行 and not 银行家.
"""

import threading
from functools import lru_cache
from typing import ClassVar

import torch

from attention.tasks.base import Alignment, Batch, Example, Task, Tokens
from attention.tasks.phrases import LONGEST, RAREST, SHORTEST, phrases
from attention.tasks.reading import Refusal, quoted, shortened, visible_characters
from attention.tasks.rows import Rows
from attention.tasks.splitting import HELD_OUT_ONE_IN, is_held_out, text_hash
from attention.tasks.vocabulary import Vocabulary

_MAX_SCANNED = 1000  # characters; in a longer text the first few say enough
_MAX_NAMED = 3


class Pinyin(Task):
    name: ClassVar = "pinyin"
    title: ClassVar = "Chinese characters to pinyin"
    description: ClassVar = (
        "Says how a Chinese phrase is read, a syllable with its tone for each character. The 45,163 phrases come from "
        f"a dictionary; phrases with a character that occurs in fewer than {RAREST} are left out, and about one in "
        f"{HELD_OUT_ONE_IN} is kept for testing only. 563 of the 3,621 characters are read in several ways."
    )
    source_words: ClassVar = "characters"
    target_words: ClassVar = "syllables"
    examples: ClassVar = ("银行", "行走", "音乐", "快乐", "长城", "长大", "重要", "重复", "睡觉", "觉得")
    max_src_len: ClassVar = LONGEST
    batch_size: ClassVar = 64
    num_steps: ClassVar = 700
    learning_rate: ClassVar = 4e-3
    warmup: ClassVar = 50
    embedding_rate: ClassVar = 10.0  # most characters are rare

    @property
    def src_vocab(self) -> Vocabulary:
        return phrases().src_vocab

    @property
    def tgt_vocab(self) -> Vocabulary:
        return phrases().tgt_vocab

    def read(self, text: str) -> Tokens:
        length = len(text)
        tokens = tuple(visible_characters("".join(text[:_MAX_SCANNED].split())))
        allowed = f"{SHORTEST} to {LONGEST} Chinese characters"
        if not tokens:
            given = "Only white space was given" if text else "Nothing was typed"
            raise Refusal(f"{given}: type a phrase of {allowed}.")
        strangers = list(dict.fromkeys(token for token in tokens if token not in self.src_vocab.ids))
        if strangers:
            raise Refusal(_not_known(strangers, allowed))
        if len(tokens) > LONGEST:
            count = len(tokens) if length <= _MAX_SCANNED else length
            raise Refusal(f"{count:,} characters are too many: this model reads {allowed}; shorten the phrase.")
        if len(tokens) < SHORTEST:
            raise Refusal(f"{quoted(tokens[0])} is a single character: this model reads {allowed}; type a phrase.")
        return tokens

    def max_tgt_len(self, source_len: int) -> int:
        return source_len + 2  # one more than needed: a model that does not stop in time is seen doing so

    def answers(self, tokens: Tokens) -> tuple[Tokens, ...]:
        return phrases().readings.get("".join(tokens), ())

    def is_training_word(self, tokens: Tokens) -> bool | None:
        """False for a held-out phrase and for one that is not in the dictionary (which has no `answers`)."""
        return bool(self.answers(tokens)) and not is_held_out("".join(tokens))

    def gold_alignment(self, tokens: Tokens, target: Tokens) -> Alignment | None:
        """Syllable t is that of character t: pinyin has one for each, so the straight way is always right."""
        if target not in self.answers(tokens):
            return None
        return tuple(frozenset({position}) for position in range(len(tokens)))

    def sample_batch(self, generator: torch.Generator, batch_size: int) -> Batch:
        """Phrases of one length."""
        return _training_rows().sample(generator, batch_size)

    def held_out(self, limit: int | None = None) -> list[Example]:
        """All held-out phrases, or the first `limit` of them, ordered by their hash."""
        sources = [tuple(phrase) for phrase in _held_out_phrases()[:limit]]
        return [
            Example(source, self.answers(source), tuple(self.gold_alignment(source, t) for t in self.answers(source)))
            for source in sources
        ]


def _not_known(strangers: list[str], allowed: str) -> str:
    """The sentence that names characters without a place in the vocabulary."""
    names = [quoted(shortened(stranger)) for stranger in strangers[:_MAX_NAMED]]
    if len(strangers) > _MAX_NAMED:
        names.append("others")
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    are = "is not a character" if len(names) == 1 else "are not characters"
    sentence = f"{listed} {are} this model knows"
    return f"{sentence[0].upper()}{sentence[1:]}: type a phrase of {allowed}, simplified and not too rare."


_reading = threading.Lock()  # many visitors may ask at once; it is sorted out for the first only


def _training_rows() -> Rows:
    with _reading:
        return _make_training_rows()


@lru_cache(maxsize=1)
def _make_training_rows() -> Rows:
    found = phrases()
    pairs = [
        (tuple(phrase), reading)
        for phrase, readings in found.readings.items()
        if not is_held_out(phrase)
        for reading in readings
    ]
    return Rows.of(pairs, found.src_vocab, found.tgt_vocab)


def _held_out_phrases() -> list[str]:
    with _reading:
        return _find_held_out_phrases()


@lru_cache(maxsize=1)
def _find_held_out_phrases() -> list[str]:
    return sorted(filter(is_held_out, phrases().readings), key=text_hash)
