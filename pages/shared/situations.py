"""The article's situations, in miniature: what to change, by the name of the situation."""

from dataclasses import replace

import streamlit as st

from pages.shared.links import link_to
from pages.shared.session import pages_are_held
from pages.shared.settings import KV_HEADS, MAX_WIDTH, Settings
from pages.shared.texts import label

EQUAL = {"enc_heads": 8, "enc_dim": 8, "dec_heads": 8, "dec_dim": 8, "enc_width": 64, "dec_width": 64}
SITUATIONS: dict[str, dict] = {
    "equal": {**EQUAL, "kv": "reproject"},
    "problem_1": {**EQUAL, "dec_heads": 16, "dec_dim": 4, "kv": "reproject", "keep": "width"},
    "problem_2": {**EQUAL, "dec_heads": 16, "dec_dim": 8, "kv": "reproject", "keep": "size"},
    "problem_3": {**EQUAL, "dec_dim": 4, "kv": "direct", "keep": "size"},
    "mismatch": {**EQUAL, "dec_heads": 16, "dec_dim": 8, "kv": "direct", "keep": "size"},
    "fix_1": {**EQUAL, "dec_heads": 16, "dec_dim": 8, "kv": "projection", "keep": "size"},
    "fix_2": {**EQUAL, "dec_heads": 16, "dec_dim": 8, "kv": "grouped", "keep": "size"},
    "fix_3": {**EQUAL, "dec_heads": 16, "dec_dim": 8, "kv": "extra", "keep": "size"},
}
# By what becomes of them, as they are told apart where they are offered.
GROUPS = {
    "runs": ("equal", "problem_1", "problem_2"),
    "breaks": ("problem_3", "mismatch"),
    "suggestions": ("fix_1", "fix_2", "fix_3"),
}
SHOWN = {"enc_layers": 2, "dec_layers": 2, "kind": "cross", "layer": 2, "head": 1, "kv_variant": None}
FULL = 8  # the article's own figures are 8 times those of the trained miniatures
SIZES = ("enc_dim", "dec_dim", "enc_width", "dec_width")


def apply_situation(settings: Settings, name: str) -> Settings:
    """One of the situations, with a K/V head for each head, shown at the last cross-attention; task and text stay."""
    changes = {**SHOWN, **dict.fromkeys(KV_HEADS), **SITUATIONS[name]}
    return replace(settings.sound(), **changes).fitted()


def situation_of(settings: Settings) -> str | None:
    """The article's situation that these settings are, in miniature or in full size; with a fault put in, none."""
    if settings != settings.sound():
        return None
    for name in SITUATIONS:
        miniature = apply_situation(settings, name)
        if any(one.same_model(settings) for one in (miniature, scaled(miniature, up=True))):
            return name
    return None


def draw_explanation(settings: Settings) -> None:
    """What the situation on the screen is about, where it is one, with a way to the article; beside its picture."""
    if name := situation_of(settings):
        article = label("situation", "article")
        if not pages_are_held():
            article = f"[{article}]({link_to(settings.to_address(), 'article')})"
        st.caption(label("situation_text", name, article=article))


def scaled(settings: Settings, up: bool) -> Settings:
    """The same head counts with widths and head sizes 8 times as large, or an eighth."""
    sizes = {name: getattr(settings, name) * FULL if up else getattr(settings, name) // FULL for name in SIZES}
    return replace(settings, **sizes)


def is_full_size(settings: Settings) -> bool:
    """Whether these are the article's own sizes rather than their miniature."""
    return settings.enc_width == settings.dec_width == MAX_WIDTH
