"""A script of plain PyTorch that gives the same answer and the same map as a model here, from nothing but its weights.

It is put together from the parts in `parts/`, which are written to be read: only what this model needs is in it. It
imports PyTorch and the standard library, reads the safetensors file by itself, and checks nothing: a configuration that
does not run stops where PyTorch stops, as in the shape ledger.
"""

import json
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import wrap

from attention.ablation.silence import Means
from attention.config import ModelConfig
from attention.cross_attention import KV_WAYS, fits
from attention.inspection.heads import Head
from attention.tasks import Task, Tokens

_PARTS = Path(__file__).parent / "parts"

# What a model needs for its keys and values, by the name that its K/V way goes by (`KvWay.text`).
_KEYS_AND_VALUES = {
    "reproject": ("reproject",),
    "direct": ("handed_over", "direct"),
    "direct_broadcast": ("handed_over", "direct"),
    "projection_full": ("handed_over", "projection_full"),
    "projection_mix": ("handed_over", "projection_mix"),
    "grouped": ("handed_over", "grouped"),
    "grouped_equal": ("handed_over", "direct"),
    "grouped_pool": ("handed_over", "grouped_pool"),
    "grouped_drop": ("handed_over", "grouped_drop"),
    "extra_equal": ("handed_over", "direct"),
    "extra_slots": ("handed_over", "join", "extra_slots"),
    "extra_states": ("handed_over", "join", "extra_states"),
}

PLACES = {
    "encoder": "encoder.layers.{}.attention",
    "decoder": "decoder.layers.{}.attention",
    "cross": "decoder.layers.{}.cross",
}


@dataclass(frozen=True)
class Script:
    """The script, and the part of it that is about attention."""

    text: str
    attention: str


def torch_script(
    config: ModelConfig,
    task: Task,
    source: Tokens,
    shown: Head,
    file: str,
    *,
    about: str = "",
    given: Tokens = (),
    without: Collection[Head] = (),
    means: Means | None = None,
) -> Script:
    """A script that answers `source` and prints the map of the head `shown`.

    Args:
        file: name of the safetensors file with the weights (`training.stored.packed`), beside the script.
        about: a line on the weights.
        given: target tokens that the decoder is given where the configuration does not run, and generates none.
        without: heads that are taken away: their slices of W_O are zero, and with `means` their mean is added instead.
    """
    attention = "\n\n".join(map(_part, ("attention", *_keys_and_values(config))))
    parts = [
        _head(config, task, about),
        _part("imports"),
        _constants(config, task, source, shown, file, given),
        attention,
        *map(_part, ("model", "read")),
        *_removal(config, without, means),
        *map(_part, ("print_map", "runs" if fits(config) else "stops")),
    ]
    return Script("\n\n".join(parts) + "\n", attention)


def _keys_and_values(config: ModelConfig) -> tuple[str, ...]:
    if config.kv == "extra" and config.decoder.num_heads < config.encoder.num_kv_heads:
        return "handed_over", "join", "extra_too_few"
    return _KEYS_AND_VALUES[KV_WAYS[config.kv].text(config)]


@cache
def _part(name: str) -> str:
    """One blank line between functions, so that the script is as short as it is plain."""
    return (_PARTS / f"{name}.py").read_text(encoding="utf-8").strip().replace("\n\n\n", "\n\n")


def _head(config: ModelConfig, task: Task, about: str) -> str:
    enc, dec = config.encoder, config.decoder
    way = f"kv={config.kv}" + (f", kv_variant={config.kv_variant}" if config.kv_variant else "")
    said = (
        f"An encoder-decoder Transformer in plain PyTorch: {enc.num_heads} encoder heads of size {enc.head_dim}, "
        f"{dec.num_heads} decoder heads of size {dec.head_dim}, {way}.",
        f"Task: {task.name}. {about}",
        "It needs PyTorch and the file with the weights, beside it or named as its argument; nothing else.",
    )
    return "\n".join(line for text in said for line in wrap(text, 110, initial_indent="# ", subsequent_indent="#   "))


def _constants(config: ModelConfig, task: Task, source: Tokens, shown: Head, file: str, given: Tokens) -> str:
    lines = [
        f"FILE = {_literal(file)}",
        f"SOURCE = {_tokens(source)}",
        f"KIND, LAYER, HEAD = {_literal(shown.kind)}, {shown.layer + 1}, {shown.number + 1}  # of the map, from 1",
        f"ENC_LAYERS, ENC_HEADS, ENC_KV_HEADS, ENC_DIM = {_sizes(config.encoder)}",
        f"DEC_LAYERS, DEC_HEADS, DEC_KV_HEADS, DEC_DIM = {_sizes(config.decoder)}",
    ]
    if fits(config):
        lines.append(f"LIMIT, JOINT = {task.max_tgt_len(len(source))}, {_literal(task.target_joint)}  # of an answer")
    else:
        lines.append(f"GIVEN = {_literal(list(given))}  # to the decoder, which generates nothing")
    if config.kv == "extra":
        lines.append(f"SLOTS = {config.num_slots}")
    lines += ["PAD, START, END = 0, 1, 2  # the first tokens of each vocabulary", "W, MAPS = {}, {}  # by name"]
    return "\n".join(lines)


def _sizes(stack) -> str:
    return f"{stack.num_layers}, {stack.num_heads}, {stack.num_kv_heads}, {stack.head_dim}"


def _tokens(tokens: Tokens) -> str:
    text = "".join(tokens)
    return f"list({_literal(text)})" if tuple(text) == tuple(tokens) else _literal(list(tokens))


def _literal(value: str | list[str]) -> str:
    """Text as Python and JSON both write it."""
    return json.dumps(value, ensure_ascii=False)


def _removal(config: ModelConfig, without: Collection[Head], means: Means | None) -> tuple[str, ...]:
    """Lines that take heads away, and those that let their mean take their place."""
    away: dict[str, list[int]] = {}
    instead: dict[str, list[float]] = {}
    for kind, layer in sorted({(head.kind, head.layer) for head in without}):
        gone = sorted(head.number for head in without if (head.kind, head.layer) == (kind, layer))
        place = PLACES[kind].format(layer)
        away[place] = gone
        if means is not None:
            instead[place] = [float(f"{number:.7g}") for number in means[kind, layer][gone].sum(0).tolist()]
    if not away:
        return ()
    lines = ["# Heads that are taken away, from 0: their slices of W_O are zero.", f"AWAY = {json.dumps(away)}"]
    lines.append(_part("away"))
    if instead:
        lines += [
            "# The mean of what they added takes their place.",
            f"INSTEAD = {json.dumps(instead)}",
            _part("instead"),
        ]
    return ("\n".join(lines),)
