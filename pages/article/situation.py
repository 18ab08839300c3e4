"""The article's situations: each really run, in miniature and in its own size, and opened elsewhere by a click."""

from dataclasses import replace

import streamlit as st

from attention import ModelConfig
from attention.shapes import trace_shapes
from pages.shared import session
from pages.shared.caching import made_once
from pages.shared.settings import Settings
from pages.shared.situations import EQUAL, SITUATIONS, apply_situation, scaled
from pages.shared.texts import label

# Which one a claim speaks of, and the page that shows it best in miniature.
OF_CLAIM = {
    "A1": ("equal", "playground"),
    "A2": ("equal", "anchors"),
    "A3": ("fewer", "playground"),
    "A4": ("equal", "playground"),
    "A5": ("mismatch", "playground"),
    "A6": ("problem_1", "playground"),
    "A7": ("problem_2", "playground"),
    "A8": ("problem_3", "playground"),
    "A9": ("problem_2", "playground"),
    "A10": ("problem_1", "playground"),
    "A11": ("fix_1", "playground"),
    "A12": ("fix_2", "playground"),
    "A13": ("fix_3", "playground"),
    "A15": ("mismatch", "playground"),
}
# What the article only mentions: fewer heads at decoding, here with the encoder's K/V heads used again.
FEWER = {**EQUAL, "dec_heads": 4, "kv": "grouped", "kv_variant": "drop", "keep": "size"}


def settings_for(situation: str, settings: Settings) -> Settings:
    """These settings in one of the situations, in miniature; task and text stay."""
    if situation in SITUATIONS:
        return apply_situation(settings, situation)
    return replace(apply_situation(settings, "equal"), **FEWER).fitted()


@made_once()
def runs(config: ModelConfig) -> bool:
    """Whether a whole pass runs, from really running it."""
    return trace_shapes(config).ok


def draw_situation(claim: str, settings: Settings) -> None:
    """What comes of the claim's situation in both sizes; the visitor's own settings stay until a button is clicked."""
    if claim not in OF_CLAIM:
        return
    situation, page = OF_CLAIM[claim]
    name = label("situation", situation)
    small = settings_for(situation, settings)
    full = scaled(small, up=True)
    said = {}
    for size, one in (("small", small), ("full", full)):
        said[size] = sizes(one)
        said[f"{size}_ends"] = label("article", "runs" if runs(one.config) else "breaks")
    st.caption(label("article", "situation", situation=name, **said))
    with st.container(horizontal=True, gap="small"):
        for title, one, shown_on in (
            (label("article", f"open_{page}"), small, page),
            (label("article", "open_shapes"), full, "shapes"),
        ):
            st.button(title, key=f"{shown_on}_{claim}", on_click=session.open_page, args=(one, shown_on))


def sizes(settings: Settings) -> str:
    """ "8 × 64 → 16 × 32"."""
    return label(
        "article", "sizes", **{name: settings[name] for name in ("enc_heads", "enc_dim", "dec_heads", "dec_dim")}
    )
