"""The encoder's per-head K/V are met as they are, by however many query heads the decoder has.

This is where head counts do matter. It works when heads and head sizes agree. One K/V head broadcasts to any number
of query heads without a word (multi-query attention, by accident).
"""

from attention.config import ConfigError, ModelConfig
from attention.cross_attention.base import KvWay
from attention.cross_attention.checks import other_head_dim


class Direct(KvWay):
    name = "direct"

    @staticmethod
    def check(config: ModelConfig) -> None:
        enc, dec = config.encoder, config.decoder
        clashes = other_head_dim(config)
        if enc.num_kv_heads not in (dec.num_heads, 1):
            clashes.insert(
                0, f"decoder num_heads ({dec.num_heads}) must equal the encoder's K/V heads ({enc.num_kv_heads})"
            )
        if clashes:
            raise ConfigError(" and ".join(clashes) + ', or let the decoder project the memory itself (kv="reproject")')

    @classmethod
    def suggestions(cls, config: ModelConfig) -> tuple:
        return ()  # it fits only where nothing is broken

    @classmethod
    def kv_heads_read(cls, config: ModelConfig) -> int:
        return min(config.encoder.num_kv_heads, config.decoder.num_heads)

    @classmethod
    def text(cls, config: ModelConfig) -> str:
        return "direct_broadcast" if config.encoder.num_kv_heads == 1 < config.decoder.num_heads else "direct"
