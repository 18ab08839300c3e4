"""Under which name a picture is taken away, and what is said of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

import streamlit as st

from pages.shared.answer import badge
from pages.shared.every_page import PAGES
from pages.shared.models import record_of
from pages.shared.session import current
from pages.shared.take_away.offers import Offer, picture_name
from pages.shared.texts import label
from pages.shared.ways import model_name

OTHER_SETTINGS = ("lesson", "article")  # pages whose pictures do not follow from the visitor's settings


@dataclass(frozen=True)
class Taken:
    """How a picture is taken away.

    Attributes:
        name: of its files, without ending.
        title: above it, where it stands alone.
        headline: above its image, where that says more than the title.
        about: where its numbers come from: the settings, as the address has them.
        more: what is offered beside the picture and its numbers.
        notes: sentences below the offers.
    """

    name: str
    title: str
    about: str = ""
    more: Sequence[Offer] = ()
    notes: Sequence[str] = ()
    headline: str = ""


def of_settings(*what: str, word: str = "") -> Taken:
    """A picture that follows from the present settings; `what` says which one, `word` what the model ran on."""
    settings = current()
    place, record = st.session_state["page"] or next(iter(PAGES)), record_of(settings)
    page, name = label("app", place), picture_name(record, settings.text, *what)
    title, headline = f"{page} · {label('app', 'title')}", ""
    if place not in OTHER_SETTINGS:
        model = model_name(record.config, with_way=settings.kv != "reproject")
        about = {"name": model, "title": page, "badge": badge(record)}
        headline = label("take", "headline" if word else "headline_chart", word=word, **about)
    return Taken(name, title, address(), headline=headline)


def address() -> str:
    """The settings as the address spells them, on a first visit too."""
    return urlencode(current().whole_address(st.session_state["of_page"]))
