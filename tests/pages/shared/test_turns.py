"""Runs take turns in the order in which they came, and none waits for good."""

import threading
import time

import pytest

from pages.shared import turns as module
from pages.shared.caching import made_once
from pages.shared.turns import Turns, aside


def started(work, *args) -> threading.Thread:
    thread = threading.Thread(target=work, args=args, daemon=True)
    thread.start()
    return thread


def until(true) -> None:
    """Wait for what other threads are about to do."""
    for _ in range(2000):
        if true():
            return
        time.sleep(0.005)
    raise AssertionError("nothing happened")


@pytest.fixture
def turns():
    return Turns(at_once=1, patience=30)


def test_those_who_wait_come_one_by_one_in_their_order(turns):
    done, at_work, most = [], [], 0

    def work(number):
        nonlocal most
        with turns.turn():
            at_work.append(number)
            most = max(most, len(at_work))
            done.append(number)
            at_work.remove(number)

    with turns.turn():
        threads = []
        for number in range(8):
            threads.append(started(work, number))
            until(lambda waiting=number + 1: len(turns._line) == waiting)
        assert done == []
    for thread in threads:
        thread.join(30)
    assert done == list(range(8)) and most == 1


def test_in_a_pause_another_goes_ahead(turns):
    other_was_there = threading.Event()

    def other():
        with turns.turn():
            other_was_there.set()

    with turns.turn():
        started(other)
        assert not other_was_there.wait(0.05)
        with turns.pause():
            assert other_was_there.wait(30)


def test_an_error_gives_the_turn_back(turns):
    with pytest.raises(ZeroDivisionError), turns.turn():
        _ = 1 / 0
    with turns.turn(), turns.turn():  # one who has it just goes on
        pass
    with turns.pause():  # nothing, for one who has none
        pass
    assert turns._free == 1


def test_who_has_waited_long_goes_on_without_and_takes_no_turn_from_others():
    turns, freed = Turns(at_once=1, patience=0.05), threading.Event()
    entered = threading.Event()

    def stuck():
        with turns.turn():
            entered.set()
            freed.wait(30)

    thread = started(stuck)
    assert entered.wait(30)
    with turns.turn():
        assert thread.is_alive()  # it never gave its turn
    freed.set()
    thread.join(30)
    assert turns._free == 1 and not turns._line


def test_as_many_at_once_as_are_allowed():
    turns, both = Turns(at_once=2, patience=30), threading.Barrier(2)

    def meet():
        with turns.turn():
            both.wait(30)  # would break if the other had to wait for this one

    threads = [started(meet), started(meet)]
    for thread in threads:
        thread.join(30)
    assert not both.broken and turns._free == 2


def test_what_takes_long_is_made_once_and_aside_while_others_go_ahead(monkeypatch):
    monkeypatch.setattr(module, "TURNS", own := Turns())
    makes, made = threading.Event(), []

    @aside
    @made_once()
    def slow(number):
        made.append(number)
        assert makes.wait(30)
        return number

    got = []

    def ask():
        with own.turn():
            got.append(slow(7))

    threads = [started(ask), started(ask)]
    until(lambda: made == [7])
    with own.turn():  # neither who makes it nor who waits for it keeps a turn
        makes.set()
    for thread in threads:
        thread.join(30)
    assert got == [7, 7] and made == [7] and own._free == 1
    with own.turn():
        other = started(ask)
        until(lambda: len(own._line) == 1)
        assert slow(7) == 7 and len(got) == 2  # it is there, so the turn is kept
    other.join(30)
