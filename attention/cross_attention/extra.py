"""Fix 3, extra K/V: the decoder's surplus heads read keys and values of the decoder's own.

The first decoder heads read the encoder's K/V heads, one each. The others read either `slots`, a few learned
positions that are the same for every input (persistent memory, Sukhbaatar et al. 2019, arXiv 1907.01470), or
`states`, the decoder's own hidden states up to the present position (as the merged attention of T5Gemma 2 does). The
decoder's columns stand after those of the source in each map; a head has zeros where it does not read. With equal
head counts there is no surplus head and no further column.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from attention.config import ConfigError, ModelConfig
from attention.cross_attention.base import KeysValues, KeyValuePair, KvWay
from attention.cross_attention.checks import other_head_dim
from attention.functional import split_heads
from attention.layers import Embedding, Linear
from attention.messages import Message


class Extra(KvWay):
    name, heads_clash = "extra", "surplus"

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        enc, dec = config.encoder, config.decoder
        self.surplus = dec.num_heads - enc.num_kv_heads
        self.has_slots = config.kv_variant == "slots"
        if not self.surplus:
            return
        width = self.surplus * dec.head_dim
        if self.has_slots:
            self.slots_k, self.slots_v = (Embedding(config.num_slots, width) for _ in "kv")
        else:
            self.w_k, self.w_v = (Linear(dec.d_model, width, bias=config.bias) for _ in "kv")

    @staticmethod
    def check(config: ModelConfig) -> None:
        enc_heads, dec_heads = config.encoder.num_kv_heads, config.decoder.num_heads
        clashes = other_head_dim(config)
        if dec_heads < enc_heads:
            clashes.insert(0, f"decoder num_heads ({dec_heads}) must be at least the encoder's K/V heads ({enc_heads})")
        if clashes:
            raise ConfigError(" and ".join(clashes) + ', or let the decoder project the memory itself (kv="reproject")')

    @staticmethod
    def own_heads_that_grow(config: ModelConfig) -> int:
        surplus = config.decoder.num_heads - config.encoder.num_kv_heads
        return surplus if config.kv_variant == "states" else 0

    @staticmethod
    def trace(tracer, memory, hidden):
        config = tracer.config
        surplus = config.decoder.num_heads - config.encoder.num_kv_heads

        def with_own(x):
            return _join(tracer, x, _own(tracer, x, hidden, surplus)) if surplus else x

        return tracer.project_memory(memory, config.encoder, then=with_own)

    @classmethod
    def text(cls, config: ModelConfig) -> str:
        is_equal = config.encoder.num_kv_heads == config.decoder.num_heads
        return "extra_equal" if is_equal else super().text(config)

    @staticmethod
    def own_columns(config: ModelConfig, tgt_tokens: tuple[str, ...]) -> tuple[Message, ...]:
        if config.decoder.num_heads <= config.encoder.num_kv_heads:
            return ()
        if config.kv_variant == "slots":
            return tuple(Message.of("slot", f"slot {n}", number=n) for n in range(1, config.num_slots + 1))
        return tuple(Message.of("own", f"own {token}", token=token) for token in tgt_tokens)

    def own_kv(self, hidden: Tensor) -> KeyValuePair | None:
        if not self.surplus:
            return None
        if self.has_slots:
            slots = (x.weight.expand(len(hidden), -1, -1) for x in (self.slots_k, self.slots_v))
            k, v = slots  # (batch, slots, surplus × head_dim)
        else:
            k, v = self.w_k(hidden), self.w_v(hidden)
        return split_heads(k, self.surplus), split_heads(v, self.surplus)

    def join(self, source: KeyValuePair, own: KeyValuePair | None, source_mask, own_mask) -> KeysValues:
        if own is None:
            return KeysValues(*source, source_mask)
        src_len, own_len = source[0].shape[2], own[0].shape[2]
        # Every head gets all columns: zeros, which its mask hides, where it does not read.
        k, v = (
            torch.cat(
                [F.pad(s, (0, 0, 0, own_len)), F.pad(o, (0, 0, src_len, 0))], dim=1
            )  # (batch, heads, kv_len, dim)
            for s, o in zip(source, own, strict=True)
        )
        if self.has_slots:
            own_mask = torch.ones_like(own_mask[..., :1]).expand(-1, -1, -1, own_len)  # anybody may read a slot
        reads_source = torch.arange(k.shape[1], device=k.device)[:, None, None] < source[0].shape[1]  # (heads, 1, 1)
        q_len = own_mask.shape[2]
        mask = torch.cat([source_mask.expand(-1, -1, q_len, -1) & reads_source, own_mask & ~reads_source], dim=-1)
        return KeysValues(k, v, mask)


def _own(tracer, x, hidden, surplus: int):
    """K or V of the decoder's own, for its surplus heads, in the ledger."""
    config, symbol = tracer.config, f"own_{x.symbol}"
    slots, dim = config.num_slots, config.decoder.head_dim
    if surplus > 0 and config.kv_variant == "states":
        own = tracer.project(symbol, hidden, config.decoder.d_model, surplus * dim)
        return tracer.split(own, surplus, dim, "own_heads")
    # There is nothing to be computed, only learned numbers to be taken; what they are to go with is K or V. Where there
    # are too few decoder heads to need any, their number is negative, and they cannot even be made.
    learned = tracer.tensor("slots", own_heads=max(surplus, 0), slots=slots, head_dim=dim)
    return tracer.run(
        "make_own",
        (learned if surplus > 0 else x,),
        lambda t: t[None] if surplus > 0 else torch.zeros(1, surplus, slots, dim),
        (symbol, ("batch", "own_heads", "slots", "head_dim")),
        latex=rf"{x.tex}^{{\text{{own}}}} \in \mathbb{{R}}^{{{surplus} \times {slots} \times {dim}}}",
        needs=("heads", config.decoder.num_heads),
        symbol=symbol,
        asking=config.decoder.num_heads,
        handed=x.tensor.shape[1],
        surplus=surplus,
    )


def _join(tracer, x, own):
    """The encoder's heads and the decoder's own, each with zeros in the columns of the other, in the ledger."""
    src_len, own_len = x.tensor.shape[2], own.tensor.shape[2]
    return tracer.run(
        "join",
        (x, own),
        lambda t, o: torch.cat([F.pad(t, (0, 0, 0, own_len)), F.pad(o, (0, 0, src_len, 0))], dim=1),
        (f"{x.symbol}′", ("batch", "heads", f"{x.dims[2]}+{own.dims[2]}", "head_dim")),
        latex=rf"{x.tex}' = \bigl(\begin{{smallmatrix}} {x.tex} & 0 \\ 0 & {own.tex} \end{{smallmatrix}}\bigr)",
        symbol=x.symbol,
    )
