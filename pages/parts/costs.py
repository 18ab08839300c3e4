"""What each way of feeding the decoder's heads costs, for the present numbers."""

from dataclasses import replace

import streamlit as st

from attention import ModelConfig
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
    return name, f"{num_kv_weights(config):,}", f"{num_kept(config):,}", label("shapes", "costs_yes")


def num_kv_weights(config: ModelConfig) -> int:
    """Weights and biases that make cross-attention's keys and values, on both sides."""
    enc = config.encoder
    made_by_encoder = 2 * enc.kv_width * (enc.d_model + config.bias) if KV_FEEDS[config.kv].hands_over_heads else 0
    return made_by_encoder + num_feed_weights(config)


def num_kept(config: ModelConfig) -> int:
    """Numbers of cross-attention's keys and values for one source token, over all decoder layers.

    The encoder's K/V are kept once for all layers where these read them as they are; what a layer has projected,
    mixed or pooled for itself is its own.
    """
    enc, dec = config.encoder, config.decoder
    if config.kv == "reproject":
        return 2 * dec.kv_width * dec.num_layers
    if config.kv == "projection":
        return 2 * dec.total_width * dec.num_layers
    return 2 * min(enc.num_kv_heads, dec.num_heads) * enc.head_dim
