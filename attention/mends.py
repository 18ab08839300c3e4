"""What to say of shapes that do not fit, and which nearby configurations do."""

from collections.abc import Iterator
from dataclasses import replace

from attention.config import KV_VARIANTS, ModelConfig, StackConfig
from attention.cross_attention import fits
from attention.ledger import Clash, Mend, NamedShape

FARTHEST = 64  # head counts further away than this are no mend


def find_clashes(shapes: tuple[NamedShape, ...]) -> tuple[Clash, ...]:
    """Every pair of sizes of one name that differ between two inputs, without those that PyTorch broadcasts.

    Only `heads` may be broadcast: it is the one leading dimension of a matrix product that the steps let differ.
    """
    if len(shapes) != 2:
        return ()
    left, right = shapes
    places = {name: axis for axis, (name, _) in enumerate(right.dims)}
    clashes = []
    for axis, (name, size) in enumerate(left.dims):
        if name not in places:
            continue
        other = right.sizes[places[name]]
        broadcasts = name == "heads" and 1 in (size, other)
        if size != other and not broadcasts:
            clashes.append(Clash(name, (size, other), (axis, places[name])))
    return tuple(clashes)


def broadcast_note(shapes: tuple[NamedShape, ...], step_name: str) -> str:
    """What to say of a product in which one head silently meets several."""
    if step_name != "scores":
        return ""
    (q_heads, k_heads) = (dict(shape.dims)["heads"] for shape in shapes)
    if k_heads == 1 and q_heads > 1:
        return f"One K/V head meets {q_heads} query heads: PyTorch repeats it for all of them without a word."
    if q_heads == 1 and k_heads > 1:
        return (
            f"One query head meets {k_heads} K/V heads: PyTorch repeats the query and makes {k_heads} maps "
            f"without a word. W_O was built for one head and will refuse what comes of it."
        )
    return ""


def explain(clashes: tuple[Clash, ...], config: ModelConfig) -> tuple[str, str]:
    """The kind of a failure (see `Step.kind`), and the failure in one or two plain sentences with its numbers."""
    enc, dec = config.encoder, config.decoder
    said = {clash.dim: clash.sizes for clash in clashes}
    if "heads × head size" in said:
        merged, expected = said["heads × head size"]
        return "one_decoder_head", (
            f"The decoder's one head met {enc.num_kv_heads} K/V heads and became {enc.num_kv_heads} heads, so W_O is "
            f"given {merged} features where it was built for {expected}."
        )
    kinds, parts = [], []
    if {"heads", "K/V heads"} & said.keys():
        kinds.append({"grouped": "groups", "extra": "surplus"}.get(config.kv, "heads"))
        parts.append(_explain_heads(config))
    if "head size" in said:
        kinds.append("head_size")
        parts.append(
            f"a query has {dec.head_dim} numbers and a key of the encoder {enc.head_dim}, and a dot product needs as "
            f"many of each"
        )
    sentence = "; and ".join(parts)
    return "both" if len(kinds) == 2 else kinds[0], f"{sentence[:1].upper()}{sentence[1:]}."


def _explain_heads(config: ModelConfig) -> str:
    handed, asking = config.encoder.num_kv_heads, config.decoder.num_heads
    if config.kv == "grouped" and asking > handed:
        return f"{asking} decoder heads cannot be shared out evenly among {handed} K/V heads of the encoder"
    if config.kv == "grouped":
        return (
            f"the encoder's {handed} K/V heads cannot be put into {asking} groups of equal size, one for each decoder "
            f"head"
        )
    if config.kv == "extra":
        return (
            f"the encoder hands over {handed} K/V heads and the decoder has only {asking}, so there is no surplus head "
            f"to be given K/V of its own, but {handed - asking} too few"
        )
    return f"the decoder asks with {asking} heads, but the encoder's keys have {handed}"


def find_mends(config: ModelConfig) -> tuple[Mend, ...]:
    """Nearby configurations that do fit together, each with a label for a button."""
    mends: dict[str, Mend] = {}
    for mend in _candidates(config):
        if mend.config != config and fits(mend.config):
            mends.setdefault(mend.label, mend)
    return tuple(mends.values())


def _candidates(config: ModelConfig) -> Iterator[Mend]:
    enc, dec = config.encoder, config.decoder
    same_size = replace(dec, head_dim=enc.head_dim)
    stacks = [(enc, same_size)]
    stacks += [(enc, _with_heads(same_size, number)) for number in _nearest_head_counts(config, same_size)]
    stacks.append((replace(_with_heads(enc, dec.num_heads), num_kv_heads=dec.num_heads, head_dim=dec.head_dim), dec))
    for encoder, decoder in stacks:
        yield Mend(_stack_label(config, encoder, decoder), replace(config, encoder=encoder, decoder=decoder))
    for kv in ("reproject", "projection", "grouped", "extra"):
        for variant in KV_VARIANTS[kv][:1] or (None,):
            if kv != config.kv or variant != config.kv_variant:
                yield Mend(_way_label(config, kv), replace(config, kv=kv, kv_variant=variant))


def _nearest_head_counts(config: ModelConfig, decoder: StackConfig) -> list[int]:
    """The numbers of decoder heads that fit, closest below and above the present one."""

    def works(number: int) -> bool:
        return fits(replace(config, decoder=_with_heads(decoder, number)))

    below = next(filter(works, range(decoder.num_heads - 1, 0, -1)), None)
    above = next(filter(works, range(decoder.num_heads + 1, decoder.num_heads + FARTHEST)), None)
    return [number for number in (below, above) if number is not None]


def _with_heads(stack: StackConfig, number: int) -> StackConfig:
    """The stack with another head count; K/V heads that were as many stay as many, others stay if they divide it."""
    keeps = stack.num_kv_heads < stack.num_heads and number % stack.num_kv_heads == 0
    return replace(stack, num_heads=number, num_kv_heads=stack.num_kv_heads if keeps else number)


def _way_label(config: ModelConfig, kv: str) -> str:
    """Another way of feeding the heads, in the words of a button."""
    handed, asking = config.encoder.num_kv_heads, config.decoder.num_heads
    if kv == "grouped" and asking > handed:
        return f"let groups of {asking // handed} decoder heads share a K/V head"
    return {
        "reproject": "let the decoder project the memory itself",
        "projection": "map K and V with a learned projection",
        "grouped": f"pool the K/V heads in groups of {handed // asking}",
        "extra": "give the surplus heads K/V of the decoder's own",
    }[kv]


def _stack_label(config: ModelConfig, encoder: StackConfig, decoder: StackConfig) -> str:
    """What changes, in the words of a button."""
    side, before, after = "decoder", config.decoder, decoder
    if encoder != config.encoder:
        side, before, after = "encoder", config.encoder, encoder
    counted = "heads"
    if after.num_heads == before.num_heads and after.num_kv_heads != before.num_kv_heads and side == "encoder":
        counted = "K/V heads"
    elif after.num_heads == before.num_heads:
        return f"use {side} head size {after.head_dim}"
    label = f"use {after.num_heads} {side} {counted}" if after.num_heads > 1 else f"use 1 {side} head"
    return label if after.head_dim == before.head_dim else f"{label} of size {after.head_dim}"
