"""Controls that belong to one page: kept while one looks at another part of it, which Streamlit's own are not."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import streamlit as st

from pages.parts import sidebar

_KEPT = "kept"


def kept(name: str, options: Sequence, usual=None):
    """What was chosen, as long as it is possible; otherwise the usual option, or the first."""
    value = st.session_state.setdefault(_KEPT, {}).get(name)
    return value if value in options else options[0] if usual is None else usual


def keep(name: str, value) -> None:
    """Choose without a widget; for callbacks."""
    st.session_state.setdefault(_KEPT, {})[name] = value


def choose(
    name: str, options: Sequence, show: Callable, title: str, *, make: Callable = st.segmented_control, usual=None
):
    """One of a few options as a row of buttons, or (`make=st.selectbox`) as a box."""
    value, key = kept(name, options, usual), f"page_{name}"
    sidebar.put(key, value)
    extra = {"required": True, "wrap": True} if make is st.segmented_control else {}
    make(title, options=options, format_func=show, key=key, on_change=sidebar.taken, args=(key, keep, name), **extra)
    return value


def linked(field: str, options: Sequence, show: Callable, title: str, *, make: Callable = st.segmented_control):
    """One of a few options that the address tells; it leaves out the first one, which is the usual one."""
    value, key = getattr(sidebar.current(), field) or options[0], f"page_{field}"
    sidebar.put(key, value)
    extra = {"required": True, "wrap": True} if make is st.segmented_control else {}
    args = (key, _link, field, options[0])
    make(title, options=options, format_func=show, key=key, on_change=sidebar.taken, args=args, **extra)
    return value


def choose_many(name: str, options: Sequence, show: Callable, title: str) -> tuple:
    """Any number of options as pills."""
    values = tuple(value for value in st.session_state.setdefault(_KEPT, {}).get(name, ()) if value in options)
    key = f"page_{name}"
    sidebar.put(key, list(values))
    st.pills(
        title,
        options=options,
        format_func=show,
        selection_mode="multi",
        wrap=True,
        key=key,
        on_change=sidebar.taken,
        args=(key, keep, name),
    )
    return values


def _link(field: str, usual, value) -> None:
    sidebar.change(replace(sidebar.current(), **{field: None if value == usual else value}))
