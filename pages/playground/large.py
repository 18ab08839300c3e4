"""One head, large, with the numbers in its cells, and what is measured of it on this input."""

from collections.abc import Callable
from functools import partial

import numpy as np
import streamlit as st

from attention.export.tables import as_csv, as_npz
from attention.figures import map_in_words
from attention.figures.numbers import map_cells
from attention.inspection import LayerView, WordView
from attention.notebook import Section, Tile
from pages.playground.heads import ENLARGED, all_figures
from pages.playground.square import chosen_cell
from pages.playground.taken import of_head
from pages.shared.answer import badge
from pages.shared.chart import figure_words
from pages.shared.head_grid import head_grid, head_grid_page
from pages.shared.models import ModelRecord
from pages.shared.settings import Settings
from pages.shared.take_away import take_away
from pages.shared.take_away.offers import Offer
from pages.shared.texts import label, verbatim
from pages.shared.ways import column_labels

KEY = "large_head"
MOST_NUMBERS = 800  # cells; beyond, a number would be smaller than anybody can read


def draw_large(settings: Settings, view: WordView, record: ModelRecord, pick: Callable) -> None:
    """The chosen head; a click on one of its cells chooses that."""
    kind, head = settings.kind, settings.head - 1
    layer = view.layers[kind][settings.layer - 1]
    title = label("head", "large", head=settings.head, layer=settings.layer, kind=kind)
    if not record.is_trained:
        title = label("model", "mark", title=title, badge=badge(record))
    tile = Tile(head, label("head", "title", head=head + 1), (), layer.weights[head])
    sections, drawn = [Section("", settings.layer - 1, [tile])], _drawn(kind, layer, head)
    with st.container(key=ENLARGED, gap="small"):
        st.markdown(f"**{title}**")
        hints = {"hint": label("head", "large_hint"), "keys_hint": label("head", "large_keys")}
        head_grid(sections, **drawn, **hints, cell=chosen_cell(settings, layer), key=KEY, on_select=pick)
        taken = of_head(settings, view, record, title)
        page = Offer("picture", "html", "html", partial(head_grid_page, sections, title, **drawn))
        take_away(KEY, taken.name, [page, *_numbers(layer, head, taken.about), *taken.more], taken.notes, title)
    figures = all_figures(settings, view, record)[head]
    told = (f"<span>{verbatim(name)} <strong>{verbatim(value)}</strong></span>" for name, value in figures)
    st.html(f'<p class="head-figures">{" ".join(told)}</p>')


def _drawn(kind: str, layer: LayerView, head: int) -> dict:
    """How a head of a layer is drawn large."""
    words, weights, allowed = figure_words(), layer.weights[head], layer.allowed[head]
    columns = column_labels(layer.columns)
    titles = {"row_title": label("axes", f"{kind}_row"), "col_title": label("axes", f"{kind}_column")}
    numbers = [words.number(weight) for weight in weights.ravel().tolist()] if weights.size <= MOST_NUMBERS else ()
    alt = map_in_words(weights, allowed, layer.rows, columns, **titles, words=words)
    labels = {"row_labels": layer.rows, "col_labels": columns}
    return labels | titles | {"allowed": allowed, "numbers": numbers, "alt": alt}


def _numbers(layer: LayerView, head: int, about: str) -> list[Offer]:
    def cells() -> dict[str, np.ndarray]:
        weights = np.where(layer.allowed[head], layer.weights[head], np.nan)
        return map_cells(layer.rows, column_labels(layer.columns), allowed=layer.allowed[head], weight=weights)

    return [
        Offer("numbers", "csv", "csv", lambda: as_csv(cells(), about)),
        Offer("numbers", "npz", "npz", lambda: as_npz(cells(), about)),
    ]
