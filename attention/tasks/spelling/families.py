"""Words that help each other in a test: of one stem ("walk", "walks"), or of one sound ("knight", "night")."""

from collections.abc import Mapping

from scipy.cluster.hierarchy import DisjointSet

from attention.tasks.spelling.lexicon import Entry


def families(entries: Mapping[str, Entry]) -> list[list[str]]:
    """The words, joined by stem and by each of their pronunciations, over any number of steps.

    Stems are those of Snowball's English stemmer (Porter 2001), from the package `snowballstemmer`.
    """
    import snowballstemmer  # only who makes the files needs it

    stem = snowballstemmer.stemmer("english").stemWord
    sets = DisjointSet(entries)
    first: dict[object, str] = {}
    for word, entry in entries.items():
        for shared in (stem(word), *entry.pronunciations):
            sets.merge(word, first.setdefault(shared, word))
    return [sorted(family) for family in sets.subsets()]
