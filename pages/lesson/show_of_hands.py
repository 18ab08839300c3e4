"""The show of hands as the page draws it: bars for everybody who has the word of a class."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from uuid import uuid4

import streamlit as st

from attention.messages import Message, MessageError
from pages.lesson.hands import WORD, Hands
from pages.shared.answer import notice
from pages.shared.caching import made_once
from pages.shared.parameters import Word
from pages.shared.session import current
from pages.shared.starters import visitor
from pages.shared.texts import label, verbatim
from pages.shared.widgets import choose_setting


def _check(word: str) -> None:
    if not WORD.fullmatch(word):
        english = (
            "is no word of a class: those have 8 to 24 small letters other than i, l and o. No class is open here, "
            "and nobody is counted."
        )
        raise MessageError(Message.of("form", english))


CLASS = Word("class", check=_check)
NAME = re.compile(r"[0-9a-f]{32}")


@made_once()
def hands() -> Hands:
    """The classes of this server."""
    return Hands()


def browser_name() -> str:
    """A name for this browser that says nothing about anybody: its own, where it has kept one, and else a new one."""
    return st.session_state.setdefault("lesson_browser_name", uuid4().hex)


def name_browser(name: object) -> None:
    """Take the name that a browser has kept, and with it what it has said since this page was opened."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        return
    if word := current()[CLASS]:
        hands().rename(word, browser_name(), name)
    st.session_state["lesson_browser_name"] = name


def name_to_keep() -> str:
    """What the browser is to keep, to have one vote when the page is loaded anew, too; "" outside a class."""
    return browser_name() if current()[CLASS] else ""


def raise_hand(step: str, choice: str) -> None:
    """Count a prediction in the class of the address; for callbacks."""
    if word := current()[CLASS]:
        counted = hands().vote(word, visitor(), browser_name(), step, choice)
        st.session_state["lesson_not_counted"] = not counted


def leads() -> bool:
    """Whether this browser began the class of the address."""
    word = current()[CLASS]
    return bool(word) and hands().leads(word, browser_name())


def holds(step: str) -> bool:
    """Whether what comes of a step is held back from the class of the address."""
    word = current()[CLASS]
    return bool(word) and hands().holds(word, step)


def show(steps: Iterable[str]) -> None:
    """Let the class of the address see what comes of these steps; for callbacks."""
    if word := current()[CLASS]:
        hands().show(word, browser_name(), steps)


def tell_closed() -> None:
    """Say so where the address has the word of a class that is not open, or not any longer."""
    word = current()[CLASS]
    if word and not hands().is_there(word):
        notice(label("hands", "gone", word=word))


def draw_number(step: str) -> None:
    """For who leads: how many hands there are so far, and not yet for what."""
    if leads():
        _draw_number(current()[CLASS], step)


@st.fragment(run_every=2)
def _draw_number(word: str, step: str) -> None:
    st.markdown(label("hands", "number", count=(hands().counts(word, step) or Counter()).total()))


def draw_wait(step: str) -> None:
    """In place of the result: for who leads the button that shows it to all, for the others that it is yet to come."""
    if leads():
        look = {"key": "lesson_happens", "type": "primary", "icon": ":material/visibility:"}
        st.button(label("hands", "show"), on_click=show, args=((step,),), **look)
    else:
        _draw_wait(current()[CLASS], step)


@st.fragment(run_every=2)
def _draw_wait(word: str, step: str) -> None:
    if not hands().holds(word, step):
        st.rerun()
    st.markdown(label("hands", "wait"))


def draw_hands(step: str, choices: Mapping[str, str]) -> None:
    """How many hands each choice has so far, as bars that follow by themselves."""
    word = current()[CLASS]
    if not word or not hands().is_there(word):
        return
    _draw_bars(word, step, dict(choices))
    if st.session_state.get("lesson_not_counted"):
        st.markdown(label("hands", "not_counted"))
    st.caption(label("hands", "about"))


@st.fragment(run_every=2)
def _draw_bars(word: str, step: str, choices: dict[str, str]) -> None:
    counts = hands().counts(word, step) or {}
    most = max(counts.values(), default=0) or 1
    rows = "".join(
        f'<tr><th scope="row">{verbatim(said)}</th><td><i style="width:{100 * counts.get(code, 0) / most:.0f}%"></i>'
        f"</td><td>{counts.get(code, 0)}</td></tr>"
        for code, said in choices.items()
    )
    st.html(f'<table class="hands" aria-label="{verbatim(label("hands", "title"))}">{rows}</table>')


def draw_new_class(steps: Iterable[str]) -> None:
    """For the lecturer: a class, with a word that the app makes."""
    word = current()[CLASS]
    if word and hands().is_there(word):
        kept = "no" if st.session_state.get("lesson_refused") else "yes"
        st.markdown(f"{label('hands', 'word', word=word)} {label('hands', 'lead', kept=kept)}")
        if any(map(holds, steps)):
            st.button(label("hands", "show_all"), key="lesson_show_all", on_click=show, args=(tuple(steps),))
        return
    st.markdown(label("hands", "begin_about"))
    st.button(label("hands", "begin"), key="lesson_class", on_click=_begin)


def _begin() -> None:
    choose_setting(CLASS, hands().begin(browser_name()))
