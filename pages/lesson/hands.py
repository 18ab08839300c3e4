"""A class's show of hands: who has the word of a class votes with what is predicted, and all see how many did.

Held in memory alone: words that nobody asks for go after two hours, and of too many the one idle longest. One vote for
each browser and step, the last counts; only codes of known choices are kept, and nothing that a student wrote.
"""

import re
import secrets
import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from time import monotonic

MOST_CLASSES, MOST_VOTERS, IDLE_SECONDS = 200, 500, 2 * 60 * 60
VOTES_A_MINUTE, LETTERS, LENGTH = 20, "abcdefghjkmnpqrstuvwxyz", 10
WORD = re.compile(rf"[{LETTERS}]{{8,24}}")


class Hands:
    """One per server process; its methods may be called from any thread.

    Args:
        clock: seconds, going forward only.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._classes: OrderedDict[str, tuple[float, dict[tuple[str, str], str]]] = OrderedDict()
        self._recent: OrderedDict[str, deque[float]] = OrderedDict()  # when a session voted in the last minute

    def begin(self) -> str:
        """A new class; its word."""
        word = "".join(secrets.choice(LETTERS) for _ in range(LENGTH))
        with self._lock:
            self._classes[word] = self._clock(), {}
            self._forget()
        return word

    def is_there(self, word: str) -> bool:
        """Whether there is a class of this word; to ask is to use it."""
        with self._lock:
            return self._used(word) is not None

    def vote(self, word: str, session: str, browser: str, step: str, choice: str) -> bool:
        """Count a choice; False for a class that is not there, and where a session votes too often."""
        now = self._clock()
        with self._lock:
            votes, recent = self._used(word), self._recent.setdefault(session, deque())
            self._recent.move_to_end(session)
            while len(self._recent) > MOST_CLASSES * MOST_VOTERS // 10:
                self._recent.popitem(last=False)
            while recent and now - recent[0] > 60:
                recent.popleft()
            full = votes is not None and (browser, step) not in votes and len(votes) >= 10 * MOST_VOTERS
            if votes is None or full or len(recent) >= VOTES_A_MINUTE:
                return False
            recent.append(now)
            votes[browser, step] = choice
            return True

    def rename(self, word: str, before: str, after: str) -> None:
        """A browser turns out to be one that is known: what it said since goes under that name."""
        with self._lock:
            votes = self._used(word) or {}
            for browser, step in [place for place in votes if place[0] == before]:
                votes[after, step] = votes.pop((browser, step))

    def counts(self, word: str, step: str) -> Counter[str] | None:
        """How many hands each choice of a step has; None for a class that is not there."""
        with self._lock:
            votes = self._used(word)
            if votes is None:
                return None
            return Counter(choice for (_, of), choice in votes.items() if of == step)

    def _used(self, word: str) -> dict[tuple[str, str], str] | None:
        self._forget()
        if word not in self._classes:
            return None
        _, votes = self._classes[word]
        self._classes[word] = self._clock(), votes
        self._classes.move_to_end(word)
        return votes

    def _forget(self) -> None:
        """The class that is idle longest stands first."""
        while self._classes:
            first, (last_used, _) = next(iter(self._classes.items()))
            if len(self._classes) <= MOST_CLASSES and self._clock() - last_used < IDLE_SECONDS:
                return
            del self._classes[first]
