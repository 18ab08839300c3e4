"""Made once, one at a time, bounded by bytes, least recently used goes first."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier, Event

import numpy as np
import pytest
import torch
from torch import nn

from pages.shared.caching import ENTRY, made_once, num_bytes


@dataclass(frozen=True)
class Pair:
    first: np.ndarray
    second: dict


def test_the_size_is_that_of_the_arrays_wherever_they_are():
    layer = nn.Linear(3, 5)  # 15 weights and 5 biases
    value = Pair(np.zeros((7, 11), np.float32), {"a": (torch.zeros(13), [layer]), "b": "text"})
    assert num_bytes(value) == ENTRY + 4 * (7 * 11 + 13 + 20)
    assert num_bytes("text") == num_bytes(None) == ENTRY


def test_thirty_who_ask_at_once_share_one():
    made, begin = [], Barrier(30)

    @made_once()
    def make(key):
        made.append(key)
        return [key]

    def ask(_):
        begin.wait()
        return make("word")

    with ThreadPoolExecutor(30) as visitors:
        results = list(visitors.map(ask, range(30)))
    assert made == ["word"]
    assert all(result is results[0] for result in results)


def test_what_was_asked_for_longest_ago_goes_first():
    made = []

    @made_once(max_bytes=3 * (ENTRY + 100))
    def make(key):
        made.append(key)
        return np.zeros(100, np.uint8)

    for key in "abcacdb":  # `a` is asked for again before `d` comes, so `b` has to go
        make(key)
    assert made == ["a", "b", "c", "d", "b"]


def test_one_large_thing_takes_the_place_of_several_small_ones():
    made = []

    @made_once(max_bytes=10 * ENTRY)
    def make(size):
        made.append(size)
        return np.zeros(size, np.uint8)

    for size in (1, 2, 3, 7 * ENTRY, 3, 2):
        make(size)
    assert made == [1, 2, 3, 7 * ENTRY, 2]  # 1 and 2 had to go for it, and 3 could stay


def test_what_is_larger_than_the_cache_is_made_anew_and_drives_nothing_out():
    made = []

    @made_once(max_bytes=10 * ENTRY)
    def make(size):
        made.append(size)
        return np.zeros(size, np.uint8)

    for size in (1, 10 * ENTRY, 10 * ENTRY, 1):
        make(size)
    assert made == [1, 10 * ENTRY, 10 * ENTRY]


def test_who_asks_for_something_else_does_not_wait():
    begun, go_on = Event(), Event()

    @made_once()
    def make(key):
        if key == "slow":
            begun.set()
            assert go_on.wait(60)
        return key

    with ThreadPoolExecutor(1) as visitor:
        slow = visitor.submit(make, "slow")
        assert begun.wait(60)
        assert make("quick") == "quick" and not slow.done()
        go_on.set()
        assert slow.result(60) == "slow"


def test_an_error_is_not_kept_and_those_who_wait_try_for_themselves():
    made, begin = [], Barrier(3)

    @made_once()
    def make(key):
        made.append(key)
        if len(made) == 1:
            raise ValueError("the first time it does not work")
        return key

    def ask(_):
        begin.wait()
        try:
            return make("word")
        except ValueError as error:
            return str(error)

    with ThreadPoolExecutor(3) as visitors:
        results = sorted(visitors.map(ask, range(3)))
    assert results == ["the first time it does not work", "word", "word"]
    assert made == ["word", "word"]


def test_a_key_has_to_be_frozen():
    with pytest.raises(TypeError, match="unhashable"):
        made_once()(len)([])
