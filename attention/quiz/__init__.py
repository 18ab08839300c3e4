"""A quiz: questions made from a seed, each answered by running what it asks about, never by a formula beside it.

>>> for question in make_quiz(seed=7):
...     print(question.asked, [choice.said.english for choice in question.choices], question.right)
"""

from collections.abc import Callable, Mapping
from random import Random
from types import MappingProxyType

from attention.quiz.about_attention import ABOUT_ATTENTION
from attention.quiz.about_shapes import ABOUT_SHAPES
from attention.quiz.about_sharing import ABOUT_SHARING
from attention.quiz.about_weights import ABOUT_WEIGHTS
from attention.quiz.question import Choice, Question

NUM_QUESTIONS = 10
KINDS: Mapping[str, Callable[[Random], Question]] = MappingProxyType(
    ABOUT_SHAPES | ABOUT_SHARING | ABOUT_ATTENTION | ABOUT_WEIGHTS
)


def make_quiz(seed: int, num_questions: int = NUM_QUESTIONS) -> tuple[Question, ...]:
    """Questions of different kinds; the same seed gives the same ones.

    Raises:
        ValueError: more questions than there are kinds.
    """
    if not 0 < num_questions <= len(KINDS):
        raise ValueError(f"num_questions ({num_questions}) must be 1 to {len(KINDS)}, the number of kinds")
    return tuple(make_question(kind, seed) for kind in Random(seed).sample(list(KINDS), num_questions))


def make_question(kind: str, seed: int) -> Question:
    """The question of one kind that belongs to a seed."""
    return KINDS[kind](Random(f"{seed}/{kind}"))


__all__ = ["KINDS", "NUM_QUESTIONS", "Choice", "Question", "make_question", "make_quiz"]
