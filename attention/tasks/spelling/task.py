"""English spelling to sound: the letters of a word in, its sounds out.

Stress marks are dropped. Where the lexicon has several pronunciations, each is trained on and any counts as
right. Whole families of words are kept apart for validation and test: no word that is scored shares its stem or its
sound with one that is trained on, but "bookcase" may be scored where "book" was trained on (`resemble_training`).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import torch

from attention.tasks.base import Alignment, Batch, Example, Task, Tokens
from attention.tasks.once import once
from attention.tasks.parts import Part, Parts
from attention.tasks.reading import LETTERS, read_letters
from attention.tasks.rows import Rows
from attention.tasks.spelling.lexicon import LONGEST, SHORTEST, Entry, all_entries, look_up, look_up_all
from attention.tasks.vocabulary import Vocabulary

VOWELS = ("i", "ɪ", "eɪ", "ɛ", "æ", "ɑ", "ɔ", "oʊ", "ʊ", "u", "ʌ", "ə", "ɚ", "aɪ", "aʊ", "ɔɪ")
PLOSIVES = ("p", "b", "t", "d", "k", "ɡ", "t͡ʃ", "d͡ʒ")
FRICATIVES = ("f", "v", "θ", "ð", "s", "z", "ʃ", "ʒ", "h")
SONORANTS = ("m", "n", "ŋ", "l", "ɹ", "j", "w")
SHORTEST_RELATIVE = 4


class Spelling(Task):
    name: ClassVar = "spelling"
    examples: ClassVar = ("knight", "box", "extra", "phone", "bright", "castle", "through", "queue")
    src_vocab: ClassVar = Vocabulary(tuple(LETTERS))
    tgt_vocab: ClassVar = Vocabulary(VOWELS + PLOSIVES + FRICATIVES + SONORANTS)
    max_src_len: ClassVar = LONGEST
    batch_size: ClassVar = 64
    num_steps: ClassVar = 700
    warmup: ClassVar = 30

    def read(self, text: str) -> Tokens:
        return read_letters(text, SHORTEST, LONGEST)

    def max_tgt_len(self, source_len: int) -> int:
        # Of 117,650 words, only seven abbreviations ("tv", "mph") need more sounds than letters + 4.
        return source_len + 5

    def answers(self, tokens: Tokens) -> tuple[Tokens, ...]:
        entry = look_up("".join(tokens))
        return entry.pronunciations if entry else ()

    def part_of(self, tokens: Tokens) -> Part | None:
        """None for a word that is not in the lexicon."""
        word = "".join(tokens)
        return _parts().part_of(word) if look_up(word) else None

    def gold_alignment(self, tokens: Tokens, target: Tokens) -> Alignment | None:
        entry = look_up("".join(tokens))
        return entry.gold(target) if entry else None

    def sample_batch(self, generator: torch.Generator, batch_size: int) -> Batch:
        """Words of one length; a word is drawn once for each of its pronunciations."""
        return _training_rows().sample(generator, batch_size)

    def examples_of(self, part: Part, limit: int | None = None) -> list[Example]:
        words = getattr(_parts(), part)[:limit]
        entries = look_up_all(words)
        return [_example(word, entries[word]) for word in words]

    def resemble_training(self, examples: Sequence[Example]) -> list[bool]:
        """Words of training count from `SHORTEST_RELATIVE` letters: nearly every word contains "an" or "ear"."""
        words = {"".join(example.source) for example in examples}
        trained = {word for word in all_entries() if _parts().part_of(word) == "training"}
        long = {word for word in trained if len(word) >= SHORTEST_RELATIVE}
        inside = {piece for word in long for piece in _pieces(word, SHORTEST)} & words
        around = {word for word in words if any(piece in long for piece in _pieces(word, SHORTEST_RELATIVE))}
        return ["".join(example.source) in inside | around for example in examples]


@once
def _parts() -> Parts:
    return Parts.read(Path(__file__).parent)


@once
def _training_rows() -> Rows:
    words = ((word, entry) for word, entry in all_entries().items() if _parts().part_of(word) == "training")
    pairs = [(tuple(word), sounds) for word, entry in words for sounds in entry.pronunciations]
    return Rows.of(pairs, Spelling.src_vocab, Spelling.tgt_vocab)


def _pieces(word: str, shortest: int) -> list[str]:
    """All stretches of at least `shortest` letters of a word, itself too."""
    places = range(len(word) + 1)
    return [word[begin:end] for begin in places for end in places[begin + shortest :]]


def _example(word: str, entry: Entry) -> Example:
    return Example(
        source=tuple(word),
        targets=entry.pronunciations,
        alignments=tuple(entry.gold(sounds) for sounds in entry.pronunciations),
    )
