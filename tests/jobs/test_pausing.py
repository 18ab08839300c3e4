"""Who waits for a training: it pauses when all have gone who asked for it. With a worker: test_training_service.py."""

from dataclasses import replace

import pytest
from by_hand import handle, service_by_hand
from tiny_training import tiny

from attention.jobs import progress as records
from attention.jobs import training_service as jobs

ANN_S, BEN_S = tiny(50, seed=1), tiny(50, seed=2)


@pytest.fixture
def here():
    return set()


@pytest.fixture
def by_hand(monkeypatch, here):
    service, executor = service_by_hand(monkeypatch)
    service._is_here = here.__contains__
    return service, executor


def test_what_waits_without_anybody_is_paused_and_joins_the_queue_when_one_is_back(by_hand, here):
    service, executor = by_hand
    here |= {"ann", "ben"}
    service.submit(ANN_S, "ann")
    service.submit(BEN_S, "ben")
    here.remove("ben")
    executor.run(service)
    assert service.progress(BEN_S).paused and service.progress(BEN_S).open
    assert [job[1] for _, job in executor.jobs] == [ANN_S]
    assert service.num_under_way() == 1
    here.add("ben")
    executor.run(service)
    assert not service.progress(BEN_S).paused and service.num_under_way() == 2


def test_somebody_else_who_asks_lets_it_go_on(by_hand, here):
    service, executor = by_hand
    here.add("ann")
    service.submit(ANN_S, "ann")
    handle(service)
    here.clear()
    executor.run(service)
    step = service.progress(ANN_S).step
    assert service.progress(ANN_S).paused and not executor.jobs and step
    here.add("ben")
    service.join(ANN_S, "ben")
    handle(service)
    assert not service.progress(ANN_S).paused and executor.jobs
    executor.run(service)
    assert service.progress(ANN_S).step > step


def test_what_nobody_in_particular_asked_for_never_pauses(by_hand):
    service, executor = by_hand
    service.submit(ANN_S)
    for _ in range(3):
        executor.run(service)
    assert not service.progress(ANN_S).paused and executor.jobs


def test_a_paused_one_can_be_stopped_and_is_then_nobody_s(by_hand, here):
    service, executor = by_hand
    here.add("ann")
    service.submit(ANN_S, "ann")
    handle(service)
    here.clear()
    executor.run(service)
    service.stop(ANN_S)
    assert service.progress(ANN_S).status == "stopped" and not service.progress(ANN_S).paused
    here.add("ann")
    handle(service)
    assert not executor.jobs
    assert service.submit(ANN_S, "ann").open


def test_paused_ones_keep_nobody_out_and_are_bounded(by_hand, here, monkeypatch):
    monkeypatch.setattr(jobs, "MAX_OPEN", 3)
    service, _ = by_hand
    for seed in range(10):
        here.add("ann")
        assert service.submit(tiny(50, seed=seed), "ann").status == "waiting"
        here.clear()
        handle(service)
    kept = [seed for seed in range(10) if service.progress(tiny(50, seed=seed))]
    assert len(kept) == 3 and 9 in kept


def test_of_those_who_asked_the_last_ones_are_remembered(by_hand, here, monkeypatch):
    monkeypatch.setattr(records, "MAX_ASKERS", 3)
    service, _ = by_hand
    here |= {"0", "1", "2", "3", "4"}
    for who in ("0", "1", "2", "0", "3", "4"):
        service.submit(replace(ANN_S), who)
    assert list(service._trainings[ANN_S].askers) == ["0", "3", "4"]
