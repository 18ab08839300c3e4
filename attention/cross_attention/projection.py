"""Fix 1, linear projection: learned maps turn the encoder's K/V heads into as many as the decoder asks with.

`full` maps all numbers of all heads at once, so head counts and head sizes may differ in any way. `mix` makes each
decoder head a learned mixture of the encoder's heads, all features of a head alike, akin to talking-heads attention
(Shazeer et al. 2020, arXiv 2003.02436), which mixes scores and weights; head sizes then have to agree. Each decoder
layer has maps of its own.
"""

import torch
from torch import Tensor

from attention.config import ConfigError, ModelConfig
from attention.cross_attention.base import KeyValuePair, KvWay, Memory
from attention.cross_attention.checks import other_head_dim
from attention.functional import merge_heads, split_heads
from attention.layers import Linear


class Projection(KvWay):
    name = "projection"

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        enc, dec = config.encoder, config.decoder
        self.num_heads = dec.num_heads
        self.mixes = config.kv_variant == "mix"
        # A bias on a mixture would add one number to all features of a head; talking heads have none.
        sizes = (
            {"in_features": enc.num_kv_heads, "out_features": dec.num_heads, "bias": False}
            if self.mixes
            else {"in_features": enc.kv_width, "out_features": dec.total_width, "bias": config.bias}
        )
        self.map_k, self.map_v = Linear(**sizes), Linear(**sizes)

    @staticmethod
    def check(config: ModelConfig) -> None:
        if config.kv_variant == "mix" and (clashes := other_head_dim(config)):
            raise ConfigError(f'{clashes[0]} to mix heads, or map their sizes too (kv_variant="full")')

    @staticmethod
    def trace(tracer, memory, hidden):
        enc, dec = tracer.config.encoder, tracer.config.decoder

        def adapt(x):
            if tracer.config.kv_variant == "mix":
                return _mix(tracer, x, dec.num_heads)
            made = tracer.project(f"{x.symbol}′", tracer.merge(x, "merge_kv"), enc.kv_width, dec.total_width)
            return tracer.split(made, dec.num_heads, dec.head_dim)

        return tracer.project_memory(memory, enc, "kv_heads", then=adapt)

    @staticmethod
    def heads_made_per_layer(config: ModelConfig) -> int:
        return config.decoder.num_heads

    def source_kv(self, memory: Memory) -> KeyValuePair:
        return self._adapt(memory.k, self.map_k), self._adapt(memory.v, self.map_v)

    def _adapt(self, x: Tensor, linear: Linear) -> Tensor:
        """(batch, enc_heads, src_len, enc_dim) → (batch, dec_heads, src_len, dec_dim)."""
        if self.mixes:
            return linear(x.movedim(1, -1)).movedim(-1, 1)
        return split_heads(linear(merge_heads(x)), self.num_heads)


def _mix(tracer, x, num_heads: int):
    """(batch, enc_heads, src_len, dim) → (batch, dec_heads, src_len, dim), in the ledger."""
    symbol = f"{x.symbol}′"
    weight = tracer.tensor(f"W_{symbol}", heads=num_heads, kv_heads=x.tensor.shape[1])
    return tracer.run(
        "mix_heads",
        (x, weight),
        lambda t, w: torch.einsum("bhsd,oh->bosd", t, w),
        (symbol, ("batch", "heads", *x.dims[2:])),
        latex=rf"{x.tex}'_i = \sum_j w_{{ij}}\,{x.tex}_j",
        symbol=x.symbol,
    )
