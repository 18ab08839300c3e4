"""Decodings as something to play: lines from letters to sounds, growing rows, candidates, and the two stores.

One run, or two side by side that go in step: undisturbed and disturbed. The component gets all of them at once, so
playing needs no further run of the script. `player.js` sends back the step and the head when it comes to rest, and the
letters that are hidden when one is clicked, which is how they get into the address.

    control, disturbed = (Run(film, "Control", "n aɪ t ✓"), Run(other, "Hidden: k 1", "n aɪ t ✓"))
    player(player_data([control, disturbed], …), key="player", on_rest=…, on_hide=…)
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
from pages.shared.parameters import END

_FOLDER = Path(__file__).parent
_component = component(
    "player",
    (*COMMON_CSS, _FOLDER / "player.css"),
    (*COMMON_JS, *(_FOLDER / script for script in ("parts.js", "run.js", "player.js"))),
)


@dataclass(frozen=True)
class Film:
    """Everything of one decoding that is played.

    Attributes:
        weights: (heads, steps, kv_len) of one layer's cross-attention, shorter rows padded with zeros.
        source, own: labels of the columns: the source's, and the decoder's own that some ways have after them.
        output: the token of each step.
        read: the token that the decoder reads in each step, the start token first.
        candidates: for each step (token, probability), the likeliest first.
        gold: for each step the columns of the letters that make its token; () where unknown.
        own_grows: whether the decoder's own columns come one by one, with the tokens it reads.
    """

    weights: np.ndarray
    source: Sequence[str]
    own: Sequence[str]
    output: Sequence[str]
    read: Sequence[str]
    candidates: Sequence[Sequence[tuple[str, float]]]
    gold: Sequence[Sequence[int]]
    own_grows: bool = False

    def __post_init__(self) -> None:
        _, steps, columns = self.weights.shape
        if columns != len(self.source) + len(self.own) or steps != len(self.output):
            raise ValueError(
                f"weights of {steps} steps and {columns} columns do not fit {len(self.output)} tokens and "
                f"{len(self.source) + len(self.own)} labels"
            )


@dataclass(frozen=True)
class Run:
    """A film, what was done to its anchor, and what the whole of it comes to."""

    film: Film
    title: str
    answer: str

    def data(self) -> dict:
        film = self.film
        return {
            "title": self.title,
            "answer": self.answer,
            "weights": pack(film.weights),
            "heads": len(film.weights),
            "source": [visible(token) for token in film.source],
            "own": [visible(token) for token in film.own],
            "ownGrows": film.own_grows,
            "said": [visible(token) for token in film.output],
            "read": [visible(token) for token in film.read],
            "candidates": [[[visible(token), round(share, 5)] for token, share in row] for row in film.candidates],
            "gold": [sorted(columns) for columns in film.gold],
        }


Place = int | str  # a letter, counted from 1, or END


def player_data(
    runs: Sequence[Run],
    kept: Sequence[Store],
    sharing: Sequence[tuple[str, int, int, int]],
    *,
    step: int,
    head: int,
    kv_heads: int,
    words: dict[str, str],
    hidden: Sequence[Place] | None = None,
) -> dict:
    """What the component is sent. `runs`: the control, and beside it another one or none.

    Args:
        kept: what is kept after one step.
        sharing: (name, K/V heads, bytes of the anchor, bytes of the decoder's own cache for each step).
        head: whose lines are shown; 0: those of all.
        kv_heads: how many the decoder has.
        hidden: the letters that are hidden in the second run, where a click hides and shows them; None: no click does.
    """
    heads, steps = len(runs[0].film.weights), max(len(run.film.output) for run in runs)
    return {
        "runs": [run.data() for run in runs],
        "hidden": None if hidden is None else list(hidden),
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


def player(
    data: dict, key: str, on_rest: Callable[[int, int], None], on_hide: Callable[[tuple[Place, ...]], None]
) -> None:
    """Draw it.

    Args:
        on_rest: called with (step, head) when the visitor has come to rest somewhere else (head 0: all).
        on_hide: called with all letters that are to be hidden from now on, when one was clicked.
    """
    steps, heads = max(len(run["said"]) for run in data["runs"]), data["runs"][0]["heads"]
    letters = len(data["runs"][0]["source"]) - 1

    def sent(name: str) -> dict:
        """From the browser, so nothing about it is taken for granted."""
        state = st.session_state.get(key)
        value = state.get(name) if hasattr(state, "get") else None
        return value if isinstance(value, dict) else {}

    def rested() -> None:
        step, head = sent("rest").get("step"), sent("rest").get("head")
        if type(step) is int and type(head) is int and 1 <= step <= steps and 0 <= head <= heads:
            on_rest(step, head)

    def hid() -> None:
        wanted = sent("hide").get("places")
        if data["hidden"] is not None and isinstance(wanted, list):
            on_hide(tuple(place for place in (*range(1, letters + 1), END) if place in wanted))

    _component(key=key, data=data, on_rest_change=rested, on_hide_change=hid)
