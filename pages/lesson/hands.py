"""A class's show of hands: who has the word of a class votes with what is predicted, and all see how many did.

Held in memory alone: words that nobody asks for go after two hours, and of too many the one idle longest. One vote for
each browser and step, the last counts; only codes of known choices are kept, and nothing that a student wrote. The
browser that began a class leads it: a step's result is held back from the class until that one shows it.
"""

import re
import secrets
import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from time import monotonic

MOST_CLASSES, MOST_VOTERS, IDLE_SECONDS = 200, 500, 2 * 60 * 60
VOTES_A_MINUTE, LETTERS, LENGTH = 20, "abcdefghjkmnpqrstuvwxyz", 10
WORD = re.compile(rf"[{LETTERS}]{{8,24}}")


@dataclass
class _Class:
    """What is known of one: when it was last used, the votes by browser and step, who leads, and what was shown."""

    last_used: float
    leader: str
    votes: dict[tuple[str, str], str] = field(default_factory=dict)
    shown: set[str] = field(default_factory=set)


class Hands:
    """One per server process; its methods may be called from any thread.

    Args:
        clock: seconds, going forward only.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._classes: OrderedDict[str, _Class] = OrderedDict()
        self._recent: OrderedDict[str, deque[float]] = OrderedDict()  # when a session voted in the last minute

    def begin(self, leader: str = "") -> str:
        """A new class; its word. Where no browser leads it, nothing is held back."""
        word = "".join(secrets.choice(LETTERS) for _ in range(LENGTH))
        with self._lock:
            self._classes[word] = _Class(self._clock(), leader)
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
            one, recent = self._used(word), self._recent.setdefault(session, deque())
            self._recent.move_to_end(session)
            while len(self._recent) > MOST_CLASSES * MOST_VOTERS // 10:
                self._recent.popitem(last=False)
            while recent and now - recent[0] > 60:
                recent.popleft()
            full = one is not None and (browser, step) not in one.votes and len(one.votes) >= 10 * MOST_VOTERS
            if one is None or full or len(recent) >= VOTES_A_MINUTE:
                return False
            recent.append(now)
            one.votes[browser, step] = choice
            return True

    def rename(self, word: str, before: str, after: str) -> None:
        """A browser turns out to be one that is known: what it said since goes under that name."""
        with self._lock:
            one = self._used(word)
            if one is None:
                return
            if one.leader == before:
                one.leader = after
            for browser, step in [place for place in one.votes if place[0] == before]:
                one.votes[after, step] = one.votes.pop((browser, step))

    def counts(self, word: str, step: str) -> Counter[str] | None:
        """How many hands each choice of a step has; None for a class that is not there."""
        with self._lock:
            one = self._used(word)
            return None if one is None else Counter(choice for (_, of), choice in one.votes.items() if of == step)

    def leads(self, word: str, browser: str) -> bool:
        """Whether this browser began the class."""
        with self._lock:
            one = self._used(word)
            return one is not None and bool(one.leader) and one.leader == browser

    def show(self, word: str, browser: str, steps: Iterable[str]) -> None:
        """Let the class see what comes of these steps, if this browser leads it."""
        with self._lock:
            one = self._used(word)
            if one is not None and one.leader == browser:
                one.shown.update(steps)

    def holds(self, word: str, step: str) -> bool:
        """Whether the class has yet to wait for what comes of a step."""
        with self._lock:
            one = self._used(word)
            return one is not None and bool(one.leader) and step not in one.shown

    def _used(self, word: str) -> _Class | None:
        self._forget()
        one = self._classes.get(word)
        if one is not None:
            one.last_used = self._clock()
            self._classes.move_to_end(word)
        return one

    def _forget(self) -> None:
        """The class that is idle longest stands first."""
        while self._classes:
            first, one = next(iter(self._classes.items()))
            if len(self._classes) <= MOST_CLASSES and self._clock() - one.last_used < IDLE_SECONDS:
                return
            del self._classes[first]
