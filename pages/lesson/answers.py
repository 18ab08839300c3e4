"""What one visitor predicted and wrote, by step: kept in the session."""

from dataclasses import dataclass, replace

import streamlit as st

from pages.lesson.show_of_hands import raise_hand

SKIPPED = "skipped"
LONGEST, LONGEST_NAME = 300, 80  # characters of a sentence, and of a name


@dataclass(frozen=True)
class Answer:
    """To one step: the code of a choice, or that it was skipped ("" before either), and a sentence."""

    choice: str = ""
    sentence: str = ""

    @property
    def predicted(self) -> str | None:
        """The choice; None where there is none."""
        return self.choice if self.choice not in ("", SKIPPED) else None


def all_answers() -> dict[str, Answer]:
    """By the name of the step."""
    return st.session_state.setdefault("lesson_answers", {})


def answer_to(step: str) -> Answer:
    return all_answers().get(step, Answer())


def choose(step: str, choice: str) -> None:
    all_answers()[step] = replace(answer_to(step), choice=choice)
    if choice != SKIPPED:
        raise_hand(step, choice)


def write(step: str, sentence: str) -> None:
    all_answers()[step] = replace(answer_to(step), sentence=on_one_line(sentence))


def on_one_line(text: str) -> str:
    """What was typed, without breaks and up to a limit."""
    return " ".join(text[: 10 * LONGEST].split())[:LONGEST]
