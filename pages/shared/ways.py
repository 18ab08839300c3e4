"""Which text says how the decoder's heads get their keys and values, and the numbers in it."""

from attention import ModelConfig, StackConfig
from attention.cross_attention import KV_WAYS, sharing_name
from attention.messages import Message
from pages.shared.texts import counted, label, say


def way_text(config: ModelConfig) -> tuple[str, dict]:
    """Section of the playground's text that is true for this configuration, and its values."""
    enc, dec = config.encoder, config.decoder
    handed, asking = enc.num_kv_heads, dec.num_heads
    section = KV_WAYS[config.kv].text(config)
    values = {
        "handed": counted(handed, "head"),
        "enc_dim": enc.head_dim,
        "heads": asking,
        "asking": counted(asking, "head"),
        "dim": dec.head_dim,
        "each": label("way", "each", count=asking),
        "group": max(handed, asking) // min(handed, asking),
        "num_slots": config.num_slots,
    }
    if section == "grouped":
        values["name"] = label("way", sharing_name(asking, handed))
    if section == "grouped_drop":
        values["dropped"] = label("way", "dropped", heads=asking, unused=handed - asking)
    if config.kv == "extra" and asking > handed:
        values["own"] = label("way", "own", count=handed)
        values["surplus"] = label("way", "surplus", count=asking - handed)
    return section, values


def model_name(config: ModelConfig, with_way: bool) -> str:
    """A model by its heads × head size on both sides, and by its K/V way."""
    sizes = {"enc": heads_name(config.encoder), "dec": heads_name(config.decoder)}
    return label("model", "name_and_way" if with_way else "name", kv=label("kv", config.kv), **sizes)


def heads_name(stack: StackConfig) -> str:
    """Heads × head size."""
    return label("model", "heads", heads=stack.num_heads, dim=stack.head_dim)


def column_labels(columns: tuple[str | Message, ...]) -> tuple[str, ...]:
    """What the columns of a map are called: tokens as they are, and words for those that are the decoder's own."""
    return tuple(say("own_column", column) if isinstance(column, Message) else column for column in columns)
