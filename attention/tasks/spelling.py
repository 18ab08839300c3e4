"""English spelling to sound: the letters of a word in, its sounds out.

Stress marks are dropped. Where the lexicon has several pronunciations, each is trained on and any counts as
right. About one word in 23 is held out, chosen by a hash of the word: the same words on every machine, and all
pronunciations of a word on the same side. Relatives are not kept apart: training may show "walks" and not "walk".
"""

import threading
from functools import lru_cache
from typing import ClassVar

import torch

from attention.tasks.base import Alignment, Batch, Example, Task, Tokens
from attention.tasks.lexicon import LONGEST, SHORTEST, Entry, all_entries, look_up
from attention.tasks.reading import LETTERS, read_letters
from attention.tasks.rows import Rows
from attention.tasks.splitting import HELD_OUT_ONE_IN, is_held_out, text_hash
from attention.tasks.vocabulary import Vocabulary

VOWELS = ("i", "ɪ", "eɪ", "ɛ", "æ", "ɑ", "ɔ", "oʊ", "ʊ", "u", "ʌ", "ə", "ɚ", "aɪ", "aʊ", "ɔɪ")
PLOSIVES = ("p", "b", "t", "d", "k", "ɡ", "t͡ʃ", "d͡ʒ")
FRICATIVES = ("f", "v", "θ", "ð", "s", "z", "ʃ", "ʒ", "h")
SONORANTS = ("m", "n", "ŋ", "l", "ɹ", "j", "w")


class Spelling(Task):
    name: ClassVar = "spelling"
    title: ClassVar = "English spelling to sound"
    description: ClassVar = (
        "Says how an English word is pronounced. The 117,650 words and their pronunciations come from a lexicon; "
        f"about one word in {HELD_OUT_ONE_IN} is kept for testing only."
    )
    source_words: ClassVar = "letters"
    target_words: ClassVar = "sounds"
    examples: ClassVar = ("knight", "box", "extra", "through", "phone", "psychology", "queue", "rhythm")
    src_vocab: ClassVar = Vocabulary(tuple(LETTERS))
    tgt_vocab: ClassVar = Vocabulary(VOWELS + PLOSIVES + FRICATIVES + SONORANTS)
    max_src_len: ClassVar = LONGEST
    batch_size: ClassVar = 64
    num_steps: ClassVar = 900
    learning_rate: ClassVar = 5e-3

    def read(self, text: str) -> Tokens:
        return read_letters(text, SHORTEST, LONGEST)

    def max_tgt_len(self, source_len: int) -> int:
        # Of 117,650 words, only seven abbreviations ("tv", "mph") need more sounds than letters + 4.
        return source_len + 5

    def answers(self, tokens: Tokens) -> tuple[Tokens, ...]:
        entry = look_up("".join(tokens))
        return entry.pronunciations if entry else ()

    def is_training_word(self, tokens: Tokens) -> bool | None:
        """False for a held-out word and for one that is not in the lexicon (which has no `answers`)."""
        word = "".join(tokens)
        return look_up(word) is not None and not is_held_out(word)

    def gold_alignment(self, tokens: Tokens, target: Tokens) -> Alignment | None:
        entry = look_up("".join(tokens))
        return entry.gold(target) if entry else None

    def sample_batch(self, generator: torch.Generator, batch_size: int) -> Batch:
        """Words of one length; a word is drawn once for each of its pronunciations."""
        return _training_rows().sample(generator, batch_size)

    def held_out(self, limit: int | None = None) -> list[Example]:
        """All held-out words, or the first `limit` of them, ordered by their hash."""
        return list(_held_out_examples()[:limit])


_reading = threading.Lock()  # many visitors may ask at once; the lexicon is read for the first only


def _training_rows() -> Rows:
    with _reading:
        return _read_training_rows()


def _held_out_examples() -> tuple[Example, ...]:
    with _reading:
        return _read_held_out_examples()


@lru_cache(maxsize=1)
def _read_training_rows() -> Rows:
    words = ((word, entry) for word, entry in all_entries().items() if not is_held_out(word))
    pairs = [(tuple(word), sounds) for word, entry in words for sounds in entry.pronunciations]
    return Rows.of(pairs, Spelling.src_vocab, Spelling.tgt_vocab)


@lru_cache(maxsize=1)
def _read_held_out_examples() -> tuple[Example, ...]:
    words = [(word, entry) for word, entry in all_entries().items() if is_held_out(word)]
    words.sort(key=lambda pair: text_hash(pair[0]))
    return tuple(_example(word, entry) for word, entry in words)


def _example(word: str, entry: Entry) -> Example:
    return Example(
        source=tuple(word),
        targets=entry.pronunciations,
        alignments=tuple(entry.gold(sounds) for sounds in entry.pronunciations),
    )
