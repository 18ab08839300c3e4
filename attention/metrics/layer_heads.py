"""All heads of one layer as arrays: their weights, and what they did. Every measure over pairs takes it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

Rows = Int[np.ndarray, " rows"]


@dataclass(frozen=True, eq=False)
class HeadWeights:
    """What each head of one layer does to its inputs, as float arrays for x · W + b.

    Where several heads share keys and values, each has a copy. Where keys and values come through several maps one
    after the other (the encoder's W_K, then what adapts it), `w_k` and `w_v` are the whole way from the memory to the
    head. Where they do not come from the memory at all (learned slots, the decoder's own states in cross-attention),
    there is no such map and the numbers are NaN. Biases are zero where the model has none.
    """

    w_q: Float[np.ndarray, "heads width head_dim"]
    b_q: Float[np.ndarray, "heads head_dim"]
    w_k: Float[np.ndarray, "heads source_width head_dim"]
    b_k: Float[np.ndarray, "heads head_dim"]
    w_v: Float[np.ndarray, "heads source_width head_dim"]
    b_v: Float[np.ndarray, "heads head_dim"]
    w_o: Float[np.ndarray, "heads head_dim d_model"]


@dataclass(frozen=True, eq=False)
class LayerHeads:
    """All heads of one kind and layer: their weights, and what they did at every real query position.

    Attributes:
        kind, layer: which, the layer from 0.
        weights: attention weights; a row sums to 1.
        allowed: where a query may look; heads may differ where some read columns of the decoder's own.
        queries: query vectors.
        mixed: each head's output A·V, before W_O.
        expected: the diagonal: each row's own position, or, in cross-attention, the place in the source that
            corresponds to its place in the answer. The row that predicts the end token belongs to the end token of
            the source.
        backwards: the same, for an answer that goes from the end of the source to its beginning.
        end: the column of the source's end token; −1 where it is not among the columns, as in decoder self-attention.
        example, position: which word of the batch a row is from, and which position in it.
        projections: weights and biases of the heads.
    """

    kind: str
    layer: int
    weights: Float[np.ndarray, "heads rows kv_len"]
    allowed: Bool[np.ndarray, "heads rows kv_len"]
    queries: Float[np.ndarray, "heads rows head_dim"]
    mixed: Float[np.ndarray, "heads rows head_dim"]
    expected: Float[np.ndarray, " rows"]
    backwards: Float[np.ndarray, " rows"]
    end: Rows
    example: Rows
    position: Rows
    projections: HeadWeights

    @property
    def num_heads(self) -> int:
        return len(self.weights)

    @cached_property
    def contributions(self) -> Float[np.ndarray, "heads rows d_model"]:
        """A·V·W_O: what each head adds to the hidden states, W_O's bias (which is nobody's) left out."""
        return self.mixed @ self.projections.w_o
