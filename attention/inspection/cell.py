"""How one cell of a map was made: a query, a key, their product, its scale, and the softmax of the row.

    cell = cell_of(view.layers["cross"][1], head=2, row=0, column=1)
    cell.products.sum() / cell.scale     # is cell.scores[cell.column], and the softmax of those gives cell.weights

Nothing is run again: query and keys are those of the pass that made the map, after whatever adapts, shares or adds any.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from attention.inspection.word import LayerView


@dataclass(frozen=True, eq=False)
class CellView:
    """One cell, with the row in which it stands.

    Attributes:
        row, column: where it stands.
        kv_head: which K/V head has the keys of this row, from 0.
        query: of the row.
        key: of the column.
        scale: √head_dim, by which the products' sum is divided.
        allowed: where the row may look.
        scores: of the row, before the softmax; NaN where it may not look.
        weights: of the row, as they are in the map.
    """

    row: int
    column: int
    kv_head: int
    query: Float[np.ndarray, " head_dim"]
    key: Float[np.ndarray, " head_dim"]
    scale: float
    allowed: Bool[np.ndarray, " kv_len"]
    scores: Float[np.ndarray, " kv_len"]
    weights: Float[np.ndarray, " kv_len"]

    @property
    def products(self) -> Float[np.ndarray, " head_dim"]:
        """Query times key, feature by feature; the score is their sum, divided by the scale."""
        return self.query * self.key


def cell_of(layer: LayerView, head: int, row: int, column: int) -> CellView:
    """One cell of one head of a layer; all are counted from 0."""
    heads, kv_heads = len(layer.queries), len(layer.keys)
    kv_head = head // (heads // kv_heads)
    query, keys, allowed = layer.queries[head, row], layer.keys[kv_head], layer.allowed[head, row]
    scale = float(np.sqrt(len(query)))
    return CellView(
        row=row,
        column=column,
        kv_head=kv_head,
        query=query,
        key=keys[column],
        scale=scale,
        allowed=allowed,
        scores=np.where(allowed, keys @ query / scale, np.nan),
        weights=layer.weights[head, row],
    )
