"""The quiz: questions made from a number, one answer each, and why it is right or not."""

from random import randint

import streamlit as st

from attention.quiz import Question, make_quiz
from attention.shapes.ledger import LedgerStep
from pages.lesson.address import QUIZ
from pages.shared.caching import made_once
from pages.shared.ledger import dims_of, step_name, symbol_name
from pages.shared.texts import label, listed, say
from pages.shared.widgets import choose_setting, put, taken


@made_once(max_bytes=1_000_000)
def _questions(seed: int) -> tuple[Question, ...]:
    return make_quiz(seed)


def draw_quiz(seed: int | None) -> None:
    """All questions of a seed, once there is one; what was answered is kept while the visitor is here."""
    st.header(label("quiz", "title"), anchor=False)
    st.markdown(label("quiz", "intro"))
    if seed is None:
        st.button(label("quiz", "start"), key="quiz_start", on_click=_begin)
        return
    questions = _questions(seed)
    given = st.session_state.setdefault("quiz_answers", {}).setdefault(seed, {})
    for number, question in enumerate(questions):
        _draw_question(number, question, given, key=f"quiz_{seed}_{number}")
    if given:
        right = sum(questions[number].right == pick for number, pick in given.items())
        st.markdown(f"**{label('quiz', 'score', right=right, count=len(questions))}**")
    others = (seed + 1) % (QUIZ.high + 1)
    st.button(label("quiz", "again"), key="quiz_again", on_click=choose_setting, args=(QUIZ, others))


def _begin() -> None:
    """With any number: whoever wants the same questions opens the address that has it."""
    choose_setting(QUIZ, randint(QUIZ.low, QUIZ.high))


def _draw_question(number: int, question: Question, given: dict[int, int], key: str) -> None:
    choices = [say("quiz_choice", choice.said) for choice in question.choices]
    put(key, given.get(number))
    st.radio(
        label("quiz", "question", number=number + 1, asked=say("quiz_question", question.asked)),
        options=range(len(choices)),
        format_func=choices.__getitem__,
        index=None,
        key=key,
        on_change=taken,
        args=(key, given.__setitem__, number),
    )
    pick = given.get(number)
    if pick is None:
        return
    name = "right" if pick == question.right else "wrong"
    why = say("quiz_why", question.why)
    st.markdown(label("quiz", name, right=choices[question.right], why=why))
    if question.steps and pick != question.right:
        st.caption("  \n".join((label("quiz", "steps"), *map(_step_text, question.steps))))


def _step_text(step: LedgerStep) -> str:
    """A line of the ledger: what went in, and what came out or PyTorch's words."""
    given = listed(f"{symbol_name(shape.symbol)} ({dims_of(shape)})" for shape in step.inputs)
    if step.output is None:
        return label("quiz", "step_failed", step=step_name(step), given=given, error=step.error)
    made = f"{symbol_name(step.output.symbol)} ({dims_of(step.output)})"
    return label("quiz", "step", step=step_name(step), given=given, made=made)
