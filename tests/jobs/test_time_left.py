"""The time that a training is said to take, beside the time that it then takes on a made-up machine."""

import random
from itertools import pairwise

import pytest
import torch
from by_hand import handle, service_by_hand
from tiny_training import tiny

from attention.experiments.comparison.stored_runs import expected_seconds
from attention.jobs.time_left import Pace, Speed, range_of, shared_seconds
from attention.jobs.worker import Chunk, Scored, run_chunk
from attention.training import StepReport


def in_turns(own: float, others: list[float], num_workers: int, slice_of: float = 0.001) -> float:
    """The same by taking turns, a little at a time."""
    left, clock = [own, *others], 0.0
    while left[0] > 1e-9:
        there = [index for index, work in enumerate(left) if work > 1e-9]
        share = min(1.0, num_workers / len(there))
        for index in there:
            left[index] -= slice_of * share
        clock += slice_of
    return clock


@pytest.mark.parametrize("num_workers", [1, 2, 5])
@pytest.mark.parametrize("others", [[], [1.0], [0.3, 2.0, 0.7, 0.7], [5.0] * 6])
def test_work_that_is_shared_takes_as_long_as_taking_turns(others, num_workers):
    assert shared_seconds(1.1, others, num_workers) == pytest.approx(in_turns(1.1, others, num_workers), rel=0.01)


def test_a_slow_chunk_of_few_steps_says_little_about_the_speed():
    speed = Speed()
    assert speed.seconds_per_step(expected=0.01) == 0.01
    speed.add(2, 2.0)  # the first one, while everything is loaded
    for _ in range(4):
        speed.add(50, 0.5)
    assert speed.seconds_per_step(expected=0.01) == pytest.approx((4.0 + 50 * 0.01) / (202 + 50))


def test_the_pace_of_a_machine_is_that_of_most_chunks():
    pace = Pace()
    assert pace.ratio == 1
    for seconds in (2.0, 2.0, 40.0, 2.0):
        pace.add(seconds, 1.0)
    assert pace.ratio == 2


def test_the_range_holds_what_it_then_takes_and_does_not_jump(monkeypatch):
    """It was seen jumping: 59 s, 4 min, 29 s, 7 min."""
    service, executor = service_by_hand(monkeypatch)
    chance, clock, told, ended = random.Random(0), 0.0, {}, {}
    wanted = [tiny(steps, seed=seed) for seed, steps in enumerate((300, 900, 600, 1500, 400))]
    per_step = {one: 3 * expected_seconds(one) / one.num_steps for one in wanted}  # a machine three times as slow
    for settings in wanted:
        service.submit(settings)
    while len(ended) < len(wanted):
        handle(service)
        future, (job, settings, state, number) = executor.jobs.pop(0)
        if job is run_chunk:
            first = int(state or 0)
            last = min(first + number, settings.num_steps)
            seconds = (last - first) * per_step[settings] * chance.choice((0.5, 0.8, 1.0, 1.2, 2.0))
            clock += seconds
            reports = tuple(StepReport(step, 1.0, 0.0) for step in range(first, last))
            future.set_result(Chunk(str(last).encode(), last, reports, (), seconds))
            if last == settings.num_steps:
                ended[settings] = clock
        else:
            future.set_result(Scored({"w": torch.zeros(1)}, None, 0.0))
        handle(service)
        for one in wanted:
            if left := service.progress(one).seconds_left:
                told.setdefault(one, []).append((clock, left))
    long_ago = [(one, at, left) for one, some in told.items() for at, left in some if at > 20 * per_step[one]]
    right = [low <= ended[one] - at <= high for one, at, (low, high) in long_ago]
    assert len(right) > 100 and sum(right) >= 0.9 * len(right)
    for some in told.values():
        for (before, (low, high)), (after, (next_low, next_high)) in pairwise(some[len(some) // 4 :]):
            assert next_low <= high and next_high + (after - before) >= low, (
                "two ranges, one after the other, contradict"
            )


def test_a_training_that_waits_is_told_as_much_as_one_that_would_begin(monkeypatch):
    service, _ = service_by_hand(monkeypatch)
    ours, other = tiny(50, seed=1), tiny(50, seed=2)
    work = expected_seconds(ours)
    assert service.outlook(ours) == pytest.approx(range_of(work, min(0.5, work)))
    service.submit(other)
    among_two = range_of(2 * work, min(2 * 0.5, work))
    assert service.outlook(ours) == service.submit(ours).seconds_left == pytest.approx(among_two)
