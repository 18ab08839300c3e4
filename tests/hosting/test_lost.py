"""What is lost when something breaks, and what is not: a connection in the middle of a training, a server.

A killed worker is in tests/jobs/test_training_service.py.
"""

import asyncio
import re
import time

import numpy as np
import pytest
from awaited import awaited

from attention.tasks import get_task
from benchmarks.browser import Servers
from benchmarks.visitor import Visitor

NUM_STEPS = get_task("reverse").num_steps
SMALL = "task=reverse&text=abc&enc_heads=2&dec_heads=4&enc_width=16&dec_width=16&enc_layers=1&dec_layers=1"
SOME_SECONDS = "task=reverse&text=abc&enc_heads=2&dec_heads=4"
PATIENCE = 120  # seconds


@pytest.fixture
def start(tmp_path):
    """`start()` gives the address of a new server, and what stops it."""
    running = []

    def start():
        servers = Servers(tmp_path)
        running.append(servers)
        return servers("app.py"), servers.stop

    yield start
    for servers in running:
        servers.stop()


def step_of(visitor: Visitor) -> int:
    """How far the training is that the page tells of; 0 where it tells of none."""
    found = re.search(r"step ([\d,]+) of", " ".join(visitor.texts)) or re.search(
        r"trained here ([\d,]+) steps", " ".join(visitor.texts)
    )
    return int(found[1].replace(",", "")) if found else 0


async def until_trained(visitor: Visitor, more_than: int) -> int:
    deadline = time.monotonic() + PATIENCE
    while (step := step_of(visitor)) <= more_than:
        assert time.monotonic() < deadline, visitor.texts
        await asyncio.sleep(0.5)
        assert not (await visitor.run()).failed
    return step


@pytest.mark.slow
def test_a_cut_connection_loses_no_step_of_a_training_and_no_setting(start):
    """Otherwise the session is gone with its socket (streamlit/streamlit#4297, #8901)."""
    url, _ = start()

    async def script() -> None:
        async with Visitor.at(url) as visitor:
            await visitor.open(f"{SMALL}&seed=7")
            await visitor.touch("train", trigger=True)
            before = await until_trained(visitor, 0)
            session, query = visitor.session, visitor.query
            visitor.connection.transport.abort()  # no goodbye
        async with Visitor.at(url, session) as again:  # the browser comes back by itself
            await again.open(query)
            assert (again.session, again.query) == (session, query)
            assert await until_trained(again, before) > before
        async with Visitor.at(url) as anew:  # or the page is loaded anew
            await anew.open(query)
            assert step_of(anew) > before

    awaited(script())


@pytest.mark.slow
def test_a_training_waits_for_those_who_asked_for_it(start):
    """While they are gone somebody else's has the worker alone, and comes to its end first."""
    url, _ = start()

    async def script() -> None:
        async with Visitor.at(url) as visitor:
            await visitor.open(f"{SOME_SECONDS}&seed=7")
            await visitor.touch("train", trigger=True)
            before = await until_trained(visitor, 0)
            session, query = visitor.session, visitor.query
            visitor.connection.transport.abort()
        async with Visitor.at(url) as other:
            await other.open(f"{SOME_SECONDS}&seed=8")
            await other.touch("train", trigger=True)
            await until_trained(other, NUM_STEPS - 1)
        async with Visitor.at(url, session) as again:
            await again.open(query)
            step = step_of(again)
            assert before <= step < NUM_STEPS  # had both gone on, the first would have been done first
            assert await until_trained(again, step) > step

    awaited(script())


@pytest.mark.slow
def test_a_server_that_starts_again_gives_the_same_maps_and_has_lost_the_trainings(start):
    url, stop = start()

    async def look(url: str, train: bool) -> tuple[np.ndarray, int]:
        async with Visitor.at(url) as visitor:
            await visitor.open(f"{SMALL}&seed=7")
            _, weights = visitor.grid()
            if train:
                await visitor.touch("train", trigger=True)
                await until_trained(visitor, 0)
            return weights, step_of(visitor)

    before, step = awaited(look(url, train=True))
    stop()
    after, none = awaited(look(start()[0], train=False))
    np.testing.assert_array_equal(before, after)
    assert step > 0 == none
