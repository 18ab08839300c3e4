"""How one square of a map is made: the real query, key, product, score and softmax, one step after the other."""

from collections.abc import Iterable

import numpy as np
import streamlit as st

from attention.cross_attention import KV_WAYS
from attention.figures.text import visible
from attention.inspection import LayerView, WordView
from attention.inspection.cell import CellView, cell_of
from pages.playground.address import COLUMN, MADE, ROW
from pages.shared.answer import badge
from pages.shared.models import ModelRecord
from pages.shared.settings import Settings
from pages.shared.texts import isolated, isolates_as_html, label, number, verbatim
from pages.shared.ways import column_labels
from pages.shared.widgets import segments

STEPS = ("query", "key", "product", "score", "softmax")
MOST = 16  # features that are drawn; of more, those with the largest products


def chosen_cell(settings: Settings, layer: LayerView) -> tuple[int, int]:
    """Row and column of the chosen head's cell, counted from 0: the one chosen last, in a smaller map the nearest one;
    without any, the strongest of the first row."""
    weights = layer.weights[settings.head - 1]
    if settings[ROW] is None or settings[COLUMN] is None:
        return 0, int(weights[0].argmax())
    rows, columns = weights.shape
    return min(settings[ROW], rows) - 1, min(settings[COLUMN], columns) - 1


def draw_square(settings: Settings, view: WordView, record: ModelRecord) -> None:
    """Up to the step that is chosen."""
    layer = view.layers[settings.kind][settings.layer - 1]
    cell = cell_of(layer, settings.head - 1, *chosen_cell(settings, layer))
    tokens = {"row": visible(layer.rows[cell.row]), "column": visible(column_labels(layer.columns)[cell.column])}
    tokens = {name: isolated(token) for name, token in tokens.items()}
    title = label("square", "title")
    if not record.is_trained:
        title = label("model", "mark", title=title, badge=badge(record))
    st.header(title, anchor=False)
    where = {"head": settings.head, "layer": settings.layer, "weight": number(cell.weights[cell.column], 3)}
    said = [label("square", "which", kind=settings.kind, **where, **tokens), label("square", "hint")]
    if not cell.allowed[cell.column]:
        said.insert(1, label("square", "masked", **tokens))
    st.html(f'<p class="under">{isolates_as_html(" ".join(said))}</p>')
    if not cell.allowed[cell.column]:
        return
    segments(MADE, range(1, len(STEPS) + 1), _step_name, title=label("square", "steps"), label_visibility="collapsed")
    blocks = {
        "query": lambda: _bars(cell, cell.query),
        "key": lambda: _bars(cell, cell.key),
        "product": lambda: _bars(cell, cell.products),
        "score": lambda: "",
        "softmax": lambda: _row(cell, column_labels(layer.columns)),
    }
    html = ""
    for step, name in enumerate(STEPS[: settings[MADE]], start=1):
        here = ' class="here"' if step == settings[MADE] else ""
        sentences = " ".join(_sentences(name, settings, cell, layer, tokens))
        html += f"<li{here}><p>{isolates_as_html(sentences)}</p>{blocks[name]()}</li>"
    st.html(f'<ol class="made">{html}</ol>')


def _step_name(step: int) -> str:
    return f"{step}. {label('square_name', STEPS[step - 1])}"


def _sentences(
    step: str, settings: Settings, cell: CellView, layer: LayerView, tokens: dict[str, str]
) -> Iterable[str]:
    """What is said of a step."""
    dim, total, weight = len(cell.query), cell.products.sum(), cell.weights[cell.column]
    numbers = {"sum": number(total), "score": number(cell.scores[cell.column]), "weight": number(weight, 3)}
    made = label("square", "key_from", maker=_maker(settings, cell, layer))
    keys = int(cell.allowed.sum())
    yield label("square_step", step, kind=settings.kind, dim=dim, keys=keys, **{"from": made}, **numbers, **tokens)
    group = len(layer.queries) // len(layer.keys)
    if step == "key" and group > 1:
        readers = {"first": cell.kv_head * group + 1, "last": (cell.kv_head + 1) * group}
        yield label("square", "shared", kv_head=cell.kv_head + 1, **readers)
    drawn = _drawn(cell)
    if step == "product" and len(drawn) < dim:
        rest = number(total - cell.products[drawn].sum())
        yield label("square", "rest", others=dim - len(drawn), drawn=len(drawn), dim=dim, sum=rest)


def _maker(settings: Settings, cell: CellView, layer: LayerView) -> str:
    """A code for what makes the key."""
    if settings.kind != "cross":
        return "self"
    way = KV_WAYS[settings.kv].text(settings.config)
    if layer.num_source < len(layer.columns) and cell.column < layer.num_source:
        return "of_encoder"  # where the decoder has keys of its own, these are the encoder's
    return way


def _drawn(cell: CellView) -> np.ndarray:
    """The features that are drawn, in order: all, or those with the largest products."""
    return np.sort(np.argsort(-np.abs(cell.products), kind="stable")[:MOST])


def _bars(cell: CellView, values: np.ndarray) -> str:
    """A bar and a number for each feature, to a scale of its own."""
    shown = values[_drawn(cell)]
    most = max(float(np.abs(values).max()), 1e-12)
    return f'<div class="bars">{"".join(_bar(value / most, number(value)) for value in shown)}</div>'


def _row(cell: CellView, columns: Iterable[str]) -> str:
    """Score and weight of each key of the row; dashes where it may not look."""
    bars = ""
    for at, token in enumerate(columns):
        score = label("square", "score", score=number(cell.scores[at]))
        weight = number(cell.weights[at] if cell.allowed[at] else np.nan, 3)
        more = f"<small>{verbatim(score)}</small><span>{verbatim(visible(token))}</span>"
        bars += _bar(cell.weights[at], weight, more, "chosen" if at == cell.column else "")
    return f'<div class="bars keys">{bars}</div>'


def _bar(share: float, text: str, more: str = "", mark: str = "") -> str:
    """A bar up or down from a line, as long as its share of the longest."""
    side = "less" if share < 0 else "more"
    classes = " ".join(filter(None, ("bar", mark)))
    return f'<div class="{classes}"><i class="{side}" style="--share:{abs(share):.4f}"></i><b>{text}</b>{more}</div>'
