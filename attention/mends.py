"""What to say of shapes that do not fit, and which nearby configurations do."""

from dataclasses import replace

from attention.config import ModelConfig, StackConfig
from attention.cross_attention import fits
from attention.ledger import Clash, Mend, NamedShape


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


def explain(clashes: tuple[Clash, ...], config: ModelConfig) -> str:
    """A failure in one or two plain sentences with the numbers in them."""
    enc, dec = config.encoder, config.decoder
    said = {clash.dim: clash.sizes for clash in clashes}
    if "heads × head size" in said:
        merged, expected = said["heads × head size"]
        return (
            f"The decoder's one head met {enc.num_kv_heads} K/V heads and became {enc.num_kv_heads} heads, so W_O is "
            f"given {merged} features where it was built for {expected}."
        )
    parts = []
    if "heads" in said:
        parts.append(f"the decoder asks with {dec.num_heads} heads, but the encoder's keys have {enc.num_kv_heads}")
    if "head size" in said:
        parts.append(
            f"a query has {dec.head_dim} numbers and a key {enc.head_dim}, and a dot product needs as many of each"
        )
    sentence = "; and ".join(parts)
    return f"{sentence[:1].upper()}{sentence[1:]}."


def find_mends(config: ModelConfig) -> tuple[Mend, ...]:
    """Nearby configurations that do fit together, each with a label for a button."""
    enc, dec = config.encoder, config.decoder
    own_kv_heads = dec.num_kv_heads if enc.num_kv_heads % dec.num_kv_heads == 0 else enc.num_kv_heads
    stacks = {
        "same size": (enc, replace(dec, head_dim=enc.head_dim)),
        "decoder as encoder": (
            enc,
            replace(dec, num_heads=enc.num_kv_heads, num_kv_heads=own_kv_heads, head_dim=enc.head_dim),
        ),
        "encoder as decoder": (
            replace(enc, num_heads=dec.num_heads, num_kv_heads=dec.num_heads, head_dim=dec.head_dim),
            dec,
        ),
    }
    candidates = [
        Mend(_mend_label(config, encoder, decoder), replace(config, encoder=encoder, decoder=decoder))
        for encoder, decoder in stacks.values()
    ]
    candidates.append(
        Mend("let the decoder project the memory itself", replace(config, kv="reproject", kv_variant=None))
    )
    mends: dict[str, Mend] = {}
    for mend in candidates:
        if mend.config != config and fits(mend.config):
            mends.setdefault(mend.label, mend)
    return tuple(mends.values())


def _mend_label(config: ModelConfig, encoder: StackConfig, decoder: StackConfig) -> str:
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
