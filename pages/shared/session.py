"""One visitor's settings: kept in the session, and in step with the address bar.

`Settings` in the session is the one truth. Each run writes it into the widgets before they are drawn; a widget that is
touched changes it through a callback. So two widgets may show the same setting, and a situation is one assignment.
"""

from collections.abc import Iterable
from dataclasses import replace

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.shared.every_page import PAGES
from pages.shared.locked import CARRIED, PRESENT, held, hidden, hold
from pages.shared.parameters import Parameter
from pages.shared.settings import FITTED, KV_HEADS, LONGEST_TEXT, MODEL, Settings, read_address
from pages.shared.texts import catalogue, label, say


def current() -> Settings:
    """What this visitor has chosen."""
    return st.session_state["settings"]


def for_page() -> Settings:
    """The same, for a page that begins; a click that wants another page goes there instead."""
    if page := st.session_state.pop("to_page", None):
        st.switch_page(f"pages/{page}/{page}.py", query_params=current().to_address())
    return current()


def change(settings: Settings, afresh: bool = False) -> None:
    """Replace the settings; for callbacks, which run before the page is drawn again.

    What no longer fits goes to the nearest possible value with a sentence, and comes back when it fits again; `afresh`:
    unless these settings are meant as they are.
    """
    before = current()
    wish = hold(before, settings if afresh else _wish(settings))
    cut = [label("moved", "text", limit=LONGEST_TEXT)] if len(wish.text) > LONGEST_TEXT else []
    wish = replace(wish, text=wish.text[:LONGEST_TEXT])
    settings = wish.fitted()
    st.session_state["wanted"] = {field: wish[field] for field in FITTED if settings[field] != wish[field]}
    if not settings.same_model(before) or settings.seed != before.seed:
        settings = replace(settings, moment=None)  # another model has other snapshots
    if not settings.same_ledger(before):
        settings = settings.first_looked_at()
    st.session_state["settings"] = settings
    moved = [field for field in FITTED if settings[field] not in (before[field], wish[field])]
    tell(*cut, *filter(None, (_moved(field, wish, settings) for field in moved)))
    touch()


def would_be(settings: Settings) -> Settings:
    """The model that a change to these settings leads to."""
    return hold(current(), _wish(settings)).fitted()


def _wish(settings: Settings) -> Settings:
    """With what had to give way before, where that is not touched now."""
    before, wanted = current(), st.session_state.get("wanted", {})
    untouched = {field: value for field, value in wanted.items() if settings[field] == before[field]}
    return replace(settings, **untouched)


def _moved(field: str, wish: Settings, settings: Settings) -> str:
    """What is said of a setting that does not fit; "" where it does but for its name."""
    heads = settings[field.replace("_kv", "")] if field in KV_HEADS else 0
    used = settings[field] or heads
    told = field != "kv_variant" and used != wish[field]
    return label("moved", field, wanted=wish[field], used=used, heads=heads) if told else ""


def touch() -> None:
    """Something was done: until the next run the address in the browser is older than what is here."""
    st.session_state["touched"] = True


def tell(*sentences: str) -> None:
    """What the visitor is told until the next change, in place of what was told before."""
    st.session_state["notices"] = sentences


def notices() -> tuple[str, ...]:
    """What the visitor is told: of the address, of a suggestion, of what does not fit, of a fault put in elsewhere."""
    told = st.session_state.get("notices", ())
    faults = [value for parameter, value in current().of_pages if parameter.fault and value]
    elsewhere = faults if st.session_state["page"] != "shapes" else ()
    return (*told, *(label("shapes", "fault_elsewhere", fault=label("ledger_fault", fault)) for fault in elsewhere))


def open_page(settings: Settings, page: str) -> None:
    """Show these settings on a page; for callbacks, which are not lost when another run overtakes a click's."""
    if pages_are_held():
        tell(label("locked", "stays"))
        return
    change(settings, afresh=True)
    st.session_state["to_page"] = page


def present(on: bool) -> None:
    """Begin or end a presentation; for callbacks. It is kept through whatever else is changed."""
    st.session_state["settings"] = current().put(PRESENT, "1" if on else None)
    touch()


def put_fault_in(settings: Settings) -> None:
    """Change to settings with a fault, made for it to show, and keep those there were for when it is taken out."""
    kept, before = st.session_state.get("before_fault"), current()
    if before != before.sound() and kept and kept[0].same_model(before):
        before = kept[1]  # one fault after another
    change(settings, afresh=True)
    st.session_state["before_fault"] = current(), before.sound()


def take_fault_out() -> None:
    """The settings there were before the fault was put in; where the model was changed since, these without it."""
    settings, kept = current().sound(), st.session_state.pop("before_fault", None)
    if kept and all(kept[0][field] == settings[field] for field in MODEL):
        fields = (*MODEL, "keep", "kind", "layer", "head", "off")
        settings = replace(settings, **{field: kept[1][field] for field in fields})
    follow_suggestion(settings)


def follow_suggestion(settings: Settings) -> None:
    """Apply a suggestion and say what it changed."""
    changes = ", ".join(changes_between(current(), settings.fitted()))
    change(settings, afresh=True)
    tell(*st.session_state["notices"], label("failure", "changed", changes=changes))


def changes_between(before: Settings, after: Settings) -> list[str]:
    """What is another setting now, each with both values, in the words of their controls."""
    return [
        label("failure", "change", setting=_name_of(name), before=_value(name, one), after=_value(name, other))
        for name, one, other in before.differences(after)
    ]


def _name_of(field: str) -> str:
    return label("sidebar", field) if field in catalogue()["sidebar"] else label(field, "label")


def _value(field: str, value: object) -> str:
    """A setting's value in the words of its control."""
    if value is None:
        return "–"
    return label(field, value) if field in ("kv", "kv_variant") else str(value)


def pages_are_hidden() -> bool:
    """Whether the address, or what is here since, shows no other page; before the settings are read."""
    settings = st.session_state.get("settings")
    if settings is None:
        settings, _ = read_address(st.query_params.to_dict(), CARRIED)
    return "pages" in hidden(settings)


def pages_are_held() -> bool:
    """Whether nothing but an address leads to another page."""
    return "pages" in held(current())


def settings_from_address(page: str, of_pages: Iterable[Parameter], of_page: Iterable[Parameter]) -> None:
    """Read the address bar where it has something to say: at the start, and when the visitor goes back or forward.

    `of_pages` is declared by all pages, `of_page` by the one that is shown.

    Otherwise what is here is newer: the browser sends the address that it had when something was clicked. Streamlit's
    own links between pages come without settings, and leave an entry without any in the browser's history; going
    back to it gives what was shown there.
    """
    params, state = st.query_params.to_dict(), st.session_state
    came_from, touched = state.get("page"), state.pop("touched", False)
    other_page = page != came_from
    state["page"], state["of_page"], state["drawing"] = page, of_page, {}
    if other_page or went_back():
        # A widget of the same key is another one on each page. And who goes back in the middle of a change may still
        # be shown what its run had sent before it was given up.
        state["drawn"] = {}
    if other_page:
        tell()
    if other_page and came_from is not None and not params and not went_back() and pages_are_held():
        state["to_page"] = came_from or next(iter(PAGES))  # by a link of the navigation, which has no settings
        return
    if came_from is None or went_back() or (other_page and params and not touched):
        if params or came_from is None:
            settings, told = read_address(params, of_pages)
        else:
            settings, told = state["bare"].get(page, current()), ()
        state["settings"], state["wanted"] = settings, {}
        tell(*(say("address", message, isolate=True) for message in told))
    if not params and other_page:
        state.setdefault("bare", {})[page] = current()


def in_browser(key: str, offers: object = None) -> bool:
    """Whether a widget was drawn, with the same to choose from, by a run of this page that came to its end.

    It is drawn now. A browser keeps the labels of what is chosen: of other options it finds those that it knows.
    """
    drawing, drawn = st.session_state["drawing"], st.session_state["drawn"]
    drawing[key] = offers
    same = key in drawn and drawn[key] == offers
    if not same:
        drawn.pop(key, None)  # should this run be overtaken, the browser may have these options or those before
    return same


def page_is_drawn() -> None:
    """All that was drawn is on its way to the browser."""
    st.session_state["drawn"] |= st.session_state["drawing"]


def went_back() -> bool:
    """Whether the browser's Back or Forward brought us here."""
    return get_script_run_ctx().is_history_navigation


def settings_to_address() -> None:
    """Write the settings to the address bar if they are not what it says.

    An address with mistakes in it, or with names left out, stays as the visitor wrote it until something changes. One
    that was gone back to is written once more: that of a change given up may have come to the browser after it.
    """
    of_pages, of_page = [parameter for parameter, _ in current().of_pages], st.session_state["of_page"]
    there = read_address(st.query_params.to_dict(), of_pages)[0]
    if there != current() and there.to_address(of_page) != current().to_address(of_page):
        st.query_params.from_dict(current().to_address(of_page))
    elif went_back():
        there = {name: st.query_params.get_all(name) for name in st.query_params}
        st.query_params.from_dict(there) if there else st.query_params.clear()
