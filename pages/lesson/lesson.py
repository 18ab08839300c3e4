"""The lesson: nine steps of predicting, running and explaining, on what happens when a decoder has more heads."""

import streamlit as st

from pages.lesson.address import LESSON, QUIZ
from pages.lesson.answers import LONGEST, SKIPPED, answer_to, choose, write
from pages.lesson.browser import keep_in_browser
from pages.lesson.hand_in import draw_hand_in
from pages.lesson.lecturer import draw_lecturer, of_students
from pages.lesson.quiz import draw_quiz
from pages.lesson.show_of_hands import draw_hands, draw_number, draw_wait, holds, leads, tell_closed
from pages.lesson.step import Step
from pages.lesson.steps import STEPS
from pages.shared import session
from pages.shared.answer import notice
from pages.shared.links import link_to
from pages.shared.style import draw_stylesheet
from pages.shared.texts import label
from pages.shared.title import draw_title
from pages.shared.widgets import choose_setting, offers_of, put, taken


def draw_steps(number: int) -> None:
    """All steps, to go to any of them."""
    put("lesson_step", number)
    numbers = tuple(range(1, len(STEPS) + 1))
    look = {"required": True, "wrap": True, "on_change": taken, "args": ("lesson_step", choose_setting, LESSON)}
    st.segmented_control(label("lesson", "step"), numbers, format_func=str, key="lesson_step", **look)


def draw_prediction(step: Step) -> None:
    """The question with its choices; what comes of it is hidden until one is picked, or skipped."""
    choices, key = step.choices(), f"lesson_choice_{step.name}"
    put(key, None, offers_of(tuple(choices), choices.get))
    title = label("lesson", "predict")
    look = {"format_func": choices.get, "wrap": True, "on_change": taken, "args": (key, choose, step.name)}
    st.pills(title, tuple(choices), key=key, **look)
    draw_number(step.name)
    gather = leads() and holds(step.name)  # who leads a class wants its hands, and need not raise one
    title, key = (label("hands", "reveal"), "lesson_hands") if gather else (label("lesson", "skip"), "lesson_skip")
    st.button(title, key=key, on_click=choose, args=(step.name, SKIPPED))


def draw_result(step: Step, theme: str) -> None:
    """What was predicted, the experiment, what was seen and what it means: in a class once its lecturer shows it."""
    answer = answer_to(step.name)
    said = step.choices().get(answer.predicted)
    if said or not leads():
        st.markdown(label("lesson", "predicted", choice=said) if said else label("lesson", "skipped"))
    draw_hands(step.name, step.choices())
    if holds(step.name):
        draw_wait(step.name)
        return
    if step.draw(theme, answer.predicted if said else None):
        st.subheader(label("lesson", "seen"), anchor=False)
        st.markdown(f"{step.seen()} {step.once()}".strip())
        st.markdown(f"**{label('lesson', 'learned')}** {step.learned()}")
    key = f"lesson_sentence_{step.name}"
    put(key, answer.sentence)
    limits = {"max_chars": LONGEST, "on_change": taken, "args": (key, write, step.name)}
    st.text_input(label("lesson", "sentence"), key=key, **limits)
    page, address = step.explore()
    look = {"icon": ":material/open_in_new:", "disabled": session.pages_are_held()}
    st.link_button(label("lesson", "explore"), link_to(address, page), **look)


def draw_moves(number: int) -> None:
    """One step back or on."""
    with st.container(horizontal=True):
        for name, to in (("back", number - 1), ("next", number + 1)):
            move = {"on_click": choose_setting, "args": (LESSON, to), "disabled": not 1 <= to <= len(STEPS)}
            st.button(label("lesson", name), key=f"lesson_{name}", **move)


settings = session.for_page()
number = settings[LESSON]
step = STEPS[number - 1]
draw_stylesheet("lesson")
draw_title(label("app", "lesson"), label("lesson", "intro"))
notice(*session.notices())
tell_closed()
draw_steps(number)
st.header(label("lesson", "title", number=number, title=step.text("title"), minutes=step.minutes), anchor=False)
with st.spinner(label("lesson", "computing")):
    st.markdown(step.question())
    if answer_to(step.name).choice:
        draw_result(step, st.context.theme.type or "light")
    else:
        draw_prediction(step)
draw_moves(number)
draw_hand_in()
keep_in_browser()
st.divider()
draw_quiz(settings[QUIZ])
if not of_students():
    draw_lecturer()
if number < len(STEPS):
    STEPS[number].begin()
