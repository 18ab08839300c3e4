"""What is taken away from pictures of the playground: images, numbers, the model, and a script that rebuilds it."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from attention.cross_attention import fits
from attention.inspection import WordView
from attention.inspection.heads import Head
from attention.shapes.costs import num_parameters
from attention.tasks import get_task
from pages.playground.address import VIEW
from pages.shared.answer import badge
from pages.shared.models import LARGE, ModelRecord
from pages.shared.settings import Settings
from pages.shared.take_away import take_away
from pages.shared.take_away.offers import Offer, head_offers, is_too_large, model_offers, picture_name, script_of
from pages.shared.take_away.taken import Taken, address
from pages.shared.texts import label, number
from pages.shared.ways import model_name
from pages.shared.widgets import box


def of_head(settings: Settings, view: WordView, record: ModelRecord, title: str) -> Taken:
    """The chosen head, large."""
    return _taken(settings, view, record, title, f"head{settings.head}")


def draw_take_grid(settings: Settings, view: WordView, record: ModelRecord, page: Callable[..., bytes]) -> None:
    """The menu of the grid: all heads that it shows; `page(title=…)` makes it a web page."""
    every = settings[VIEW] == "layers"
    title = label("take", "grid_layers" if every else "grid", kind=settings.kind, layer=settings.layer)
    taken = _taken(settings, view, record, "", "layers" if every else "")
    word = get_task(settings.task).join_source(view.source)
    name = model_name(record.config, with_way=settings.kv != "reproject")
    headline = label("take", "headline", word=word, name=name, title=title, badge=badge(record))
    layers = dict(enumerate(view.layers[settings.kind], start=1))
    shown = layers if every else {settings.layer: layers[settings.layer]}
    offers = [Offer("picture", "html", "html", partial(page, title=title))]
    offers += [*head_offers(settings.kind, shown, taken.about), *taken.more]
    take_away("heads", taken.name, offers, taken.notes, headline)


def draw_code(settings: Settings, view: WordView, record: ModelRecord) -> None:
    """The part of the script that is about attention."""
    with box("code", label("take", "code")) as code:
        if code.open:
            st.code(
                script_of(record, view.source, _given(record, view), _head(settings), "").attention, wrap_lines=True
            )
            st.caption(label("take", "code_note"))


def _taken(settings: Settings, view: WordView, record: ModelRecord, title: str, what: str) -> Taken:
    where = settings.kind if what == "layers" else f"{settings.kind}-layer{settings.layer}"
    return Taken(
        picture_name(record, settings.text, where, what),
        title,
        f"{address()} · {badge(record)}",
        model_offers(record, view.source, _given(record, view), _head(settings), badge(record)),
        _notes(record),
    )


def _head(settings: Settings) -> Head:
    return Head(settings.kind, settings.layer - 1, settings.head - 1)


def _given(record: ModelRecord, view: WordView) -> tuple[str, ...]:
    """What the decoder is given where nothing is generated."""
    return () if fits(record.config) else view.answer


def _notes(record: ModelRecord) -> list[str]:
    if is_too_large(record):
        millions = number(num_parameters(record.config) / 1e6, 1)
        return [label("take", "too_large", weights=millions, limit=number(LARGE / 1e6, 0))]
    notes = [label("take", "script_note")]
    if not fits(record.config):
        notes.append(label("take", "script_stops"))
    if record.without:
        notes.append(label("take", "script_away", count=len(record.without)))
    return notes
