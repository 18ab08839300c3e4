"""A small model for each K/V way, every dimension a different prime where the way allows it."""

import torch
from random_numbers import randomise

from attention import EncoderDecoder, ModelConfig, StackConfig
from attention.tasks import Batch

SIZES = {"src_vocab_size": 19, "tgt_vocab_size": 23, "bias": True}
ENCODER = StackConfig(d_model=11, num_heads=3, head_dim=5, num_layers=2, ffn_dim=13)
DECODER = StackConfig(d_model=7, num_heads=3, head_dim=5, num_layers=2, ffn_dim=17)


def decoder(**changes) -> StackConfig:
    return StackConfig(**{"d_model": 7, "num_heads": 3, "head_dim": 5, "num_layers": 2, "ffn_dim": 17, **changes})


WAYS = {
    "reproject": ModelConfig(ENCODER, decoder(num_heads=4, head_dim=2), **SIZES),
    "reproject, shared": ModelConfig(ENCODER, decoder(num_heads=4, num_kv_heads=2), **SIZES),
    "no biases": ModelConfig(ENCODER, DECODER, **{**SIZES, "bias": False}),
    "direct": ModelConfig(ENCODER, DECODER, kv="direct", **SIZES),
    "projection, full": ModelConfig(ENCODER, decoder(num_heads=4, head_dim=2), kv="projection", **SIZES),
    "projection, mix": ModelConfig(ENCODER, decoder(num_heads=4), kv="projection", kv_variant="mix", **SIZES),
    "grouped": ModelConfig(ENCODER, decoder(num_heads=6), kv="grouped", **SIZES),
    "grouped, pool": ModelConfig(ENCODER, decoder(num_heads=1), kv="grouped", **SIZES),
    "grouped, drop": ModelConfig(ENCODER, decoder(num_heads=1), kv="grouped", kv_variant="drop", **SIZES),
    "extra, slots": ModelConfig(ENCODER, decoder(num_heads=5), kv="extra", **SIZES),
    "extra, states": ModelConfig(ENCODER, decoder(num_heads=5), kv="extra", kv_variant="states", **SIZES),
}


def random_model(way: str, seed: int = 0) -> EncoderDecoder:
    return randomise(EncoderDecoder(WAYS[way]), seed).eval()


def random_batch() -> Batch:
    """Three examples of unequal lengths; 0 is padding, 1 the start token, 2 the end token."""
    return Batch(
        src_ids=torch.tensor([[3, 9, 4, 16, 2], [7, 2, 0, 0, 0], [5, 6, 18, 2, 0]]),
        tgt_in=torch.tensor([[1, 5, 11, 0], [1, 4, 0, 0], [1, 10, 6, 21]]),
        tgt_out=torch.tensor([[5, 11, 2, 0], [4, 2, 0, 0], [10, 6, 21, 2]]),
    )
