"""Experiments that need no trained model: what is read at all, and what smaller heads do to scores."""

from dataclasses import replace

import streamlit as st

from attention.experiments.score_rank import score_rank
from attention.experiments.what_is_read import Read, what_is_read
from pages.article.situation import settings_for
from pages.shared.caching import made_once
from pages.shared.settings import Settings
from pages.shared.situations import scaled
from pages.shared.table import draw_table
from pages.shared.texts import label, percent

DECODER_HEADS = (8, 4, 2, 1)
TOKENS = 100


@made_once()
def _read(kv: str, heads: int) -> Read:
    """With so many decoder heads of the encoder's size."""
    settings = replace(settings_for("fewer", Settings()), kv=kv, kv_variant=None, dec_heads=heads)
    settings = replace(settings, kv_variant="drop" if kv == "grouped" else None)
    return what_is_read(settings.config)


def draw_what_is_read(theme: str) -> None:
    """Fewer and fewer decoder heads: what do they leave unread, in a textbook decoder and with K/V heads dropped?"""
    rows = []
    for heads in DECODER_HEADS:
        textbook, dropped = _read("reproject", heads), _read("grouped", heads)
        rows.append((str(heads), *(f"{one.read} / {one.handed_over}" for one in (textbook, dropped))))
    head = [label("claim_run", name) for name in ("decoder_heads", "textbook", "dropped")]
    draw_table(label("claim_run", "read"), head, rows, look="tried")
    st.caption(label("claim_run", "no_model"))


def draw_ranks(theme: str) -> None:
    """One head of 8 × 64, and one of 16 × 32."""
    rows = []
    for situation in ("equal", "problem_1"):
        own = scaled(settings_for(situation, Settings()), up=True)
        found = score_rank(own.dec_dim, TOKENS)
        of = label("claim_run", "of_16", heads=own.dec_heads, dim=own.dec_dim)
        rows.append((of, percent(found.zeros), str(found.of_scores), str(found.of_weights)))
    head = [label("claim_run", name) for name in ("decoder_heads", "zeros", "rank", "rank_after")]
    draw_table(label("claim_try", "A6"), head, rows, look="tried", caption=False)
    st.caption(label("claim_run", "rank_note", tokens=TOKENS))
