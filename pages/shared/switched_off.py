"""Heads that are switched off, as the address spells them, and what they add instead.

    off=cross.2.3.6-encoder.1.kv.2     heads 3 and 6 of cross-attention's layer 2, and K/V head 2 of encoder layer 1
    off_by=mean                        each goes on adding its mean; left out, or `zero`: nothing

A K/V head that several query heads share goes with all of them, so it is another name for these. Layers and heads count
from 1. Nothing here knows Streamlit.
"""

import re
from collections.abc import Iterable

from attention import ModelConfig
from attention.ablation.silence import IN_PLACE, ZERO
from attention.config import ATTENTION_KINDS
from attention.inspection.heads import Head, all_heads, num_kv_heads, readers_of
from attention.messages import Message
from pages.shared.parameters import Choice, notice, shown

OFF_BY = Choice("off_by", ZERO, allowed=IN_PLACE)
KV = "kv"
_PART = re.compile(rf"({'|'.join(ATTENTION_KINDS)})\.([0-9]{{1,3}})(\.{KV})?((?:\.[0-9]{{1,3}})+)")


def parse_off(text: str, config: ModelConfig) -> tuple[tuple[Head, ...], list[Message]]:
    """The heads that `off` names, in the model's order, and a notice for what it does not have and for what is unread.

    Parts may also be joined by "+", a comma or a blank, as people type them.
    """
    there, off, missing, unread = all_heads(config), set(), [], []
    for part in filter(None, re.split(r"[-+,\s]+", text)):
        if (found := _PART.fullmatch(part)) is None:
            unread.append(part)
            continue
        kind, layer, kv, numbers = found.groups()
        for number in numbers[1:].split("."):
            place = kind, int(layer) - 1, int(number) - 1
            named = readers_of(config, *place) if kv else (Head(*place),)
            if named and set(named) <= set(there):
                off |= set(named)
            else:
                missing.append(f"{kind}.{layer}{kv or ''}.{number}")
    return tuple(head for head in there if head in off), _notices(config, missing, unread)


def format_off(heads: Iterable[Head], config: ModelConfig) -> str:
    """What the address says of heads that are off; "" for none. `parse_off` gives the same heads again."""
    off, parts = set(heads), []
    if not off:
        return ""
    for kind in ATTENTION_KINDS:
        of_kind = all_heads(config, [kind])
        shared = num_kv_heads(config, kind)
        for layer in sorted({head.layer for head in of_kind}):
            there = [head for head in of_kind if head.layer == layer]
            groups = [readers_of(config, kind, layer, number) for number in range(shared if shared < len(there) else 0)]
            gone = [number for number, group in enumerate(groups) if off.issuperset(group)]
            rest = off.intersection(there).difference(*(groups[number] for number in gone))
            for name, numbers in ((f".{KV}", gone), ("", sorted(head.number for head in rest))):
                if numbers:
                    parts.append(f"{kind}.{layer + 1}{name}." + ".".join(str(number + 1) for number in numbers))
    return "-".join(parts)


def by_layer(heads: Iterable[Head]) -> dict[tuple[str, int], tuple[int, ...]]:
    """The numbers of heads by their kind and layer, in the model's order."""
    off = set(heads)
    places = sorted({(ATTENTION_KINDS.index(head.kind), head.layer) for head in off})
    return {
        (ATTENTION_KINDS[kind], layer): tuple(
            sorted(head.number for head in off if (head.kind, head.layer) == (ATTENTION_KINDS[kind], layer))
        )
        for kind, layer in places
    }


def _notices(config: ModelConfig, missing: list[str], unread: list[str]) -> list[Message]:
    told, enc, dec = [], config.encoder, config.decoder
    if missing:
        english = (
            "off={text} is not in this model and is left out: its encoder has layers 1 to {enc_layers} with heads 1 to "
            "{enc_heads}, its decoder layers 1 to {dec_layers} with heads 1 to {dec_heads}."
        )
        sizes = {"enc_layers": enc.num_layers, "enc_heads": enc.num_heads}
        sizes |= {"dec_layers": dec.num_layers, "dec_heads": dec.num_heads}
        told.append(notice("no_such_heads", english, text=shown("-".join(missing)), **sizes))
    if unread:
        english = "off={text} is not understood and is left out; it is written like {example}."
        example = "cross.2.3.6-encoder.1.kv.2"
        told.append(notice("unread_heads", english, text=shown("-".join(unread)), example=example))
    return told
