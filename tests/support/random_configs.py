"""Configurations drawn by Hypothesis: any K/V way, in every size that it allows."""

import torch
from hypothesis import assume
from hypothesis import strategies as st

from attention import ModelConfig, StackConfig
from attention.config import KV_VARIANTS
from attention.cross_attention import fits

WAYS = [(kv, variant) for kv, variants in KV_VARIANTS.items() for variant in variants or (None,)]


@st.composite
def configs(draw) -> ModelConfig:
    """Any K/V way, with sizes that may clash in every other respect."""
    config = draw(any_configs())
    assume(fits(config))
    return config


@st.composite
def any_configs(draw) -> ModelConfig:
    """The same, and those whose sizes do not fit."""
    kv, variant = draw(st.sampled_from(WAYS))

    def stack(d_model, dims):
        kv_heads, group = draw(st.sampled_from([(1, 1), (1, 3), (2, 1), (2, 2), (3, 1), (3, 2), (5, 1)]))
        return StackConfig(
            d_model, kv_heads * group, draw(st.sampled_from(dims)), draw(st.integers(1, 3)), kv_heads, ffn_dim=13
        )

    head_dims = (2, 5, 7) if (kv, variant) in (("reproject", None), ("projection", "full")) else (5,)
    return ModelConfig(
        encoder=stack(11, head_dims),
        decoder=stack(7, head_dims),
        kv=kv,
        kv_variant=variant,
        src_vocab_size=19,
        tgt_vocab_size=23,
        bias=draw(st.booleans()),
        num_slots=draw(st.integers(1, 3)),
    )


def ids(length, size, seed):
    return torch.randint(3, size, (length,), generator=torch.Generator().manual_seed(seed)).tolist()
