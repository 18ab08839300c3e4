"""A class at work: many sessions of the app's own protocol on this machine, each a student with time to think.

    python -m benchmarks.classroom                        1, 30, 60 and 120 people, a minute each
    python -m benchmarks.classroom --people 60 --seconds 1200 --trainings 2

A lecturer has opened each page before. Each student opens a link, then changes the kind of attention, heads, and words,
takes heads away, steps through a word, goes to steps of the lesson, opens other pages and comes back. For each number
of people: from an action to the grid sent and to the end of the run, bytes, memory of all processes of the server
(after a quarter of the time, at the end, and at most), errors, and answers that are not those of the session's own
settings.
"""

import argparse
import asyncio
import random
import statistics
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

from attention.figures.text import visible
from attention.tasks import get_task
from benchmarks.browser import Servers
from benchmarks.visitor import Run, Visitor
from pages.lesson.steps import STEPS
from pages.shared.every_page import PAGES, all_declared
from pages.shared.settings import Settings, read_address

THINK = (2.0, 8.0)  # seconds between two actions of a student
MOST_PEOPLE, MOST_SECONDS = 200, 3600
WORDS = get_task("spelling").examples
KINDS = ("encoder", "decoder", "cross")


@dataclass
class Measured:
    """What came of one class."""

    runs: list[Run] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    mixed: int = 0
    answers: int = 0
    megabytes: list[float] = field(default_factory=list)


class Student:
    """One session, and what it does from a seed of its own."""

    def __init__(self, visitor: Visitor, seed: int, measured: Measured) -> None:
        self.visitor, self.chance, self.measured = visitor, random.Random(seed), measured

    async def work(self, until: float) -> None:
        clock = asyncio.get_running_loop().time
        often, seldom = (self._kind, self._heads, self._word), (self._link, self._away, self._page, self._step)
        actions = (*often, *often, *seldom, self._lesson)
        await self._note(self._link())
        while clock() < until:
            await asyncio.sleep(min(self.chance.uniform(*THINK), max(0.0, until - clock())))
            await self._note(self.chance.choice(actions)())

    async def _note(self, action: Awaitable[Run]) -> None:
        try:
            run = await action
        except (TimeoutError, OSError, KeyError) as error:
            self.measured.errors.append(f"{type(error).__name__}: {error}")
            return
        self.measured.runs.append(run)
        self.measured.errors += run.failed
        if "heads" in self.visitor.elements:
            self.measured.answers += 1
            self.measured.mixed += not self._is_own()

    def _is_own(self) -> bool:
        """Whether the grid is that of this session's address."""
        settings, _ = read_address(dict(parse_qsl(self.visitor.query)), all_declared())
        texts, _ = self.visitor.grid()
        source = [visible(token) for token in (*settings.text, "</s>")]
        right = len(texts["sections"][0]["tiles"]) == settings.heads_of(settings.kind)
        return right and (settings.kind == "decoder" or texts["cols"][: len(source)] == source)

    async def _link(self) -> Run:
        heads = self.chance.choice(((8, 8, 8), (8, 16, 4), (8, 16, 8), (4, 8, 8)))
        named = dict(zip(("enc_heads", "dec_heads", "dec_dim"), heads, strict=True))
        return await self.visitor.open(urlencode({"text": self.chance.choice(WORDS), **named}))

    async def _kind(self) -> Run:
        return await self._choose("kind")

    async def _heads(self) -> Run:
        return await self._choose(self.chance.choice(("dec_heads", "enc_heads")))

    async def _choose(self, key: str) -> Run:
        if key not in self.visitor.elements:
            return await self._link()
        options = [option.content for option in self.visitor.elements[key].options]
        return await self.visitor.touch(key, strings=[self.chance.choice(options)])

    async def _word(self) -> Run:
        if "text" not in self.visitor.elements:
            return await self._link()
        return await self.visitor.touch("text", string=self.chance.choice(WORDS))

    async def _away(self) -> Run:
        head = self.chance.randint(1, Settings.dec_heads)
        return await self.visitor.open(urlencode({"text": self.chance.choice(WORDS), "off": f"cross.2.{head}"}))

    async def _step(self) -> Run:
        """Through a word on the page that decodes it step by step."""
        here = {"text": self.chance.choice(WORDS), "step": self.chance.randint(1, 4)}
        return await self.visitor.open(urlencode(here), page="anchors")

    async def _lesson(self) -> Run:
        return await self.visitor.open(urlencode({"lesson": self.chance.randint(1, len(STEPS))}), page="lesson")

    async def _page(self) -> Run:
        pages = [name for name in PAGES if name != next(iter(PAGES))]
        return await self.visitor.open(self.visitor.query, page=self.chance.choice(pages))


async def train(url: str, seed: int) -> None:
    """Start a training that nobody else asks for, and watch it."""
    async with Visitor.at(url) as visitor:
        await visitor.open(urlencode({"seed": 1000 + seed, "enc_heads": 2, "dec_heads": 4}))
        if "train" in visitor.elements:
            await visitor.touch("train", trigger=True)
        await asyncio.Event().wait()


async def measure(url: str, people: int, seconds: float, trainings: int, memory: Callable[[], float]) -> Measured:
    measured, clock = Measured(), asyncio.get_running_loop().time
    until = clock() + seconds
    busy = [asyncio.create_task(train(url, number)) for number in range(trainings)]

    async def student(seed: int) -> None:
        await asyncio.sleep(seed / people * min(5.0, seconds / 2))  # a class does not click as one
        async with Visitor.at(url) as visitor:
            await Student(visitor, seed, measured).work(until)

    async def watch() -> None:
        while clock() < until:
            measured.megabytes.append(memory())
            await asyncio.sleep(1)

    await asyncio.gather(watch(), *map(student, range(people)))
    for task in busy:
        task.cancel()
    await asyncio.gather(*busy, return_exceptions=True)
    return measured


async def open_every_page(url: str) -> None:
    """What a lecturer has done before the class comes: the first to open a page waits for all that it imports."""
    async with Visitor.at(url) as visitor:
        for page in PAGES:
            await visitor.open(page="" if page == next(iter(PAGES)) else page)


def memory_of(pid: int) -> float:
    """MB that a process and all that descend from it hold, from /proc; what they share is counted once, in shares."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(path.parent.name))
    total, waiting = 0, [pid]
    while waiting:
        one = waiting.pop()
        waiting += children.get(one, [])
        try:
            lines = Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1000


def report(people: int, measured: Measured) -> str:
    def told(values: list[float]) -> str:
        known = sorted(value for value in values if value == value)
        if not known:
            return "–"
        return f"{1000 * statistics.median(known):.0f} / {1000 * known[int(0.95 * (len(known) - 1))]:.0f}"

    grid, finished = told([run.grid for run in measured.runs]), told([run.finished for run in measured.runs])
    memory = measured.megabytes or [0.0]
    kilobytes = statistics.median(run.received for run in measured.runs) / 1000 if measured.runs else float("nan")
    return (
        f"{people:4} people  {len(measured.runs):5} actions  grid {grid} ms  run {finished} ms (median / 95th)  "
        f"{kilobytes:.0f} kB  {memory[len(memory) // 4]:.0f} → {memory[-1]:.0f}, at most {max(memory):.0f} MB  "
        f"{len(measured.errors)} errors  "
        f"{measured.mixed} of {measured.answers} mixed"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, nargs="+", default=[1, 30, 60, 120])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--trainings", type=int, default=0)
    given = parser.parse_args()
    if max(given.people) > MOST_PEOPLE or given.seconds > MOST_SECONDS:
        parser.error(f"at most {MOST_PEOPLE} people and {MOST_SECONDS} seconds")
    servers = Servers(Path(tempfile.mkdtemp()))
    try:
        url = servers("app.py")
        (server,) = servers.processes
        asyncio.run(open_every_page(url))
        for people in given.people:
            measured = asyncio.run(measure(url, people, given.seconds, given.trainings, lambda: memory_of(server.pid)))
            print(report(people, measured), flush=True)
            for error in sorted(set(measured.errors))[:5]:
                print(f"      {error}", flush=True)
    finally:
        servers.stop()


if __name__ == "__main__":
    main()
