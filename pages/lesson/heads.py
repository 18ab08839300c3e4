"""The heads of one layer of cross-attention as small maps, with one number under each."""

from attention.inspection import LayerView
from attention.notebook import Section, Tile
from pages.shared.head_grid import head_grid
from pages.shared.texts import label, percent
from pages.shared.ways import column_labels


def draw_heads(layer: LayerView, number: int, name: str, shares, key: str) -> None:
    """`shares` has a number for each head, called `name`; layers count from 0."""
    tiles = [
        Tile(head, label("head", "title", head=head + 1), ((name, percent(share)),), map_)
        for head, (map_, share) in enumerate(zip(layer.weights, shares, strict=True))
    ]
    head_grid(
        [Section("", number, tiles)],
        row_labels=layer.rows,
        col_labels=column_labels(layer.columns),
        row_title=label("axes", "cross_row"),
        col_title=label("axes", "cross_column"),
        allowed=layer.allowed,
        key=key,
        hint=label("lesson", "grid_hint"),
    )
