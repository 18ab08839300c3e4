"""What a service keeps, within limits: what was asked for longest ago goes first."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Kept(OrderedDict[K, V]):
    """Values by key; the one asked for longest ago comes first."""

    def ask(self, key: K) -> V | None:
        """The value of this key, now asked for; None where there is none."""
        if key in self:
            self.move_to_end(key)
        return self.get(key)

    def put(self, key: K, value: V) -> None:
        """Keep a value as the one asked for last, in the place of an earlier one of this key."""
        self[key] = value
        self.move_to_end(key)

    def forget(self, sizes: Callable[[V], Sequence[int]], limits: Sequence[int]) -> None:
        """Drop what was asked for longest ago, until no kind of size adds up to more than its limit.

        A value of no size stays; so does, whatever its size, the one asked for last of the others.
        """
        totals, newest = [0] * len(limits), True
        for key, value in reversed(list(self.items())):
            size = sizes(value)
            totals = [total + more for total, more in zip(totals, size, strict=True)]
            is_over = any(more and total > limit for more, total, limit in zip(size, totals, limits, strict=True))
            if is_over and not newest:
                del self[key]
            newest = newest and not any(size)
