"""The Chinese phrases of the PyPI package `pypinyin` (MIT licence): characters, and a syllable with tone for each.

The package's phrases are a JSON file. It is read straight, once per process and only when something asks:
importing the package would read more, and take longer.
"""

import json
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from sys import intern

from attention.tasks.base import Tokens
from attention.tasks.once import once
from attention.tasks.vocabulary import Vocabulary

SHORTEST, LONGEST = 2, 8
RAREST = 3  # a character in fewer phrases is left out, with its phrases: nothing could be learnt about it


@dataclass(frozen=True)
class Phrases:
    """All phrases with their readings, the usual one first, in the package's order."""

    readings: dict[str, tuple[Tokens, ...]]

    @cached_property
    def src_vocab(self) -> Vocabulary:
        """All characters, in the order of Unicode."""
        return Vocabulary(tuple(sorted({char for phrase in self.readings for char in phrase})))

    @cached_property
    def tgt_vocab(self) -> Vocabulary:
        """All syllables, in the order of Unicode."""
        spoken = (syllable for readings in self.readings.values() for reading in readings for syllable in reading)
        return Vocabulary(tuple(sorted(set(spoken))))

    @cached_property
    def several_readings(self) -> frozenset[str]:
        """Characters that are not read alike in all phrases."""
        found: dict[str, set[str]] = {}
        for phrase, readings in self.readings.items():
            for reading in readings:
                for char, syllable in zip(phrase, reading, strict=True):
                    found.setdefault(char, set()).add(syllable)
        return frozenset(char for char, syllables in found.items() if len(syllables) > 1)


@once
def phrases() -> Phrases:
    """All phrases. The first call of a process takes about a quarter of a second."""
    (folder,) = find_spec("pypinyin").submodule_search_locations
    found = json.loads((Path(folder) / "phrases_dict.json").read_text(encoding="utf-8"))
    found = {phrase: syllables for phrase, syllables in found.items() if SHORTEST <= len(phrase) <= LONGEST}
    num_phrases = Counter(char for phrase in found for char in set(phrase))
    return Phrases(
        {
            phrase: tuple(tuple(map(intern, reading)) for reading in product(*syllables))
            for phrase, syllables in found.items()
            if all(num_phrases[char] >= RAREST for char in phrase)
        }
    )
