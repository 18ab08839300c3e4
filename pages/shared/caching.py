"""The one cache of the pages: made once, one at a time, bounded by bytes, least recently used goes first.

    @made_once(max_bytes=50_000_000)
    def decoding_of(record, source): ...

The arguments are the key, so they are frozen records; what is made is shared by all visitors and never changed. Who
asks for what is being made waits for it; who asks for something else does not wait. An error is not kept.
"""

from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from threading import Condition

import numpy as np
from cachetools import LRUCache, cached
from torch import Tensor, nn

ENTRY = 1_000  # bytes, for the key and for all that is no array
caches: list[LRUCache] = []  # all that there are, so that their bounds can be added up


def made_once(max_bytes: int = 1_000_000) -> Callable:
    """Keep what the decorated function returns; a value of more than `max_bytes` is made anew each time."""
    caches.append(LRUCache(max_bytes, getsizeof=num_bytes))
    return cached(caches[-1], condition=Condition())


def num_bytes(value: object) -> int:
    """What it takes to keep this: mostly the arrays, tensors and modules found in it."""
    return ENTRY + _array_bytes(value)


def _array_bytes(value: object) -> int:
    if isinstance(value, np.ndarray | Tensor):
        return value.nbytes
    if isinstance(value, nn.Module):
        return sum(tensor.nbytes for tensor in (*value.parameters(), *value.buffers()))
    if isinstance(value, Mapping):
        return sum(map(_array_bytes, value.values()))
    if isinstance(value, tuple | list):
        return sum(map(_array_bytes, value))
    if is_dataclass(value):
        return sum(map(_array_bytes, vars(value).values()))
    return 0
