"""For the lecturer: the link for a class, with what it holds fast, and the plan with the answers expected today."""

import re
from functools import partial
from urllib.parse import urlencode, urlsplit, urlunsplit

import streamlit as st

from pages.lesson.plan import printed_plan, wait_for_numbers
from pages.lesson.show_of_hands import CLASS, draw_new_class, leads
from pages.lesson.steps import STEPS
from pages.shared.copy_link import draw_copy, draw_qr
from pages.shared.locked import GROUPS, LOCK, SHOW
from pages.shared.session import current
from pages.shared.texts import label
from pages.shared.widgets import box, kept_text, pills_of_many

OWN = ("localhost", "127.0.0.1", "::1", "0.0.0.0")  # addresses that mean the machine that asks
LONGEST_WAIT = 90  # seconds
HOST = re.compile(r"[A-Za-z0-9.\-]+(:[0-9]{1,5})?")


def class_link(url: str, host: str, lock: list[str], show: list[str], word: str | None = None) -> str:
    """The address of the lesson's first step, with another host where one is given."""
    parts = urlsplit(url)
    query = {"lesson": "1"} | {name: "-".join(names) for name, names in (("lock", lock), ("show", show)) if names}
    if word:
        query["class"] = word
    return urlunsplit((parts.scheme, host or parts.netloc, parts.path, urlencode(query), ""))


def is_own(url: str) -> bool:
    """Whether nobody else can open this address."""
    return (urlsplit(url).hostname or "") in OWN


def of_students() -> bool:
    """Whether this page was opened by the link of a class, and not by who leads it."""
    settings = current()
    return not leads() and any(settings[name] for name in (CLASS, LOCK, SHOW))


def draw_lecturer() -> None:
    """Under a title to be opened."""
    with box("lesson_lecturer", label("lecturer", "title")) as place:
        if not place.open:
            return
        st.markdown(label("lecturer", "about"))
        held = st.session_state.setdefault("lesson_held", {"lock": [], "show": []})
        for name in held:
            look = {"options": tuple(GROUPS), "show": lambda group: label("lecturer", f"group_{group}")}
            take = partial(held.__setitem__, name)
            pills_of_many(f"lesson_{name}", held[name], title=label("lecturer", name), take=take, **look)
        url, host = st.context.url or "http://localhost:8501/lesson", ""
        if is_own(url):
            st.markdown(label("lecturer", "own"))
            typed = kept_text("lesson_host", label("lecturer", "host"), 100).strip()
            if typed and not HOST.fullmatch(typed):
                st.markdown(label("lecturer", "no_host"))
            host = typed if HOST.fullmatch(typed) else ""
        draw_new_class([step.name for step in STEPS])
        link = class_link(url, host, **held, word=current()[CLASS])
        draw_copy("class", link)
        draw_qr(link, label("lecturer", "qr"))
        st.markdown(label("lecturer", "plan_about"))
        if st.button(label("lecturer", "plan"), key="lesson_plan"):
            with st.spinner(label("lesson", "computing")):
                wait_for_numbers(LONGEST_WAIT)
                plan = printed_plan()
            look = {"mime": "text/html", "on_click": "ignore", "key": "lesson_plan_file"}
            st.download_button(label("lecturer", "download"), plan, label("lecturer", "plan_file"), **look)
