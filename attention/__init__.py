"""Attention in encoder-decoder Transformers, small enough to look at: every head, every layer, every shape.

>>> from attention import StackConfig, ModelConfig, EncoderDecoder
>>> encoder = StackConfig(d_model=64, num_heads=4)
>>> decoder = StackConfig(d_model=64, num_heads=8)
>>> model = EncoderDecoder(ModelConfig(encoder=encoder, decoder=decoder, src_vocab_size=30, tgt_vocab_size=43))
>>> out = model(src_ids, tgt_ids)
>>> out.maps.cross[-1].shape  # (batch, heads, q_len, kv_len)
"""

from attention.config import ConfigError, ModelConfig, StackConfig
from attention.decoding import greedy_decode
from attention.model import EncoderDecoder
from attention.shapes import trace_shapes


def __getattr__(name: str):
    """`show` brings the colours and the tasks along, so it is imported when it is asked for."""
    if name != "show":
        raise AttributeError(f"module 'attention' has no attribute {name!r}")
    from attention.notebook.show import show

    return show


__all__ = ["ConfigError", "EncoderDecoder", "ModelConfig", "StackConfig", "greedy_decode", "trace_shapes"]
