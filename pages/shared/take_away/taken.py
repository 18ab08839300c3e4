"""Under which name a picture is taken away, and what is said of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

import streamlit as st

from pages.shared.every_page import PAGES
from pages.shared.models import record_of
from pages.shared.session import current
from pages.shared.take_away.offers import Offer, picture_name
from pages.shared.texts import label


@dataclass(frozen=True)
class Taken:
    """How a picture is taken away.

    Attributes:
        name: of its files, without ending.
        title: above it, where it stands alone.
        about: where its numbers come from: the settings, as the address has them.
        more: what is offered beside the picture and its numbers.
        notes: sentences below the offers.
    """

    name: str
    title: str
    about: str = ""
    more: Sequence[Offer] = ()
    notes: Sequence[str] = ()


def of_settings(*what: str) -> Taken:
    """A picture that follows from the present settings; `what` says which one."""
    settings = current()
    page = label("app", st.session_state["page"] or next(iter(PAGES)))
    name = picture_name(record_of(settings), settings.text, *what)
    return Taken(name, f"{page} · {label('app', 'title')}", address())


def address() -> str:
    """The settings as the address spells them, on a first visit too."""
    return urlencode(current().whole_address(st.session_state["of_page"]))
