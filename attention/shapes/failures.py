"""What to say of shapes that do not fit, and of one head that silently meets several."""

from attention.config import ModelConfig
from attention.cross_attention import KV_WAYS
from attention.messages import Message
from attention.shapes.ledger import Clash, NamedShape


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


def broadcast_note(shapes: tuple[NamedShape, ...], step_name: str) -> Message | None:
    """What to say of a product in which one head silently meets several."""
    if step_name != "scores":
        return None
    q_heads, k_heads = (dict(shape.dims)["heads"] for shape in shapes)
    if k_heads == 1 and q_heads > 1:
        return Message.of("one_kv_head", f"one K/V head is repeated for {q_heads} query heads", heads=q_heads)
    if q_heads == 1 and k_heads > 1:
        return Message.of("one_query_head", f"one query head is repeated for {k_heads} K/V heads", heads=k_heads)
    return None


def explain(clashes: tuple[Clash, ...], config: ModelConfig) -> tuple[str, Message]:
    """The kind of a failure (see `LedgerStep.kind`), and what it means, with its numbers."""
    enc, dec = config.encoder, config.decoder
    sizes = {clash.dim: clash.sizes for clash in clashes}
    english = " and ".join(map(str, clashes))
    if "features" in sizes:
        merged, expected = sizes["features"]
        said = Message.of("one_decoder_head", english, kv_heads=enc.num_kv_heads, merged=merged, expected=expected)
        return said.code, said
    asking, handed = dec.num_heads, enc.num_kv_heads
    heads = KV_WAYS[config.kv].heads_clash if {"heads", "kv_heads"} & sizes.keys() else ""
    kind = "both" if heads and "head_dim" in sizes else heads or "head_size"
    values = {
        "asking": asking,
        "handed": handed,
        "missing": handed - asking,
        "compared": "more" if asking > handed else "fewer",
        "sizes": "differ" if "head_dim" in sizes else "equal",
        "query_dim": dec.head_dim,
        "key_dim": enc.head_dim,
    }
    return kind, Message.of(heads or "head_size", english, **values)
