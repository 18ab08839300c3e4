"""A decoding as something to play: lines from letters to sounds, growing rows, candidates, and the two stores.

The component gets the whole decoding at once, so playing needs no further run of the script. `player.js` sends back the
step and the head when it comes to rest, which is how they get into the address.

    player(decoding, layer=1, source=[*"knight", "</s>"], output=["n", "aɪ", "t", "</s>"], …, key="player")
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import streamlit as st

from attention.cache import Store
from attention.figures.palette import THEMES
from attention.figures.text import visible
from attention.notebook import COMMON_CSS, COMMON_JS
from attention.notebook.packing import pack
from pages.shared.component import component

_FOLDER = Path(__file__).parent
_component = component(
    "player",
    (*COMMON_CSS, _FOLDER / "player.css"),
    (*COMMON_JS, *(_FOLDER / script for script in ("parts.js", "picture.js", "player.js"))),
)


@dataclass(frozen=True)
class Film:
    """Everything that is played.

    Attributes:
        weights: (heads, steps, kv_len) of one layer's cross-attention, shorter rows padded with zeros.
        source, own: labels of the columns: the source's, and the decoder's own that some ways have after them.
        output: the token of each step.
        read: the token that the decoder reads in each step, the start token first.
        candidates: for each step (token, probability), the likeliest first.
        gold: for each step the columns of the letters that make its token; () where unknown.
    """

    weights: np.ndarray
    source: Sequence[str]
    own: Sequence[str]
    output: Sequence[str]
    read: Sequence[str]
    candidates: Sequence[Sequence[tuple[str, float]]]
    gold: Sequence[Sequence[int]]

    def __post_init__(self) -> None:
        _, steps, columns = self.weights.shape
        if columns != len(self.source) + len(self.own) or steps != len(self.output):
            raise ValueError(
                f"weights of {steps} steps and {columns} columns do not fit {len(self.output)} tokens and "
                f"{len(self.source) + len(self.own)} labels"
            )


def film_data(
    film: Film,
    kept: Sequence[Store],
    sharing: Sequence[tuple[str, int, int, int]],
    *,
    step: int,
    head: int,
    kv_heads: int,
    words: dict[str, str],
) -> dict:
    """What the component is sent. `kept` is what is kept after one step; `sharing` (name, K/V heads, bytes of the
    anchor, bytes of the decoder's own cache for each step); `head` 0 is all of them;
    `kv_heads` is how many the decoder has."""
    heads, steps, _ = film.weights.shape
    return {
        "weights": pack(film.weights),
        "heads": heads,
        "source": [visible(token) for token in film.source],
        "own": [visible(token) for token in film.own],
        "said": [visible(token) for token in film.output],
        "read": [visible(token) for token in film.read],
        "candidates": [[[visible(token), round(share, 5)] for token, share in row] for row in film.candidates],
        "gold": [sorted(columns) for columns in film.gold],
        "stores": [
            {
                "label": words[f"store_{store.name}"],
                "grows": store.grows,
                "shape": list(store.shape),
                "copies": store.copies,
                "bytes": store.nbytes(),
            }
            for store in kept
        ],
        "sharing": [list(row) for row in sharing],
        "kvHeads": kv_heads,
        "step": min(max(step, 1), steps),
        "head": head if head <= heads else 0,
        "words": words,
        "blue": {theme: colors.number for theme, colors in THEMES.items()},
    }


def player(data: dict, key: str, on_rest: Callable[[int, int], None]) -> None:
    """Draw it; `on_rest(step, head)` is called when the visitor has come to rest somewhere else (head 0: all)."""
    steps, heads = len(data["said"]), data["heads"]

    def rested() -> None:
        state = st.session_state.get(key)
        value = state.get("rest") if hasattr(state, "get") else None
        if not isinstance(value, dict):
            return
        step, head = value.get("step"), value.get("head")
        if type(step) is int and type(head) is int and 1 <= step <= steps and 0 <= head <= heads:
            on_rest(step, head)

    _component(key=key, data=data, on_rest_change=rested)
