"""Fix 2, grouped attention: each of the encoder's K/V heads serves a group of decoder heads.

Query head i reads K/V head i // group size (Ainslie et al. 2023, arXiv 2305.13245; `enable_gqa=True` in PyTorch).
With fewer decoder heads than K/V heads, `pool` gives each decoder head the mean of a group of K/V heads, as in that
paper's conversion of checkpoints; `drop` lets the first K/V heads be read and leaves the others unused.
"""

from torch import Tensor

from attention.config import ConfigError, ModelConfig, divisors, listing
from attention.cross_attention.base import KeyValuePair, KvFeed, Memory
from attention.cross_attention.checks import other_head_dim


class Grouped(KvFeed):
    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.num_heads = config.decoder.num_heads
        self.drops = config.kv_variant == "drop"

    @staticmethod
    def check(config: ModelConfig) -> None:
        enc_heads, dec_heads = config.encoder.num_kv_heads, config.decoder.num_heads
        clashes = other_head_dim(config)
        if dec_heads % enc_heads and enc_heads % dec_heads:
            allowed = sorted({*divisors(enc_heads), *(enc_heads * times for times in (2, 3, 4))})
            clashes.insert(
                0,
                f"decoder num_heads ({dec_heads}) must be a multiple of the encoder's K/V heads ({enc_heads}), or "
                f"divide it; allowed: {listing(allowed)} and further multiples of {enc_heads}",
            )
        if clashes:
            raise ConfigError(", and ".join(clashes))

    @staticmethod
    def heads_made_per_layer(config: ModelConfig) -> int:
        pools = config.kv_variant == "pool" and config.decoder.num_heads < config.encoder.num_kv_heads
        return config.decoder.num_heads if pools else 0

    def source_kv(self, memory: Memory) -> KeyValuePair:
        # Where there are more query heads than K/V heads, `functional.attend` lets each group share.
        return self._fewer(memory.k), self._fewer(memory.v)

    def _fewer(self, x: Tensor) -> Tensor:
        """(batch, enc_heads, src_len, dim), with at most as many heads as the decoder has."""
        surplus = x.shape[1] // self.num_heads
        if surplus <= 1:
            return x
        if self.drops:
            return x[:, : self.num_heads]
        return x.unflatten(1, (self.num_heads, surplus)).mean(2)


def sharing_name(num_heads: int, num_kv_heads: int, kv_variant: str | None = None) -> str:
    """What it is called when so many query heads read so many K/V heads.

    "multi-query" is kept for a single K/V head, "grouped-query" for a number in between (Ainslie et al. 2023,
    section 2.2); a single query head with a K/V head of its own is "single-head".
    """
    if num_heads == num_kv_heads:
        return "single-head" if num_heads == 1 else "multi-head"
    if num_heads < num_kv_heads:
        return "dropped" if kv_variant == "drop" else "pooled"
    return "multi-query" if num_kv_heads == 1 else "grouped-query"
