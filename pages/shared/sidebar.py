"""The controls of the sidebar, in the order in which one thinks of them, and those that a phone has in the page."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeVar

import streamlit as st

from attention.config import KV_VARIANTS, divisors
from attention.cross_attention import KV_WAYS
from attention.tasks import TASKS, Refusal, get_task
from pages.shared.drawer import situation_was_chosen
from pages.shared.locked import GROUPS as SETTINGS_OF
from pages.shared.locked import held, hidden_groups
from pages.shared.models import leads_to_trained
from pages.shared.presenting import controls, is_presented
from pages.shared.session import change, current, would_be
from pages.shared.settings import KEEPS, Settings, head_dim_for
from pages.shared.situations import GROUPS, apply_situation, situation_of
from pages.shared.texts import label
from pages.shared.widgets import box, number_field, put, segments, setting

Value = TypeVar("Value", int, str)
SIDES = ("enc", "dec")
USUAL = {"heads": (1, 2, 4, 8, 16, 32), "dim": (4, 8, 16, 32, 64)}


Offered = Mapping[str, Mapping[int, str]]  # the head counts that can be chosen, with their names, by side


def heads_offered() -> Offered:
    """The usual head counts and the present one, with a mark at those that lead to trained weights."""
    settings = current()
    return {side: _heads(settings, side) for side in SIDES}


def draw(*, text: bool = True, model: bool = True, offered: Offered | None = None) -> None:
    """The controls that have an effect on the page that calls this: the task, the text, and what makes a model.

    offered: the head counts, where the page needs them for itself, too: it takes a while to find their marks.
    """
    settings = current()
    if is_presented():
        _draw_in_bar(settings, text, model, offered)
        return
    with st.sidebar:
        about = label(settings.task, "about")
        segments("task", tuple(TASKS), lambda name: label(name, "title"), take=_choose_task, help=about)
        if text:
            setting(st.text_input, "text", label(settings.task, "text"))
        if model:
            _draw_model(settings, offered or heads_offered())
        st.button(label("sidebar", "reset"), on_click=change, args=(settings.first_visit(), True))


def _draw_in_bar(settings: Settings, text: bool, model: bool, offered: Offered | None) -> None:
    """Those that one changes in front of an audience, in one row: head counts, K/V way, text."""
    with controls():
        if model:
            for side, heads in (offered or heads_offered()).items():
                look = {"options": tuple(heads), "format_func": heads.__getitem__, "width": 140}
                take = partial(_choose_size, side, "heads")
                field = f"{side}_heads"
                setting(st.selectbox, field, label("present", side), key=f"bar_{field}", take=take, **look)
            ways = _ways(settings)
            look = {"options": tuple(ways), "format_func": ways.__getitem__, "width": 285}
            setting(st.selectbox, "kv", label("present", "kv"), key="bar_kv", **look)
        if text:
            setting(st.text_input, "text", label(settings.task, "text"), key="bar_text", width=190)


def draw_on_phone(offered: Offered, *, text: bool = True) -> None:
    """The text and both head counts in the page, which a phone's sidebar lies over; no wider screen shows these."""
    settings = current()
    if is_presented():  # which has them in its row
        return
    with st.container(key="on_phone", gap="small"):
        if text:
            setting(st.text_input, "text", label(settings.task, "text"), key="phone_text")
        for side in SIDES:
            _draw_size(side, "heads", offered[side], key=f"phone_{side}_heads")


def _draw_model(settings: Settings, heads: Offered) -> None:
    ways = _ways(settings)
    with_heads = "heads" not in hidden_groups(settings)
    shown = [heads[side] == _options(settings, side, "heads") for side in SIDES if with_heads] + [ways == _way_names()]
    if not all(shown):  # some have a mark
        st.caption(label("sidebar", "trained_legend"))
    for side in SIDES:
        if with_heads:
            _draw_side(settings, side, heads[side])
    segments("keep", KEEPS, lambda name: label("keep", name))
    setting(st.selectbox, "kv", label("sidebar", "kv"), options=tuple(ways), format_func=ways.__getitem__)
    if (variants := KV_VARIANTS[settings.kv]) and KV_WAYS[settings.kv].variant_matters(settings.config):
        title = label("kv_variant", "label")
        segments("kv_variant", variants, lambda name: label("kv_variant", name), title=title)
    # Nine fields that nobody looks at would be sent with every change: only what is open is drawn.
    with box("more", label("sidebar", "more")) as more:
        if more.open:
            _draw_exact_numbers(settings)
    _draw_situations(settings)


def _draw_situations(settings: Settings) -> None:
    """A row for each kind of outcome; what is chosen is explained beside the picture."""
    if {"heads", "kv"} & hidden_groups(settings):
        return
    here = situation_of(settings)
    st.markdown(f"**{label('sidebar', 'situations')}**", help=label("sidebar", "situations_help"))
    for group, names in GROUPS.items():
        key = f"situation_{group}"
        put(key, here if here in names else None)
        st.pills(
            label("situation_group", group),
            names,
            format_func=lambda name: label("situation_short", name),
            key=key,
            on_change=_choose_situation,
            args=(key,),
            disabled=bool(held(settings).intersection((*SETTINGS_OF["heads"], *SETTINGS_OF["kv"]))),
        )


def _heads(settings: Settings, side: str) -> dict[int, str]:
    """The head counts that are offered, with a mark at those that lead to trained weights."""
    return _marked(_options(settings, side, "heads"), partial(_sized, settings, side, "heads"))


def _ways(settings: Settings) -> dict[str, str]:
    """The K/V ways, with a mark at those that lead to trained weights."""
    return _marked(_way_names(), partial(settings.put, "kv"))


def _way_names() -> dict[str, str]:
    return {way: label("kv", way) for way in KV_VARIANTS}


def _options(settings: Settings, side: str, what: str) -> dict[int, str]:
    """The usual sizes and the present one."""
    return {value: str(value) for value in sorted({*USUAL[what], settings[f"{side}_{what}"]})}


def _marked(names: Mapping[Value, str], chosen: Callable[[Value], Settings]) -> dict[Value, str]:
    """Options with their names, and a mark at each that leads to trained weights.

    chosen: the settings that the choice of an option asks for.
    """
    return {
        value: label("sidebar", "trained", name=name) if leads_to_trained(would_be(chosen(value))) else name
        for value, name in names.items()
    }


def _draw_side(settings: Settings, side: str, heads: Mapping[int, str]) -> None:
    _draw_size(side, "heads", heads)
    _draw_size(side, "dim", _options(settings, side, "dim"))
    heads, dim, width = (settings[f"{side}_{name}"] for name in ("heads", "dim", "width"))
    wanted = _uneven().get((side, heads, dim))
    if wanted:
        st.caption(label("sidebar", "total_uneven", heads=heads, dim=dim, total=wanted, made=heads * dim))
    else:
        st.caption(label("sidebar", "total", heads=heads, dim=dim, total=heads * dim, width=width))
    if kv_heads := settings[f"{side}_kv_heads"]:
        st.caption(label("sidebar", "kv_heads_shared", heads=heads, kv_heads=kv_heads))


def _draw_size(side: str, what: str, options: Mapping[int, str], key: str = "") -> None:
    field = f"{side}_{what}"
    segments(field, tuple(options), options.__getitem__, take=partial(_choose_size, side, what), key=key)


def _draw_exact_numbers(settings: Settings) -> None:
    for name in ("layers", "width", "heads", "dim"):
        for column, side in zip(st.columns(2), SIDES, strict=True):
            with column:
                number_field(f"{side}_{name}", take=partial(_choose_size, side, name))
    for column, side in zip(st.columns(2), SIDES, strict=True):
        with column:
            _draw_kv_heads(settings, side)
    number_field("seed")


def _draw_kv_heads(settings: Settings, side: str) -> None:
    """How many K/V heads the query heads share, among the numbers that divide them; the last is one for each head."""
    field, heads = f"{side}_kv_heads", settings[f"{side}_heads"]
    title, help_text = label("sidebar", field), label("sidebar", "kv_heads_help")
    options = {"options": tuple(divisors(heads)), "value": settings[field] or heads, "help": help_text}
    setting(st.selectbox, field, title, key=f"exact_{field}", **options)


def _choose_size(side: str, what: str, value: int) -> None:
    """A size of one side was chosen. A total width that cannot be kept is noted, so that it can come back."""
    settings = current()
    changed, total = _sized(settings, side, what, value), _total_to_keep(settings, side, what, value)
    if total is not None:
        heads, dim = changed[f"{side}_heads"], changed[f"{side}_dim"]
        noted = {key: value for key, value in _uneven().items() if key[0] != side}
        st.session_state["uneven"] = noted if heads * dim == total else {**noted, (side, heads, dim): total}
    change(changed)


def _sized(settings: Settings, side: str, what: str, value: int) -> Settings:
    """With another size of one side; what depends on it follows."""
    changed, total = settings.put(f"{side}_{what}", value), _total_to_keep(settings, side, what, value)
    return changed if total is None else changed.put(f"{side}_dim", head_dim_for(total, changed[f"{side}_heads"]))


def _total_to_keep(settings: Settings, side: str, what: str, value: int) -> int | None:
    """The total width that the head size has to keep when a size is changed; None where it stays as it is."""
    if settings.keep != "width":
        return None
    heads, dim, width = (settings[f"{side}_{name}"] for name in ("heads", "dim", "width"))
    if what == "heads":  # the total that was wanted before it did not divide: 64 → 6 heads → 8 heads is 64 again
        return _uneven().get((side, heads, dim), heads * dim)
    # A total width equal to the width is what "d_model / heads" means; it goes along.
    return value if what == "width" and heads * dim == width else None


def _uneven() -> dict[tuple[str, int, int], int]:
    """Total widths that could not be kept, by side, heads and head size."""
    return st.session_state.get("uneven", {})


def _choose_task(name: str) -> None:
    """Each task keeps its own text; at first the present one, where the task can read it."""
    settings, texts = current(), st.session_state.setdefault("texts", {})
    texts[settings.task] = settings.text
    change(replace(settings, task=name, text=texts.get(name) or _first_text(name, settings.text)))


def _first_text(task_name: str, typed: str) -> str:
    task = get_task(task_name)
    try:
        task.read(typed)
    except Refusal:
        return task.examples[0]
    return typed


def _choose_situation(key: str) -> None:
    if name := st.session_state.get(key):
        change(apply_situation(current(), name), afresh=True)
    else:  # the present one was clicked again
        change(current())
    situation_was_chosen()
