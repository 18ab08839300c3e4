"""The steps by which each way gets the decoder's keys and values, for the shape ledger.

Each function takes the ledger, the encoder's memory and the decoder's hidden states, and gives K and V as the scores
meet them. They repeat `cross_attention/` in plain PyTorch on purpose: a ledger has to be able to fail.
"""

import torch
import torch.nn.functional as F

from attention.config import StackConfig
from attention.ledger import Named
from attention.plain_steps import PlainSteps, tex

PART = "cross-attention"


def project_memory(ledger: PlainSteps, memory: Named, owner: StackConfig, heads_name: str) -> tuple[Named, Named]:
    """K and V of the memory, in the heads of whoever owns W_K and W_V."""
    enc, dec = ledger.config.encoder, ledger.config.decoder
    expects = ledger.faulty("w_k_expects_decoder_width", dec.d_model, enc.d_model)
    k, v = (ledger.project(PART, letter, memory, expects, owner.kv_width) for letter in "KV")
    k, v = (ledger.split(PART, x, owner.num_kv_heads, owner.head_dim, heads_name) for x in (k, v))
    return k, v


def reproject(ledger: PlainSteps, memory: Named, hidden: Named) -> tuple[Named, Named]:
    dec = ledger.config.decoder
    return project_memory(ledger, memory, dec, "heads" if dec.num_kv_heads == dec.num_heads else "K/V heads")


def direct(ledger: PlainSteps, memory: Named, hidden: Named) -> tuple[Named, Named]:
    return project_memory(ledger, memory, ledger.config.encoder, "heads")


def projection(ledger: PlainSteps, memory: Named, hidden: Named) -> tuple[Named, Named]:
    enc, dec = ledger.config.encoder, ledger.config.decoder
    handed = project_memory(ledger, memory, enc, "K/V heads")
    if ledger.config.kv_variant == "mix":
        k, v = (_mix(ledger, x, dec.num_heads) for x in handed)
        return k, v
    k, v = (ledger.merge(PART, f"merge {x.symbol} heads", x) for x in handed)
    k, v = (ledger.project(PART, f"{x.symbol}′", x, enc.kv_width, dec.total_width) for x in (k, v))
    k, v = (ledger.split(PART, x, dec.num_heads, dec.head_dim) for x in (k, v))
    return k, v


def _mix(ledger: PlainSteps, x: Named, num_heads: int) -> Named:
    symbol = f"{x.symbol}′"
    weight = Named(f"W_{symbol}", ("heads", "K/V heads"), torch.zeros(num_heads, x.tensor.shape[1]))
    return ledger.run(
        PART,
        f"mix {x.symbol} heads",
        f"{symbol} = Σ over K/V heads of W_{symbol} · {x.symbol}",
        (x, weight),
        lambda t, w: torch.einsum("bhsd,oh->bosd", t, w),
        (symbol, ("batch", "heads", *x.dims[2:])),
        latex=rf"{tex(symbol)}_i = \sum_j w_{{ij}}\,{tex(x.symbol)}_j",
    )


def grouped(ledger: PlainSteps, memory: Named, hidden: Named) -> tuple[Named, Named]:
    enc_heads, dec_heads = ledger.config.encoder.num_kv_heads, ledger.config.decoder.num_heads
    k, v = project_memory(ledger, memory, ledger.config.encoder, "heads" if enc_heads == dec_heads else "K/V heads")
    if enc_heads <= dec_heads:
        return k, v  # more query heads share, as in any grouped attention
    k, v = (_fewer(ledger, x, dec_heads) for x in (k, v))
    return k, v


def _fewer(ledger: PlainSteps, x: Named, num_heads: int) -> Named:
    batch, kv_heads, length, dim = x.tensor.shape
    group = kv_heads // num_heads
    if ledger.config.kv_variant == "drop":
        name, formula = "drop", f"view({batch}, {group}, {num_heads}, {length}, {dim}), keep the first of {group}"
        compute = lambda t: t.view(batch, group, num_heads, length, dim)[:, 0]  # noqa: E731
        latex = rf"{tex(x.symbol)}_i \leftarrow {tex(x.symbol)}_i, \quad i < {num_heads}"
    else:
        name, formula = "pool", f"view({batch}, {num_heads}, {group}, {length}, {dim}), mean of each {group}"
        compute = lambda t: t.view(batch, num_heads, group, length, dim).mean(2)  # noqa: E731
        latex = (
            rf"{tex(x.symbol)}_i \leftarrow \tfrac{{1}}{{{group}}} "
            rf"\sum_{{j={group}i}}^{{{group}i+{group - 1}}} {tex(x.symbol)}_j"
        )
    out = (x.symbol, ("batch", "heads", *x.dims[2:]))
    needs = ("K/V heads", num_heads)
    return ledger.run(PART, f"{name} {x.symbol} heads", formula, (x,), compute, out, latex=latex, needs=needs)


def extra(ledger: PlainSteps, memory: Named, hidden: Named) -> tuple[Named, Named]:
    config = ledger.config
    surplus = config.decoder.num_heads - config.encoder.num_kv_heads
    k, v = project_memory(ledger, memory, config.encoder, "heads")
    if surplus == 0:
        return k, v
    k, v = (_join(ledger, x, _own(ledger, x, hidden, surplus)) for x in (k, v))
    return k, v


def _own(ledger: PlainSteps, x: Named, hidden: Named, surplus: int) -> Named:
    """K or V of the decoder's own, for its surplus heads."""
    config, symbol = ledger.config, f"own {x.symbol}"
    dim = config.decoder.head_dim
    if surplus > 0 and config.kv_variant == "states":
        own = ledger.project(PART, symbol, hidden, config.decoder.d_model, surplus * dim)
        return ledger.split(PART, own, surplus, dim, "own heads")
    # There is nothing to be computed, only learned numbers to be taken; what they are to go with is K or V. Where there
    # are too few decoder heads to need any, their number is negative, and they cannot even be made.
    slots = Named("slots", ("own heads", "slots", "head size"), torch.zeros(max(surplus, 0), config.num_slots, dim))
    return ledger.run(
        PART,
        f"make {symbol}",
        f"{config.decoder.num_heads} − {x.tensor.shape[1]} = {surplus} heads of learned slots".replace("-", "−"),
        (slots if surplus > 0 else x,),
        lambda t: t[None] if surplus > 0 else torch.zeros(1, surplus, config.num_slots, dim),
        (symbol, ("batch", "own heads", "slots", "head size")),
        latex=rf"{tex(symbol)} \in \mathbb{{R}}^{{{surplus} \times {config.num_slots} \times {dim}}}",
        needs=("heads", config.decoder.num_heads),
    )


def _join(ledger: PlainSteps, x: Named, own: Named) -> Named:
    """The encoder's heads and the decoder's own, each with zeros in the columns of the other."""
    src_len, own_len = x.tensor.shape[2], own.tensor.shape[2]
    return ledger.run(
        PART,
        f"join {x.symbol} heads",
        f"{x.symbol}′ = {x.symbol} heads first, own heads after them, each in columns of its own",
        (x, own),
        lambda t, o: torch.cat([F.pad(t, (0, 0, 0, own_len)), F.pad(o, (0, 0, src_len, 0))], dim=1),
        (f"{x.symbol}′", ("batch", "heads", f"{x.dims[2]} + {own.dims[2]}", "head size")),
        latex=(rf"{tex(x.symbol)}' = \begin{{pmatrix}} {tex(x.symbol)} & 0 \\ 0 & {tex(own.symbol)} \end{{pmatrix}}"),
    )


FEED_STEPS = {
    "reproject": reproject,
    "direct": direct,
    "projection": projection,
    "grouped": grouped,
    "extra": extra,
}
