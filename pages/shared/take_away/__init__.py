"""Take it away: under each picture a small menu of files, each made when somebody clicks it.

    take_away("large_head", "knight-8x8-16x4-cross-layer2", [*numbers_of(chart, about), *model_offers(record, …)])

Images are made in the browser, from what is drawn there; what is made here is made in a thread of its own, which knows
nothing of the visitor's session: an offer holds all that it needs.
"""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import streamlit as st

from attention.notebook import COMMON_CSS, COMMON_JS
from pages.shared.component import BUTTON_CSS, component
from pages.shared.fragments import draw_apart
from pages.shared.presenting import is_presented
from pages.shared.take_away.offers import Offer
from pages.shared.texts import catalogue, label

PART_WIDTH = 110  # px
_FOLDER = Path(__file__).parent
_images = component(
    "images",
    (*COMMON_CSS, BUTTON_CSS, _FOLDER / "images.css"),
    (*COMMON_JS, _FOLDER / "grid_svg.js", _FOLDER / "images.js"),
)


def take_away(key: str, name: str, offers: Sequence[Offer], notes: Sequence[str] = (), title: str = "") -> None:
    """The menu of the picture with this key; its files have this name, unless an offer has one of its own.

    notes: sentences for below.  title: a line above its images.
    """
    if is_presented():
        return  # an audience sees pictures
    draw_apart(_draw, key, name, tuple(offers), tuple(notes), title)  # opening a menu draws nothing else again


def _draw(key: str, name: str, offers: tuple[Offer, ...], notes: tuple[str, ...], title: str) -> None:
    with (
        st.container(key=f"take_{key}", horizontal=True, horizontal_alignment="right"),
        st.popover(
            label("take", "title"),
            key=f"taking_{key}",
            type="tertiary",
            icon=":material/download:",
            on_change="rerun",
        ) as menu,
    ):
        if menu.open:
            for part, there in groupby(offers, lambda offer: offer.part):
                with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                    st.caption(label("take", part), width=PART_WIDTH)
                    if part == "picture":
                        shown = {"chart": key, "file": name, "title": title, "words": catalogue()["images"]}
                        _images(key=f"images_{key}", data=shown, width="content")
                    for offer in there:
                        _button(key, name, offer)
            for note in notes:
                st.caption(note)


def _button(key: str, name: str, offer: Offer) -> None:
    st.download_button(
        label("take", offer.kind),
        data=offer.make,
        file_name=f"{offer.name or name}.{offer.ending}",
        mime=offer.mime,
        key=f"{offer.kind}_{key}",
        on_click="ignore",
    )
