"""The heads of one layer as small maps, or those of every layer at a glance, and what is measured of them."""

from collections.abc import Callable
from functools import partial

import numpy as np

from attention.inspection import LayerView, WordView
from attention.inspection.heads import Head
from attention.notebook import Section, Tile
from attention.training.evaluation import Scores
from pages.playground.address import VIEW
from pages.playground.taken import draw_take_grid
from pages.shared.head_grid import head_grid, head_grid_page
from pages.shared.measured import Rule, rules
from pages.shared.models import ModelRecord, scores_of
from pages.shared.settings import Settings
from pages.shared.table import draw_table
from pages.shared.texts import label, number, percent, task_label
from pages.shared.ways import column_labels

# The browser draws what it is sent in one go. The rest of a page, sent together with the grid, would hold its painting
# up, so whoever draws both waits this long between them.
SECONDS_TO_PAINT = 0.3

ENLARGED = "enlarged"  # where the chosen head stands large
BESIDE = 8  # heads; up to so many leave room for a large one beside them

Figures = tuple[tuple[str, str], ...]  # names and values


def figures_of(
    task: str, layer: LayerView, layer_index: int, head: int, kind: str, scores: Scores | None, kv_heads: int
) -> Figures:
    """What is measured of a head on this input, as (label, value) pairs; which K/V head it reads, where shared."""
    lines = [
        (label("head", "entropy"), number(layer.entropy[head])),
        (label("head", "distance"), number(layer.distance[head], 1)),
        (label("head", "size"), percent(layer.size[head])),
    ]
    if kind != "decoder":  # whose columns have no end token
        lines.insert(1, (label("head", "on_end"), percent(layer.on_end[head])))
    if layer.num_source < len(layer.columns):  # the decoder has columns of its own: who reads which?
        reads = "reads_source" if _reads_source(layer, head) else "reads_own"
        lines.insert(0, (label("head", "reads"), label("head", reads)))
    if kv_heads < (heads := len(layer.weights)):
        lines.append((label("head", "reads_kv_head"), str(head // (heads // kv_heads) + 1)))
    if kind == "cross":
        lines.append((task_label(task, "head", "finds"), percent(layer.alignment[head])))
        if scores is not None:
            lines.append((task_label(task, "head", "finds_test"), percent(scores.alignment[layer_index][head])))
    return tuple(lines)


def _reads_source(layer: LayerView, head: int) -> bool:
    return bool(layer.allowed[head, :, : layer.num_source].any())


def _captions(task: str, layer: LayerView, head: int, rule: Rule | None) -> Figures:
    """The one word under a head: what it mostly does with held-out words, or that it does not read the source."""
    if not _reads_source(layer, head):
        return ((label("head", "reads"), label("head", "reads_own")),)
    if rule is None:
        return ()
    name = task_label(task, "head", "finds") if rule.name == "finds" else label("rule_short", rule.name)
    return ((name, percent(rule.share)),)


def _title(head: int, heads: int, kv_heads: int) -> str:
    if kv_heads == heads:
        return label("head", "title", head=head + 1)
    return label("head", "title_shared", head=head + 1, kv_head=head // (heads // kv_heads) + 1)


def draw_grid(settings: Settings, view: WordView, record: ModelRecord, pick: Callable[[int, int], None]) -> None:
    """All heads of the chosen layer, as squares or lines, or (view "layers") of every layer that was reached."""
    kind = settings.kind
    layers = view.layers[kind]
    overview = settings[VIEW] == "layers"
    heads, kv_heads = settings.heads_of(kind), settings.shared_by(kind)
    shown = range(len(layers)) if overview else [settings.layer - 1]
    sections = [
        Section(
            label("head", "layer", layer=index + 1) if overview else "",
            index,
            [
                Tile(
                    head,
                    _title(head, heads, kv_heads),
                    () if overview else _captions(settings.task, layers[index], head, rule),
                    layers[index].weights[head],
                    away=Head(kind, index, head) in record.without,
                )
                for head, rule in enumerate((None,) * heads if overview else rules(record, kind, index))
            ],
        )
        for index in shown
    ]
    layer = layers[shown[0]]
    drawn = {
        "row_labels": layer.rows,
        "col_labels": column_labels(layer.columns),
        "row_title": label("axes", f"{kind}_row"),
        "col_title": label("axes", f"{kind}_column"),
        "allowed": np.concatenate([layers[index].allowed for index in shown]),
        "lines": settings[VIEW] == "lines",
    }
    own = {"selected": (settings.layer - 1, settings.head - 1), "compact": overview, "enlarged": f"st-key-{ENLARGED}"}
    head_grid(sections, **drawn, **own, key="heads", on_select=pick)
    draw_take_grid(settings, view, record, partial(head_grid_page, sections, **drawn))


def draw_figures(settings: Settings, view: WordView, record: ModelRecord) -> None:
    """The same of all heads of the layer, as a table."""
    figures = all_figures(settings, view, record)
    heads = [label("head", "title", head=head + 1) for head in range(len(figures))]
    rows = [(head, *(value for _, value in one)) for head, one in zip(heads, figures, strict=True)]
    draw_table(label("head", "figures"), ("", *(name for name, _ in figures[0])), rows, look="heads", caption=False)


def all_figures(settings: Settings, view: WordView, record: ModelRecord) -> list[Figures]:
    """What is measured of each head of the chosen layer."""
    kind, index = settings.kind, settings.layer - 1
    layer, scores, kv_heads = view.layers[kind][index], scores_of(record), settings.shared_by(kind)
    return [figures_of(settings.task, layer, index, head, kind, scores, kv_heads) for head in range(len(layer.weights))]
