"""The English lexicon of the PyPI package `gruut-lang-en` (MIT licence): spellings, sounds, and what makes what.

`lexicon.db` is an SQLite file. One word is one query; the whole lexicon is read only when training asks.
Every call opens its own read-only connection, so any number of threads may ask at once.
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from attention.tasks.base import Alignment, Tokens

SHORTEST, LONGEST = 2, 16
_STRESS = str.maketrans("", "", "ˈˌ")
# SQLite's GLOB: lower-case a–z only, which leaves out apostrophes, full stops and accents.
_PLAIN = f"word NOT GLOB '*[^a-z]*' AND length(word) BETWEEN {SHORTEST} AND {LONGEST}"


@dataclass(frozen=True)
class Entry:
    """A word's different pronunciations, the usual one first, and its alignment as the lexicon writes it."""

    pronunciations: tuple[Tokens, ...]
    alignment: str | None

    def gold(self, sounds: Tokens) -> Alignment | None:
        """Which letters make each of `sounds`; None when the alignment is of another pronunciation."""
        if self.alignment is None:
            return None
        aligned_sounds, letters = parse_alignment(self.alignment)
        return letters if aligned_sounds == sounds else None


@contextmanager
def _connection() -> Iterator[sqlite3.Connection]:
    path = Path(str(files("gruut_lang_en"))) / "lexicon.db"
    # immutable: nobody writes to it, so SQLite needs no locks, nor a directory it may write to
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        yield connection


@lru_cache(maxsize=1024)
def look_up(word: str) -> Entry | None:
    """The entry of one word of plain letters; None when it is not in the lexicon."""
    with _connection() as connection:
        found = connection.execute(
            f"SELECT phonemes FROM word_phonemes WHERE word = ? AND {_PLAIN} ORDER BY pron_order", (word,)
        ).fetchall()
        if not found:
            return None
        query = "SELECT alignment FROM g2p_alignments WHERE word = ?"
        aligned = connection.execute(query, (word,)).fetchone()
    pronunciations = dict.fromkeys(parse_sounds(phonemes) for (phonemes,) in found)  # some differ by stress only
    return Entry(tuple(pronunciations), aligned[0] if aligned else None)


def look_up_all(words: Sequence[str]) -> dict[str, Entry]:
    """The entries of many words, in one reading of the table; words that are not in the lexicon are left out."""
    return _entries("AND word IN (SELECT value FROM json_each(?))", json.dumps(words))


def all_entries() -> dict[str, Entry]:
    """Every word of plain letters, in the lexicon's order. Takes about a second; keep what you need of it."""
    return _entries()


def _entries(condition: str = "", *given: str) -> dict[str, Entry]:
    with _connection() as connection:
        query = f"SELECT word, phonemes FROM word_phonemes WHERE {_PLAIN} {condition} ORDER BY word, pron_order"
        found = connection.execute(query, given).fetchall()
        query = f"SELECT word, alignment FROM g2p_alignments WHERE {_PLAIN} {condition}"
        alignments = dict(connection.execute(query, given))
    pronunciations: dict[str, dict[Tokens, None]] = {}
    for word, phonemes in found:
        pronunciations.setdefault(word, {})[parse_sounds(phonemes)] = None
    return {word: Entry(tuple(sounds), alignments.get(word)) for word, sounds in pronunciations.items()}


def parse_sounds(phonemes: str) -> Tokens:
    """Sounds without stress marks: "n ˈaɪ t" is n, aɪ, t."""
    return tuple(phonemes.translate(_STRESS).split(" "))


def parse_alignment(text: str) -> tuple[Tokens, Alignment]:
    """Sounds, and for each the positions of the letters that make it.

    "k|n}n i}ˈaɪ g|h}_ t}t" (knight) is n, aɪ, t made by {0, 1}, {2}, {5}; the silent g and h make none.
    In "x}k|s" both sounds belong to the one letter.
    """
    sounds: list[str] = []
    letters: list[frozenset[int]] = []
    position = 0
    for unit in text.split(" "):
        spelled, spoken = unit.split("}")
        end = position + len(spelled.split("|"))
        if spoken != "_":
            for sound in spoken.translate(_STRESS).split("|"):
                sounds.append(sound)
                letters.append(frozenset(range(position, end)))
        position = end
    return tuple(sounds), tuple(letters)
