"""The settings: drawn once for all pages, kept in step with the address bar.

`Settings` in the session is the one truth. Each run writes it into the widgets before they are drawn; a widget that is
touched changes it through a callback. So two widgets may show the same setting, and a preset is one assignment.
"""

import runpy
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path

import streamlit as st

from attention.config import KV_VARIANTS, divisors
from attention.tasks import TASKS, Refusal, get_task
from pages.parts.settings import (
    KEEPS,
    PRESETS,
    RANGES,
    Settings,
    apply_preset,
    head_dim_for,
    read_address,
    situation_of,
)
from pages.parts.words import catalogue, label

_inside_app = ContextVar("inside_app", default=False)
APP = Path(__file__).parents[2] / "app.py"
PLAYGROUND = "pages/playground.py"
ECHO_SECONDS = 1.0
USUAL = {"heads": (1, 2, 4, 8, 16, 32), "dim": (4, 8, 16, 32, 64)}


def current() -> Settings:
    """What this visitor has chosen."""
    return st.session_state["settings"]


def for_page() -> Settings:
    """The same, for a page; one that runs without `app.py` (see there) runs that instead of itself."""
    if not _inside_app.get():
        runpy.run_path(str(APP))
        st.stop()
    if st.session_state.pop("to_playground", False):
        st.switch_page(PLAYGROUND, query_params=current().to_address())
    return current()


@contextmanager
def page_inside_app() -> Iterator[None]:
    """Says to a page that it is run by `app.py`."""
    token = _inside_app.set(True)
    try:
        yield
    finally:
        _inside_app.reset(token)


def change(settings: Settings) -> None:
    """Replace the settings; for callbacks, which run before the page is drawn again."""
    before, settings = current(), settings.fitted()
    if (settings.task, settings.config, settings.seed) != (before.task, before.config, before.seed):
        settings = replace(settings, moment=None)  # another model has other moments
    st.session_state["settings"] = settings
    st.session_state["touched"] = True


def open_playground(settings: Settings) -> None:
    """Show these settings on the playground; for callbacks, which are not lost when another run overtakes a click's."""
    change(settings)
    st.session_state["to_playground"] = True


def mend(settings: Settings) -> None:
    """Apply a mend and remember to say what it changed."""
    changes = [
        label("failure", "change", setting=_name_of(name), before=_value(name, before), after=_value(name, after))
        for name, before, after in current().differences(settings.fitted())
    ]
    change(settings)
    st.session_state["mended"] = label("failure", "changed", changes=", ".join(changes))


def _name_of(field: str) -> str:
    return label("sidebar", field) if field in catalogue()["sidebar"] else label(field, "label")


def _value(field: str, value: object) -> str:
    """A setting's value in the words of its control."""
    if value is None:
        return "–"
    return label(field, value) if field in ("kv", "kv_variant") else str(value)


def notices() -> list[str]:
    """Sentences about values of the address that could not be used, and about what a mend has changed."""
    mended = st.session_state.pop("mended", None)
    return [*st.session_state.get("notices", []), *([mended] if mended else [])]


def settings_from_address(page: str) -> None:
    """Read the address bar when it is new to us: at the start, and when the visitor goes back or edits it.

    Streamlit's links between pages come without settings: those of the page before then stay.
    """
    params, state = st.query_params.to_dict(), st.session_state
    came_from = state.get("page", page)
    state["page"] = page
    # After a click the browser may still send the address from before it; the click is the newer word.
    if state.pop("touched", False):
        state["notices"] = []
    elif page != came_from and not params:
        state["address"] = {}
    elif params != state.get("address") and not _late_echo(params):
        state["settings"], state["notices"] = read_address(params)
        state["address"] = params


def _late_echo(params: dict[str, str]) -> bool:
    """Whether this is the address that was replaced a moment ago: the browser had not heard of it when it wrote."""
    before, replaced_at = st.session_state.get("address_before", (None, 0.0))
    return params == before and time.monotonic() - replaced_at < ECHO_SECONDS


def settings_to_address() -> None:
    """Write the settings to the address bar if they are not what it says."""
    address = current().to_address()
    # An address with mistakes in it, or with names left out, stays as the visitor wrote it until something changes.
    if read_address(st.session_state["address"])[0] != current():
        st.session_state["address_before"] = (st.session_state["address"], time.monotonic())
        st.query_params.from_dict(address)
        st.session_state["address"] = address


def draw() -> None:
    """All controls, in the order in which one thinks of them."""
    settings = current()
    segments("task", tuple(TASKS), lambda name: label(name, "title"), lambda: taken("task", _choose_task))
    title, about = label(settings.task, "text"), get_task(settings.task).description
    _widget(st.text_input, "text", settings.text, title, help=about)
    _draw_situations()
    for side in ("enc", "dec"):
        _draw_side(side)
    segments("keep", KEEPS, lambda name: label("keep", name))
    _widget(
        st.selectbox,
        "kv",
        settings.kv,
        label("sidebar", "kv"),
        options=tuple(KV_VARIANTS),
        format_func=lambda name: label("kv", name),
    )
    # `grouped` has variants for fewer decoder heads than K/V heads only.
    handed = settings.enc_kv_heads or settings.enc_heads
    if KV_VARIANTS[settings.kv] and (settings.kv != "grouped" or settings.dec_heads < handed):
        segments(
            "kv_variant",
            KV_VARIANTS[settings.kv],
            lambda name: label("kv_variant", name),
            title=label("kv_variant", "label"),
        )
    # Nine fields that nobody looks at would be sent with every change: only what is open is drawn.
    with st.expander(label("sidebar", "more"), key="more", on_change="rerun") as more:
        if more.open:
            _draw_exact_numbers()
    st.button(label("sidebar", "reset"), on_click=change, args=(Settings(),), type="tertiary")


def _draw_exact_numbers() -> None:
    for name in ("layers", "width", "heads", "dim"):
        for column, side in zip(st.columns(2), ("enc", "dec"), strict=True):
            with column:
                _number(f"{side}_{name}")
    for column, side in zip(st.columns(2), ("enc", "dec"), strict=True):
        with column:
            _draw_kv_heads(side)
    _number("seed")


def _draw_kv_heads(side: str) -> None:
    """How many K/V heads the query heads share, among the numbers that divide them; the last is one for each head."""
    field, heads = f"{side}_kv_heads", getattr(current(), f"{side}_heads")
    value = getattr(current(), field) or heads
    help_text = label("sidebar", "kv_heads_help")
    options = tuple(divisors(heads))
    _widget(st.selectbox, field, value, label("sidebar", field), "exact_", options=options, help=help_text)


def _draw_side(side: str) -> None:
    settings = current()
    for name in ("heads", "dim"):
        field = f"{side}_{name}"
        options = tuple(sorted({*USUAL[name], getattr(settings, field)}))
        segments(field, options, str)
    heads, dim = getattr(settings, f"{side}_heads"), getattr(settings, f"{side}_dim")
    made, width = heads * dim, getattr(settings, f"{side}_width")
    wanted = st.session_state.get("uneven", {}).get((side, heads, dim))
    if wanted:
        st.caption(label("sidebar", "total_uneven", heads=heads, dim=dim, total=wanted, made=made))
    else:
        st.caption(label("sidebar", "total", heads=heads, dim=dim, total=made, width=width))
    if kv_heads := getattr(settings, f"{side}_kv_heads"):
        st.caption(label("sidebar", "kv_heads_shared", heads=heads, kv_heads=kv_heads))


def _draw_situations() -> None:
    settings = current()
    here = situation_of(settings)
    put("situation", here)
    st.pills(
        label("sidebar", "situations"),
        tuple(PRESETS),
        format_func=lambda name: label("situation_short", name),
        key="situation",
        on_change=_choose_situation,
        help=label("sidebar", "situations_help"),
    )
    with st.container():
        if here:
            st.caption(label("situation_text", here))


def segments(
    field: str, options: tuple, show: Callable, choose: Callable | None = None, title: str | None = None
) -> None:
    """One setting as a row of buttons."""
    _widget(
        st.segmented_control,
        field,
        getattr(current(), field),
        title or label("sidebar", field),
        options=options,
        format_func=show,
        required=True,
        wrap=True,
        choose=choose,
    )


def pills(field: str, options: tuple, show: Callable) -> None:
    """One setting that may also be left open, as a row of pills."""
    title = label(field, "label")
    _widget(st.pills, field, getattr(current(), field), title, options=options, format_func=show, choose=_choose_pill)


def jump(title: str, **fields) -> None:
    """A button that changes some settings."""
    st.button(title, on_click=lambda: change(replace(current(), **fields)))


def _number(field: str) -> None:
    low, high = RANGES[field]
    value = getattr(current(), field)
    _widget(st.number_input, field, value, label("sidebar", field), "exact_", min_value=low, max_value=high, step=1)


def _widget(make, field: str, value, title: str, prefix: str = "", choose: Callable | None = None, **options) -> None:
    key = prefix + field
    put(key, value)
    args = {None: (field, key), _choose_pill: (field,)}.get(choose, ())
    make(title, key=key, on_change=choose or _choose, args=args, **options)


def put(key: str, value) -> None:
    """Show the setting in its widget, without touching one that shows it already."""
    if st.session_state.get(key) != value:
        st.session_state[key] = value


def taken(key: str, take: Callable, *args) -> None:
    """Give the value of a widget that was touched to `take(*args, value)`; for callbacks.

    While a page is still being drawn the browser may report a row of buttons as having none chosen, though one is
    required. That is no choice, and the row is put right when it is drawn again.
    """
    value = st.session_state[key]
    if value is not None:
        take(*args, value)


def _choose(field: str, key: str) -> None:
    """A widget was touched: take its value, and let what depends on it follow."""
    settings, value = current(), st.session_state[key]
    if value is None:  # an emptied number field, or see `taken`
        change(settings)
        return
    changed = replace(settings, **{field: value})
    side, _, what = field.partition("_")
    if side in ("enc", "dec") and what == "heads" and settings.keep == "width":
        total = _wanted_total(settings, side)
        changed = replace(changed, **{f"{side}_dim": head_dim_for(total, value)})
        _remember_uneven(changed, side, total)
    if side in ("enc", "dec") and what == "width" and settings.keep == "width":
        # A total width equal to the width is what "d_model / heads" means; it goes along.
        heads, dim, width = (getattr(settings, f"{side}_{name}") for name in ("heads", "dim", "width"))
        if heads * dim == width:
            changed = replace(changed, **{f"{side}_dim": head_dim_for(value, heads)})
            _remember_uneven(changed, side, value)
    if what == "layers":
        changed = replace(changed, layer=changed.layers_of(changed.kind))
    change(changed)


def _choose_pill(field: str) -> None:
    """A pill was clicked; a second click lets go of it."""
    change(replace(current(), **{field: st.session_state[field]}))


def _wanted_total(settings: Settings, side: str) -> int:
    """The total width to keep: the one that was wanted before it did not divide, or the present one."""
    heads, dim = getattr(settings, f"{side}_heads"), getattr(settings, f"{side}_dim")
    return st.session_state.get("uneven", {}).get((side, heads, dim), heads * dim)


def _remember_uneven(settings: Settings, side: str, total: int) -> None:
    """Note the total that could not be kept, so that 64 → 6 heads → 8 heads comes back to 64."""
    heads, dim = getattr(settings, f"{side}_heads"), getattr(settings, f"{side}_dim")
    kept = {key: value for key, value in st.session_state.get("uneven", {}).items() if key[0] != side}
    st.session_state["uneven"] = kept if heads * dim == total else {**kept, (side, heads, dim): total}


def pick_head(layer: int, head: int) -> None:
    """A head was clicked; both are counted from 0."""
    change(replace(current(), layer=layer + 1, head=head + 1))


def change_moment(moment: int | None) -> None:
    """Show another moment of the training; None: its end, or what there is so far."""
    change(replace(current(), moment=moment))


def _choose_task(name: str) -> None:
    settings = replace(current(), task=name)
    task = get_task(settings.task)
    try:
        task.read(settings.text)
    except Refusal:
        settings = replace(settings, text=task.examples[0])
    change(settings)


def _choose_situation() -> None:
    name = st.session_state["situation"]
    change(apply_preset(current(), name) if name else current())
