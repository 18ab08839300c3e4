"""How decoder heads get their keys and values: one small file per way.

To add a way: a subclass of `KvFeed` in a file of its own, its line in `KV_FEEDS` below, its name (with its variants)
in `attention.config.KV_VARIANTS`, and its plain-PyTorch steps in `attention.trace`.
"""

import torch

from attention.config import ConfigError, ModelConfig
from attention.cross_attention.base import KeysValues, KvFeed, Memory
from attention.cross_attention.direct import Direct
from attention.cross_attention.extra import Extra
from attention.cross_attention.grouped import Grouped, sharing_name
from attention.cross_attention.projection import Projection
from attention.cross_attention.reproject import Reproject

KV_FEEDS: dict[str, type[KvFeed]] = {
    "reproject": Reproject,
    "direct": Direct,
    "projection": Projection,
    "grouped": Grouped,
    "extra": Extra,
}


def check_fit(config: ModelConfig) -> None:
    """Raise `ConfigError`, with both numbers, when encoder and decoder do not fit together."""
    KV_FEEDS[config.kv].check(config)


def fits(config: ModelConfig) -> bool:
    """Whether encoder and decoder work together."""
    try:
        check_fit(config)
    except ConfigError:
        return False
    return True


def num_feed_weights(config: ModelConfig) -> int:
    """How many numbers all decoder layers together learn to get their keys and values, without making them.

    The encoder's one W_K and one W_V, where it hands over heads, are not among them.
    """
    with torch.device("meta"):
        feed = KV_FEEDS[config.kv](config)
    return config.decoder.num_layers * sum(parameter.numel() for parameter in feed.parameters())


__all__ = ["KV_FEEDS", "KeysValues", "KvFeed", "Memory", "check_fit", "fits", "num_feed_weights", "sharing_name"]
