"""Keys of the decoder's own beside the encoder's, for all heads: further columns, which change no number of heads."""

from dataclasses import dataclass

import torch

from attention.config import ModelConfig


@dataclass(frozen=True)
class Beside:
    """What came of it.

    Attributes:
        keys: (batch, K/V heads, source and slots, head size).
        error: PyTorch's words where the queries do not fit; "" where they do.
    """

    keys: tuple[int, ...]
    error: str


def with_slots_beside(config: ModelConfig, src_len: int = 6, tgt_len: int = 5) -> Beside:
    """Scores of the decoder's queries over the encoder's per-head keys and `num_slots` learned ones after them."""
    enc, dec = config.encoder, config.decoder
    handed = torch.zeros(1, enc.num_kv_heads, src_len, enc.head_dim)
    slots = torch.zeros(1, enc.num_kv_heads, config.num_slots, enc.head_dim)
    keys = torch.cat([handed, slots], dim=2)
    queries = torch.zeros(1, dec.num_heads, tgt_len, dec.head_dim)
    try:
        queries @ keys.transpose(-2, -1)
    except RuntimeError as error:
        return Beside(tuple(keys.shape), str(error))
    return Beside(tuple(keys.shape), "")
