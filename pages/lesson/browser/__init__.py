"""The answers in the visitor's own browser, so that a page that is loaded anew still has them.

What comes back from there is input like any other: what is no answer of this lesson is left out.
"""

import json
from pathlib import Path

import streamlit as st

from pages.lesson.answers import SKIPPED, Answer, all_answers, on_one_line
from pages.lesson.show_of_hands import name_browser, name_to_keep
from pages.lesson.steps import STEPS
from pages.shared.component import component

KEY, MOST = "lesson_browser", 20_000  # characters that are read back
_keep = component("lesson_kept", (), (Path(__file__).parent / "kept.js",))


def keep_in_browser() -> None:
    """Read what the browser has, once; from then on let it have what the session has."""
    state = st.session_state
    text = written(all_answers())
    data = {"read": state.get("lesson_read", False), "refused": state.get("lesson_refused", False)}
    data |= {"kept": text, "name": name_to_keep()}
    _keep(key=KEY, data=data, on_stored_change=_take)


def written(answers: dict[str, Answer]) -> str:
    """The answers as text; "" for none."""
    given = {step: [answer.choice, answer.sentence] for step, answer in answers.items() if answer != Answer()}
    return json.dumps(given, ensure_ascii=False) if given else ""


def read(text: object) -> dict[str, Answer]:
    """What a browser gave back, as far as it can be an answer."""
    try:
        found = json.loads(text) if isinstance(text, str) and len(text) <= MOST else {}
    except (ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    answers = {}
    for step in STEPS:
        match found.get(step.name):
            case [str(choice), str(sentence)]:
                known = choice in ("", SKIPPED, *step.codes) or step.may_be_choice(choice)
                answers[step.name] = Answer(choice if known else "", on_one_line(sentence))
    return answers


def _take() -> None:
    state = st.session_state.get(KEY)
    value = state.get("stored") if hasattr(state, "get") else None
    if not isinstance(value, dict):
        return
    st.session_state["lesson_refused"] = value.get("refused") is True
    if not st.session_state.get("lesson_read"):
        st.session_state["lesson_read"] = True
        name_browser(value.get("name"))
        for step, answer in read(value.get("text")).items():
            all_answers().setdefault(step, answer)
