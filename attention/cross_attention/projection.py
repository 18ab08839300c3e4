"""Fix 1, linear projection: learned maps turn the encoder's K/V heads into as many as the decoder asks with.

`full` maps all numbers of all heads at once, so head counts and head sizes may differ in any way. `mix` makes each
decoder head a learned mixture of the encoder's heads, all features of a head alike, as talking-heads attention does
(Shazeer et al. 2020, arXiv 2003.02436); head sizes then have to agree. Each decoder layer has maps of its own.
"""

from torch import Tensor

from attention.config import ConfigError, ModelConfig
from attention.cross_attention.base import KeyValuePair, KvFeed, Memory
from attention.cross_attention.checks import other_head_dim
from attention.functional import merge_heads, split_heads
from attention.layers import Linear


class Projection(KvFeed):
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
    def heads_made_per_layer(config: ModelConfig) -> int:
        return config.decoder.num_heads

    def source_kv(self, memory: Memory) -> KeyValuePair:
        return self._adapt(memory.k, self.map_k), self._adapt(memory.v, self.map_v)

    def _adapt(self, x: Tensor, linear: Linear) -> Tensor:
        """(batch, enc_heads, src_len, enc_dim) → (batch, dec_heads, src_len, dec_dim)."""
        if self.mixes:
            return linear(x.movedim(1, -1)).movedim(-1, 1)
        return split_heads(linear(merge_heads(x)), self.num_heads)
