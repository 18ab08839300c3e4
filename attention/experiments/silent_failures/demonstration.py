"""What a demonstration of a silent failure returns: numbers, one small picture, and the two lines of code.

Everything is ready to be shown. Names are keys of the texts (`[silent_…]` of the labels, `## name` of the prose).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np


@dataclass(frozen=True)
class Damage:
    """One number as it should be, and as the wrong line makes it.

    Attributes:
        name: of the number's label.
        right, wrong: the two values.
        unit: how to write them: "share" (0 … 1, as a percentage), "count" (whole) or "number".
        at: what the label's {at} stands for, where one label serves several numbers.
    """

    name: str
    right: float
    wrong: float
    unit: Literal["share", "count", "number"] = "share"
    at: int | None = None


@dataclass(frozen=True, eq=False)
class Map:
    """A small map, rows from the top.

    Attributes:
        name: of the map's title.
        values: (rows, columns) float32, read-only.
        rows, columns: one label each.
        kind: "attention" (queries × keys), "readers" (query heads × K/V heads, 1 = reads it) or "similarity"
            (heads × heads, −1 … 1).
        attention: which attention a map of kind "attention" is of: "cross", "encoder" or "decoder".
        allowed: (rows, columns) where a query could look; None: everywhere.
        at: what the title's {at} stands for.
    """

    name: str
    values: np.ndarray
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    kind: Literal["attention", "readers", "similarity"] = "attention"
    attention: Literal["cross", "encoder", "decoder"] = "cross"
    allowed: np.ndarray | None = None
    at: int | None = None


@dataclass(frozen=True, eq=False)
class Curve:
    """Values against whole numbers that double, such as head counts.

    Attributes:
        name: of the curve; its axis titles are `name_x` and `name_y`.
        x: the numbers along the horizontal axis.
        lines: name of the line's label, and its values, (len(x),) float32, read-only.
        marked: the x at which everything is right, if there is one.
    """

    name: str
    x: tuple[int, ...]
    lines: tuple[tuple[str, np.ndarray], ...]
    marked: int | None = None


@dataclass(frozen=True, eq=False)
class SilentFailure:
    """A failure that raises nothing.

    Attributes:
        name: of its title and its text.
        wrong_code, right_code: lines of PyTorch, the fault and what is right, that run as they stand.
        numbers: what the damage is, the most telling number first.
        weights: what the picture was computed with: a "trained" model that ships, a model with "random" weights, or
            no model at all, only "gaussian" vectors; "both": such vectors, and a trained model beside them.
        maps, curve: the picture.
        facts: what the text's {placeholders} stand for, as (name, value) pairs.
    """

    name: str
    wrong_code: str
    right_code: str
    numbers: tuple[Damage, ...]
    weights: Literal["trained", "random", "gaussian", "both"]
    maps: tuple[Map, ...] = ()
    curve: Curve | None = None
    facts: tuple[tuple[str, str | int], ...] = ()


def frozen(array) -> np.ndarray:
    """A read-only float32 copy (bool stays bool), so that a cached result can be handed to everybody."""
    array = np.asarray(array).copy()
    array = array if array.dtype == bool else array.astype(np.float32)
    array.setflags(write=False)
    return array


def head_names(count: int) -> tuple[str, ...]:
    """Heads as people count them, from 1."""
    return tuple(str(head) for head in range(1, count + 1))


def attention_map(
    name: str, weights, rows: Sequence[str], columns: Sequence[str], *, attention="cross", allowed=None, at=None
) -> Map:
    """An attention map of one head: weights (q_len, kv_len), and where its queries could look."""
    allowed = None if allowed is None else frozen(np.broadcast_to(allowed, np.shape(weights)))
    return Map(name, frozen(weights), tuple(rows), tuple(columns), "attention", attention, allowed, at)
