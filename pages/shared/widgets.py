"""The widgets of all pages: settings shown and changed, and choices that belong to one page and are kept meanwhile.

Streamlit forgets the key of a widget that is not drawn in a run, so what is chosen is kept apart, and put into the
widget before it is drawn.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st
from streamlit.elements.lib.mutable_expander_container import ExpanderContainer

from pages.shared.locked import held, hidden
from pages.shared.parameters import Choice, Parameter
from pages.shared.session import change, current, in_browser
from pages.shared.settings import RANGES
from pages.shared.texts import label


def put(key: str, value, offers: object = None) -> None:
    """Show the value in its widget, without touching one that shows it already.

    A widget that is new to the browser, or `offers` other options there, shows nothing before it is told, even if the
    session has its value.
    """
    if not in_browser(key, offers) or st.session_state.get(key) != value:
        st.session_state[key] = value


def taken(key: str, take: Callable, *args) -> None:
    """Give the value of a widget that was touched to `take(*args, value)`; for callbacks.

    While a page is still being drawn the browser may report a row of buttons as having none chosen, though one is
    required. That is no choice, and neither is an emptied number; the widget is put right when it is drawn again.
    """
    value = st.session_state.get(key)  # on a busy machine a callback may come when its widget has gone
    if value is not None:
        take(*args, value)


# ---- settings ----


def setting(
    make: Callable, field: str | Parameter, title: str, *, key: str = "", take: Callable | None = None, **options
) -> None:
    """One setting in a widget of Streamlit's; what is chosen is given to `take`, or is the setting."""
    if _name(field) in hidden(current()):
        return
    key = key or _name(field)
    options.setdefault("disabled", _name(field) in held(current()))
    value = options.pop("value", current()[field])
    put(key, value, offers_of(**options))
    options |= _default(make, value, **options)
    make(title, key=key, on_change=taken, args=(key, take or partial(choose_setting, field)), **options)


def _default(make: Callable, value: object, options: Sequence = (), **_: object) -> dict:
    """What a widget shows as long as it was told nothing.

    Two runs that follow each other closely may reach a page that is still being loaded as one, the second, which has
    nothing to tell: the widget would then report an empty text, or the first of its options, as if it were chosen.
    """
    if make in (st.text_input, st.number_input):
        return {"value": value}
    return {"index": tuple(options).index(value)} if make is st.selectbox and value in options else {}


def offers_of(options: Sequence = (), format_func: Callable = str, **limits: object) -> tuple:
    """What a widget lets one choose from, as the browser tells it apart."""
    return tuple(map(format_func, options)), limits.get("min_value"), limits.get("max_value")


def choose_setting(field: str | Parameter, value) -> None:
    """Change one setting; for callbacks."""
    change(current().put(field, value))


def segments(
    field: str | Parameter,
    options: Sequence,
    show: Callable,
    *,
    title: str = "",
    take: Callable | None = None,
    **shown: object,
) -> None:
    """One setting as a row of buttons; `value` is shown where it is not the setting, then under its own `key`."""
    title, look = title or label("sidebar", _name(field)), {"required": True, "wrap": True, **shown}
    setting(st.segmented_control, field, title, take=take, options=options, format_func=show, **look)


def pills(parameter: Choice, show: Callable) -> None:
    """One setting that may also be left open, as a row of pills; a second click lets go of it."""
    key = parameter.name
    put(key, current()[parameter])
    st.pills(
        label(key, "label"),
        options=parameter.allowed,
        format_func=show,
        key=key,
        on_change=_choose_pill,
        args=(key, parameter),
    )


def _choose_pill(key: str, parameter: Choice) -> None:
    if key in st.session_state:
        choose_setting(parameter, st.session_state[key])


def number_field(field: str, take: Callable | None = None) -> None:
    """One setting that is a whole number, to be typed."""
    limits = dict(zip(("min_value", "max_value"), RANGES[field], strict=True))
    setting(st.number_input, field, label("sidebar", field), key=f"exact_{field}", take=take, step=1, **limits)


def linked(parameter: Choice, show: Callable, title: str, *, make: Callable = st.segmented_control) -> str:
    """What a page declares, as a row of buttons or (`make=st.selectbox`) as a box; gives what is chosen."""
    extra = {"required": True, "wrap": True} if make is st.segmented_control else {}
    setting(make, parameter, title, key=f"page_{parameter.name}", options=parameter.allowed, format_func=show, **extra)
    return current()[parameter]


def jump(title: str, **fields) -> None:
    """A button that changes some settings."""
    st.button(title, on_click=lambda: change(replace(current(), **fields)))


def _name(field: str | Parameter) -> str:
    return field if isinstance(field, str) else field.name


# ---- what is kept of a page, and is not in the address ----


def box(name: str, title: str) -> ExpanderContainer:
    """An expander that is as it was left when the visitor comes back to its page."""
    kept, key = st.session_state.setdefault("boxes", {}), f"box_{name}"
    put(key, kept.get(name, False))
    return st.expander(title, key=key, on_change=taken, args=(key, kept.__setitem__, name))


def kept_text(key: str, title: str, most: int) -> str:
    """A field of at most so many characters that has what was typed when it is drawn again."""
    kept = st.session_state.setdefault("typed", {})
    put(key, kept.get(key, ""))
    st.text_input(title, key=key, max_chars=most, on_change=taken, args=(key, kept.__setitem__, key))
    return kept.get(key, "")


def pills_of_many(key: str, values: Sequence, options: Sequence, show: Callable, title: str, take: Callable) -> None:
    """Any number of options as pills; all that are chosen are given to `take`."""
    put(key, list(values), offers_of(options, show))
    st.pills(
        title,
        options=options,
        format_func=show,
        selection_mode="multi",
        wrap=True,
        key=key,
        on_change=taken,
        args=(key, take),
    )
