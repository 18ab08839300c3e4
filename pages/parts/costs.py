"""What each way of feeding the decoder's heads costs, for the present numbers."""

from dataclasses import replace

import streamlit as st

from attention import ModelConfig
from attention.comparison.costs import kept_kv
from attention.config import KV_VARIANTS
from attention.cross_attention import KV_FEEDS, fits, num_feed_weights
from attention.trace import trace_shapes
from pages.parts.words import label, prose


def draw_costs(config: ModelConfig) -> None:
    """A row for each way and variant: weights to learn, numbers to keep, whether it fits."""
    st.markdown(prose("shapes")["costs"])
    names = [label("shapes", f"costs_{name}") for name in ("way", "weights", "kept", "fits")]
    rows = [f"| {' | '.join(names)} |", "|---|--:|--:|---|"]
    for kv, variants in KV_VARIANTS.items():
        for variant in variants or (None,):
            rows.append(f"| {' | '.join(_row(replace(config, kv=kv, kv_variant=variant)))} |")
    st.markdown("\n".join(rows))


def _row(config: ModelConfig) -> tuple[str, str, str, str]:
    name = label("kv", config.kv)
    if config.kv_variant:
        name += f", {label('kv_variant', config.kv_variant)}"
    if not fits(config):
        why = label("break", trace_shapes(config).failure.kind)
        return name, "–", "–", label("shapes", "costs_no", why=why)
    return name, f"{num_kv_weights(config):,}", f"{kept_kv(config):,}", label("shapes", "costs_yes")


def num_kv_weights(config: ModelConfig) -> int:
    """Weights and biases that make cross-attention's keys and values, on both sides."""
    enc = config.encoder
    made_by_encoder = 2 * enc.kv_width * (enc.d_model + config.bias) if KV_FEEDS[config.kv].hands_over_heads else 0
    return made_by_encoder + num_feed_weights(config)
