"""Which nearby configurations fit together."""

from collections.abc import Iterator
from dataclasses import replace

from attention.config import ModelConfig, StackConfig
from attention.cross_attention import KV_WAYS, fits
from attention.messages import Message
from attention.shapes.ledger import Suggestion

FARTHEST = 64  # head counts further away than this are no suggestion


def find_suggestions(config: ModelConfig) -> tuple[Suggestion, ...]:
    """Nearby configurations that do fit together, each with a message for a button."""
    found: dict[Message, Suggestion] = {}
    for suggestion in _candidates(config):
        if suggestion.config != config and fits(suggestion.config):
            found.setdefault(suggestion.message, suggestion)
    return tuple(found.values())


def _candidates(config: ModelConfig) -> Iterator[Suggestion]:
    enc, dec = config.encoder, config.decoder
    same_size = replace(dec, head_dim=enc.head_dim)
    stacks = [(enc, same_size)]
    stacks += [(enc, _with_heads(same_size, number)) for number in _nearest_head_counts(config, same_size)]
    stacks.append((replace(_with_heads(enc, dec.num_heads), num_kv_heads=dec.num_heads, head_dim=dec.head_dim), dec))
    for encoder, decoder in stacks:
        yield Suggestion(_what_changes(config, encoder, decoder), replace(config, encoder=encoder, decoder=decoder))
    for way in KV_WAYS.values():
        for code, changes in way.suggestions(config):
            yield Suggestion(_way_message(config, code, changes), replace(config, **changes))


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


def _way_message(config: ModelConfig, code: str, changes: dict[str, object]) -> Message:
    """Another K/V way; the number of heads in a group is there for those that have groups."""
    asking, handed = config.decoder.num_heads, config.encoder.num_kv_heads
    values = {"compared": "more" if asking > handed else "fewer", "group": max(asking, handed) // min(asking, handed)}
    return Message.of(code, ", ".join(f"{name}={value!r}" for name, value in changes.items()), **values)


def _what_changes(config: ModelConfig, encoder: StackConfig, decoder: StackConfig) -> Message:
    """Other heads on one side."""
    side, before, after = "decoder", config.decoder, decoder
    if encoder != config.encoder:
        side, before, after = "encoder", config.encoder, encoder
    kv_only = after.num_heads == before.num_heads and after.num_kv_heads != before.num_kv_heads and side == "encoder"
    other_size = after.head_dim != before.head_dim
    if after.num_heads == before.num_heads and not kv_only:
        english = f"{side} head_dim={after.head_dim}"
        return Message.of("head_size", english, side=side, head_dim=after.head_dim)
    code, counted = ("kv_heads", "num_kv_heads") if kv_only else ("heads", "num_heads")
    english = f"{side} {counted}={after.num_heads}"
    values = {"side": side, "count": after.num_heads}
    if not other_size:
        return Message.of(code, english, **values)
    english += f", head_dim={after.head_dim}"
    return Message.of(f"{code}_of_size", english, **values, head_dim=after.head_dim)
