"""Which text says how the decoder's heads get their keys and values, and the numbers in it."""

from attention import ModelConfig
from attention.cross_attention import sharing_name


def way_text(config: ModelConfig) -> tuple[str, dict]:
    """Section of the playground's text that is true for this configuration, and its values."""
    enc, dec = config.encoder, config.decoder
    handed, asking = enc.num_kv_heads, dec.num_heads
    values = {
        "enc_heads": handed,
        "enc_dim": enc.head_dim,
        "heads": asking,
        "dim": dec.head_dim,
        "group": max(handed, asking) // min(handed, asking),
        "name": sharing_name(asking, handed, config.kv_variant),
        "surplus": asking - handed,
        "unused": handed - asking,
        "num_slots": config.num_slots,
    }
    return _section(config.kv, config.kv_variant, handed, asking), values


def _section(kv: str, variant: str | None, handed: int, asking: int) -> str:
    if kv == "direct":
        return "direct_broadcast" if handed == 1 < asking else "direct"
    if kv in ("grouped", "extra") and handed == asking:
        return f"{kv}_equal"
    if kv == "grouped":
        return "grouped" if asking > handed else f"grouped_{variant}"
    return f"{kv}_{variant}" if variant else kv
