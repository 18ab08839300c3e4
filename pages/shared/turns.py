"""Runs of the script take turns: whoever came first is served first, instead of all at the same pace.

Sixty scripts at once share one interpreter. Left to themselves they change places some hundred times each, and all of
them end late; one after the other, each takes as long as it would alone, and only the waiting grows with the class.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps

AT_ONCE = 2  # runs: one may compute outside the interpreter's lock, or wait for a lock of Streamlit's
PATIENCE = 20.0  # seconds, after which a run goes on without a turn, so that none can hold up all others for good


class Turns:
    """At most `at_once` threads at work, the others in a line."""

    def __init__(self, at_once: int = 1, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._lock = threading.Lock()
        self._free = at_once
        self._line: deque[threading.Event] = deque()
        self._mine = threading.local()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a turn and have it; one who has it already just goes on."""
        if getattr(self._mine, "held", False):
            yield
            return
        self._take()
        try:
            yield
        finally:
            self._give()

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Let others go ahead in the meantime; nothing for one who has no turn."""
        if not getattr(self._mine, "held", False):
            yield
            return
        self._give()
        try:
            yield
        finally:
            self._take()

    def _take(self) -> None:
        with self._lock:
            if self._free > 0:
                self._free -= 1
                self._mine.held = True
                return
            called = threading.Event()
            self._line.append(called)
        self._mine.held = called.wait(self._patience)
        if not self._mine.held:
            with self._lock:
                if called in self._line:
                    self._line.remove(called)
                else:  # called at the last moment
                    self._mine.held = True

    def _give(self) -> None:
        if not self._mine.held:
            return
        self._mine.held = False
        with self._lock:
            if self._line:
                self._line.popleft().set()
            else:
                self._free += 1


TURNS = Turns(AT_ONCE)
_ASIDE = Turns()


def aside(make: Callable) -> Callable:
    """For what `made_once` makes in more than a moment: others go ahead, and one such thing is made at a time.

    It stands above `made_once`, so that whoever waits for what another makes keeps no turn either.
    """

    @wraps(make)
    def made(*args: object) -> object:
        if make.cache_key(*args) in make.cache:
            return make(*args)
        with TURNS.pause(), _ASIDE.turn():
            return make(*args)

    made.cache_clear = make.cache_clear
    return made
