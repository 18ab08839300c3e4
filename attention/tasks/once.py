"""Data that is read when something asks for it, once per process."""

import threading
from collections.abc import Callable
from functools import cache, wraps
from typing import TypeVar

T = TypeVar("T")


def once(make: Callable[[], T]) -> Callable[[], T]:
    """What `make` returns, made for the first who asks; whoever asks meanwhile, in another thread, waits for it."""
    lock, made = threading.Lock(), cache(make)

    @wraps(make)
    def ask() -> T:
        with lock:
            return made()

    ask.cache_info = made.cache_info
    return ask
