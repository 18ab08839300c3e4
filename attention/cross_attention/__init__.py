"""How decoder heads get their keys and values: one small file per K/V way.

To add a way: a subclass of `KvWay` in a file of its own, its class in `KV_WAYS` below, its name (with its variants) in
`attention.config.KV_VARIANTS`, and its words in the catalogue; CONTRIBUTING.md has the whole list.
"""

from attention.config import ConfigError, ModelConfig
from attention.cross_attention.base import KeysValues, KvWay, Memory
from attention.cross_attention.direct import Direct
from attention.cross_attention.extra import Extra
from attention.cross_attention.grouped import Grouped, sharing_name
from attention.cross_attention.projection import Projection
from attention.cross_attention.reproject import Reproject

KV_WAYS: dict[str, type[KvWay]] = {way.name: way for way in (Reproject, Direct, Projection, Grouped, Extra)}


def check_fit(config: ModelConfig) -> None:
    """Raise `ConfigError`, with both numbers, when encoder and decoder do not fit together."""
    KV_WAYS[config.kv].check(config)


def fits(config: ModelConfig) -> bool:
    """Whether encoder and decoder work together."""
    try:
        check_fit(config)
    except ConfigError:
        return False
    return True


__all__ = ["KV_WAYS", "KeysValues", "KvWay", "Memory", "check_fit", "fits", "sharing_name"]
