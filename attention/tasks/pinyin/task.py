"""Chinese phrases to pinyin: one syllable with its tone for each character.

Several hundred characters are read in more than one way, and only their neighbours tell: 行 is háng in 银行 and xíng
in 行走. Tones follow the phrases of the package, which write 一 and 不 as they change in speech (yí dìng), not always
alike. Phrases are kept apart for validation and test with all that contain them or are inside them: where 银行家 is
scored, 银行 was not trained on. Two phrases that only share some characters are no relatives: that a character is read
alike in both is what there is to learn.
"""

from pathlib import Path
from typing import ClassVar

import torch

from attention.tasks.base import Alignment, Batch, Example, Task, Tokens
from attention.tasks.once import once
from attention.tasks.parts import Part, Parts
from attention.tasks.pinyin.phrases import LONGEST, SHORTEST, phrases
from attention.tasks.reading import MAX_SCANNED, first_different, named, quoted, refusal, visible_characters
from attention.tasks.rows import Rows
from attention.tasks.vocabulary import Vocabulary


class Pinyin(Task):
    name: ClassVar = "pinyin"
    examples: ClassVar = ("银行", "行走", "音乐", "快乐", "长城", "长大", "重要", "重复", "睡觉", "觉得")
    max_src_len: ClassVar = LONGEST
    batch_size: ClassVar = 64
    num_steps: ClassVar = 500
    embedding_rate: ClassVar = 10.0  # most characters are rare

    @property
    def src_vocab(self) -> Vocabulary:
        return phrases().src_vocab

    @property
    def tgt_vocab(self) -> Vocabulary:
        return phrases().tgt_vocab

    def read(self, text: str) -> Tokens:
        allowed = "{shortest} to {longest} Chinese characters"
        numbers = {"shortest": SHORTEST, "longest": LONGEST}
        tokens = tuple(visible_characters("".join(text[:MAX_SCANNED].split())))
        if not text:
            raise refusal("phrase_missing", f"Nothing was typed: type a phrase of {allowed}.", **numbers)
        if not tokens:
            raise refusal("phrase_blank", f"Only white space was given: type a phrase of {allowed}.", **numbers)
        strangers = first_different(token for token in tokens if token not in self.src_vocab.ids)
        if strangers:
            fault = "is not a character" if len(strangers) == 1 else "are not characters"
            sentence = f"{{names}} {fault} this model knows: type a phrase of {allowed}, simplified and not too rare."
            raise refusal("phrase_unknown", sentence, names=named(strangers), count=len(strangers), **numbers)
        if len(tokens) > LONGEST:
            count = len(tokens) if len(text) <= MAX_SCANNED else len(text)
            sentence = f"{{count:,}} characters are too many: this model reads {allowed}; shorten the phrase."
            raise refusal("phrase_long", sentence, count=count, **numbers)
        if len(tokens) < SHORTEST:
            sentence = f"{{typed}} is a single character: this model reads {allowed}; type a phrase."
            raise refusal("phrase_short", sentence, typed=quoted(tokens[0]), **numbers)
        return tokens

    def max_tgt_len(self, source_len: int) -> int:
        return source_len + 2  # one more than needed: a model that does not stop in time is seen doing so

    def answers(self, tokens: Tokens) -> tuple[Tokens, ...]:
        return phrases().readings.get("".join(tokens), ())

    def part_of(self, tokens: Tokens) -> Part | None:
        """None for a phrase that is not in the dictionary."""
        return _parts().part_of("".join(tokens)) if self.answers(tokens) else None

    def gold_alignment(self, tokens: Tokens, target: Tokens) -> Alignment | None:
        """Syllable t is that of character t: pinyin has one for each, so the diagonal is always right."""
        if target not in self.answers(tokens):
            return None
        return tuple(frozenset({position}) for position in range(len(tokens)))

    def sample_batch(self, generator: torch.Generator, batch_size: int) -> Batch:
        """Phrases of one length."""
        return _training_rows().sample(generator, batch_size)

    def examples_of(self, part: Part, limit: int | None = None) -> list[Example]:
        sources = [tuple(phrase) for phrase in getattr(_parts(), part)[:limit]]
        return [
            Example(source, self.answers(source), tuple(self.gold_alignment(source, t) for t in self.answers(source)))
            for source in sources
        ]


@once
def _training_rows() -> Rows:
    found = phrases()
    pairs = [
        (tuple(phrase), reading)
        for phrase, readings in found.readings.items()
        if _parts().part_of(phrase) == "training"
        for reading in readings
    ]
    return Rows.of(pairs, found.src_vocab, found.tgt_vocab)


@once
def _parts() -> Parts:
    return Parts.read(Path(__file__).parent)
