"""Several people at once, each in a session of their own: what one sets, nobody else is shown."""

import asyncio
import os
import subprocess
import sys

import pytest
from awaited import awaited

from benchmarks.browser import ROOT, Servers
from benchmarks.classroom import measure, memory_of
from benchmarks.visitor import Visitor
from pages.shared.settings import Settings

PEOPLE = 6


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    servers = Servers(tmp_path_factory.mktemp("servers"))
    yield servers("app.py")
    servers.stop()


async def grids(url: str, queries: list[str]) -> list[dict]:
    """What each of several sessions is shown, which all open at the same time and stay."""

    async def one(query: str) -> dict:
        async with Visitor.at(url) as visitor:
            await visitor.open(query)
            await barrier.wait()
            assert not (await visitor.run()).failed
            return visitor.grid()[0]

    barrier = asyncio.Barrier(len(queries))
    return await asyncio.gather(*map(one, queries))


def test_two_people_with_other_heads_and_words_do_not_see_each_other_s(url):
    """State that is shared across browsers (streamlit/streamlit#5581, #1106)."""
    words = ("box", "knight", "queue", "phone")
    asked = [(text, heads) for text in words for heads in (2, 4)]
    shown = awaited(grids(url, [f"text={text}&dec_heads={heads}&enc_heads=2" for text, heads in asked]))
    for (text, heads), grid in zip(asked, shown, strict=True):
        assert grid["cols"][: len(text)] == list(text)
        assert len(grid["sections"][0]["tiles"]) == heads


def test_many_first_loads_at_the_same_time_all_show_the_first_maps(url):
    """A cold cache, built once for each who waits (streamlit/streamlit#8009)."""
    shown = awaited(grids(url, [""] * 30))
    assert all(grid == shown[0] for grid in shown)
    assert len(shown[0]["sections"][0]["tiles"]) == Settings.dec_heads


@pytest.mark.slow
def test_a_small_class_at_work_meets_no_error_and_sees_its_own(url):
    measured = awaited(measure(url, PEOPLE, 20, 0, lambda: memory_of(1)))
    assert len(measured.runs) >= 2 * PEOPLE and not measured.errors and not measured.mixed


@pytest.mark.slow
def test_the_server_computes_with_one_thread_whatever_the_machine_has():
    """Thirty sessions with PyTorch's own number of threads each stand in each other's way (vllm-project/vllm#45124).

    Workers: tests/jobs/test_executors.py. That trainings wait with their place told: test_training_panel.py.
    """
    code = "import torch; torch.set_num_threads(4); import pages.shared.models; print(torch.get_num_threads())"
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.stdout == "1\n", done.stderr


def test_nobody_else_s_machine_is_asked():
    async def ask() -> None:
        async with Visitor.at("https://example.com"):
            pass

    with pytest.raises(ValueError, match="not on this machine"):
        awaited(ask())
