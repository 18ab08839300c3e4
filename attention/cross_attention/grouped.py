"""Fix 2, grouped attention: each of the encoder's K/V heads serves a group of decoder heads.

Query head i reads K/V head i // group size (Ainslie et al. 2023, arXiv 2305.13245; `enable_gqa=True` in PyTorch).
With fewer decoder heads than K/V heads, `pool` gives each decoder head the mean of a group of K/V heads, as in that
paper's conversion of checkpoints; `drop` lets the first K/V heads be read and leaves the others unused.
"""

from functools import partial

from torch import Tensor

from attention.config import ConfigError, ModelConfig, divisors, listing
from attention.cross_attention.base import KeyValuePair, KvWay, Memory
from attention.cross_attention.checks import other_head_dim


class Grouped(KvWay):
    name, heads_clash = "grouped", "groups"

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
    def trace(tracer, memory, hidden):
        enc_heads, dec_heads = tracer.config.encoder.num_kv_heads, tracer.config.decoder.num_heads
        heads_name = "heads" if enc_heads == dec_heads else "kv_heads"
        # More query heads share, as in any grouped attention.
        meet = tracer.share if enc_heads <= dec_heads else partial(_fewer, tracer)
        return tracer.project_memory(memory, tracer.config.encoder, heads_name, then=partial(meet, num_heads=dec_heads))

    @classmethod
    def text(cls, config: ModelConfig) -> str:
        handed, asking = config.encoder.num_kv_heads, config.decoder.num_heads
        if handed == asking:
            return "grouped_equal"
        return "grouped" if asking > handed else super().text(config)

    @staticmethod
    def variant_matters(config: ModelConfig) -> bool:
        return config.decoder.num_heads < config.encoder.num_kv_heads

    @staticmethod
    def kv_heads_shared(config: ModelConfig) -> int:
        return min(config.encoder.num_kv_heads, config.decoder.num_heads)

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


def _fewer(tracer, x, num_heads: int):
    """(batch, enc_heads, src_len, dim) → (batch, dec_heads, src_len, dim), in the ledger."""
    batch, kv_heads, length, dim = x.tensor.shape
    group = kv_heads // num_heads
    out, needs = (x.symbol, ("batch", "heads", *x.dims[2:])), ("kv_heads", num_heads)
    if tracer.config.kv_variant == "drop":
        return tracer.run(
            "drop",
            (x,),
            lambda t: t.view(batch, group, num_heads, length, dim)[:, 0],
            out,
            latex=rf"{x.tex}_i \leftarrow {x.tex}_i, \quad i < {num_heads}",
            needs=needs,
            symbol=x.symbol,
            code=f"view({batch}, {group}, {num_heads}, {length}, {dim})",
            group=group,
        )
    mean = rf"\tfrac{{1}}{{{group}}} \sum_{{j={group}i}}^{{{group}i+{group - 1}}} {x.tex}_j"
    return tracer.run(
        "pool",
        (x,),
        lambda t: t.view(batch, num_heads, group, length, dim).mean(2),
        out,
        latex=rf"{x.tex}_i \leftarrow {mean}",
        needs=needs,
        symbol=x.symbol,
        code=f"view({batch}, {num_heads}, {group}, {length}, {dim})",
        group=group,
    )


def sharing_name(num_heads: int, num_kv_heads: int) -> str:
    """What it is called, as a code, when so many query heads read so many K/V heads, no more than there are of them.

    "multi-query" is kept for a single K/V head, "grouped-query" for a number in between (Ainslie et al. 2023,
    section 2.2); a single query head with a K/V head of its own is "single-head".
    """
    if num_heads == num_kv_heads:
        return "single-head" if num_heads == 1 else "multi-head"
    return "multi-query" if num_kv_heads == 1 else "grouped-query"
