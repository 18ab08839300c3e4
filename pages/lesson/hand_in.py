"""Handing in: what is kept and where, the two downloads, and clearing it all."""

import re
from urllib.parse import urlencode

import streamlit as st

from pages.lesson.answers import LONGEST_NAME, all_answers, answer_to, on_one_line
from pages.lesson.sheet import Handed, sheet, table
from pages.lesson.show_of_hands import CLASS, holds
from pages.lesson.step import Step
from pages.lesson.steps import STEPS
from pages.shared.locked import carried
from pages.shared.session import current
from pages.shared.texts import label, verbatim
from pages.shared.widgets import box, put

LONGEST_IN_FILE = 40  # characters of a name
ENCODING = {"sheet": "utf-8", "table": "utf-8-sig"}  # by whose mark a spreadsheet knows that "→" is one character


def draw_hand_in() -> None:
    """Below the steps, under a title to be opened."""
    with box("lesson_hand_in", label("hand_in", "title")) as place:
        if not place.open:
            return
        refused = st.session_state.get("lesson_refused", False)
        st.markdown(label("hand_in", "refused" if refused else "kept"))
        if current()[CLASS]:
            st.markdown(label("hands", "kept", kept="no" if refused else "yes"))
        _draw_name()
        name = st.session_state.get("lesson_named")
        if name is None:  # the files are offered once they have it: a click that takes it would save them without it
            st.button(label("hand_in", "clear"), key="lesson_clear", on_click=_clear)
            return
        st.html(f"<p>{verbatim(label('hand_in', 'named', named='yes' if name else 'no', name=name))}</p>")
        steps = [_handed(number, step) for number, step in enumerate(STEPS, start=1) if answer_to(step.name).choice]
        with st.container(horizontal=True):
            for kind, make, mime in (("sheet", sheet, "text/html"), ("table", table, "text/csv")):
                title, file = label("hand_in", kind), file_name(kind, name)
                look = {"mime": mime, "on_click": "ignore", "disabled": not steps, "key": f"lesson_{kind}"}
                st.download_button(title, make(name, steps).encode(ENCODING[kind]), file, **look)
            st.button(label("hand_in", "clear"), key="lesson_clear", on_click=_clear)


def _draw_name() -> None:
    """The field of the name, with the button that takes it."""
    with st.form("lesson_name_form", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        put("lesson_name", st.session_state.get("lesson_named") or "")
        st.text_input(label("hand_in", "name"), key="lesson_name", max_chars=LONGEST_NAME)
        st.form_submit_button(label("hand_in", "make"), key="lesson_make", on_click=_take_name)


def _take_name() -> None:
    st.session_state["lesson_named"] = on_one_line(st.session_state.get("lesson_name") or "")


def file_name(kind: str, name: str) -> str:
    """What a file is called: of a name its letters and digits, so that those of a class can lie in one folder."""
    plain = "-".join(re.findall(r"[^\W_]+", name))[:LONGEST_IN_FILE].strip("-")
    return label("hand_in", f"{kind}_file", named="yes" if plain else "no", name=plain)


def _handed(number: int, step: Step) -> Handed:
    answer = answer_to(step.name)
    return Handed(
        title=f"{number}. {step.text('title')}",
        question=step.question(),
        choice=step.choices().get(answer.choice) or label("lesson", "skipped"),
        sentence=answer.sentence,
        link=f"{st.context.url or ''}?{urlencode({'lesson': number, **carried(current())})}",
        bars=() if holds(step.name) else step.bars(),
    )


def _clear() -> None:
    all_answers().clear()
    st.session_state["lesson_read"] = True  # nothing is to come back
    for key in ("lesson_rows", "lesson_models", "lesson_mended"):
        st.session_state.pop(key, None)
    st.session_state.pop("lesson_named", None)
