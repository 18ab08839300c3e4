"""Phrases that help each other in a test: one that contains another, as 银行家 contains 银行.

That one contains the other is the only relation that is taken: nearly all phrases share some character with others, and
that a character is read alike in two phrases is what there is to learn.
"""

from collections.abc import Collection

from scipy.cluster.hierarchy import DisjointSet

from attention.tasks.pinyin.phrases import SHORTEST


def families(phrases: Collection[str]) -> list[list[str]]:
    """The phrases, each joined with all phrases inside it, over any number of steps."""
    sets = DisjointSet(phrases)
    for phrase in phrases:
        for begin in range(len(phrase)):
            for end in range(begin + SHORTEST, len(phrase) + 1):
                if phrase[begin:end] in sets:
                    sets.merge(phrase, phrase[begin:end])
    return [sorted(family) for family in sets.subsets()]
