"""What each K/V way costs, for the present numbers."""

from dataclasses import replace

import streamlit as st

from attention import ModelConfig
from attention.cache import kept_kv
from attention.config import KV_VARIANTS
from attention.cross_attention import fits
from attention.shapes import trace_shapes
from attention.shapes.costs import num_kv_parameters
from pages.shared.table import Cell, TableRow, draw_table
from pages.shared.texts import label, prose, whole


def draw_costs(config: ModelConfig) -> None:
    """A row for each way and variant: weights to learn, numbers to keep, whether it fits."""
    st.markdown(prose("shapes")["costs"])
    way, weights, kept, fits_here = (label("shapes", f"costs_{name}") for name in ("way", "weights", "kept", "fits"))
    rows = [
        _row(replace(config, kv=kv, kv_variant=variant))
        for kv, variants in KV_VARIANTS.items()
        for variant in variants or (None,)
    ]
    head = (way, Cell(weights, "number"), Cell(kept, "number"), fits_here)
    draw_table(label("shapes", "costs"), head, rows, look="boxed", caption=False)


def _row(config: ModelConfig) -> TableRow:
    name = label("kv", config.kv)
    if config.kv_variant:
        name += f", {label('kv_variant', config.kv_variant)}"
    if not fits(config):
        why = label("break", trace_shapes(config).failure.kind)
        return name, Cell("–", "number"), Cell("–", "number"), label("shapes", "costs_no", why=why)
    numbers = (Cell(whole(count), "number") for count in (num_kv_parameters(config), kept_kv(config)))
    return name, *numbers, label("shapes", "costs_yes")
