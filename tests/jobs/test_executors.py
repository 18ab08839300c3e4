"""Where jobs run: real worker processes, and a real Dask cluster on this machine."""

import os
import threading
from concurrent.futures.process import BrokenProcessPool

import pytest
import torch

from attention import ConfigError
from attention.jobs import executors


def pid_and_threads() -> tuple[int, int]:
    return os.getpid(), torch.get_num_threads()


def test_local_workers_are_other_processes_with_one_thread_each():
    executor = executors.local(2)
    assert executors.num_workers(executor) == 2
    found = [future.result(60) for future in [executor.submit(pid_and_threads) for _ in range(6)]]
    assert os.getpid() not in {pid for pid, _ in found}
    assert {threads for _, threads in found} == {1}


@pytest.mark.slow
def test_a_broken_pool_is_whole_again_when_asked_for():
    executor = executors.local(2)
    with pytest.raises(BrokenProcessPool):
        executor.submit(os._exit, 1).result(60)
    assert executors.local(2).submit(pow, 3, 5).result(60) == 243


def test_the_environment_chooses(monkeypatch):
    monkeypatch.delenv(executors.SCHEDULER, raising=False)
    assert type(executors.configured(2)) is type(executors.local(2))
    monkeypatch.setattr(executors, "SECONDS_TO_CONNECT", 1)
    monkeypatch.setenv(executors.SCHEDULER, "tcp://localhost:9")
    with pytest.raises(ConfigError, match=r"no Dask scheduler answers at tcp://localhost:9; start one"):
        executors.configured()


@pytest.mark.parametrize("address", ["nonsense", "http//x", "tcp://localhost:notaport", "tcp://localhost:9"])
def test_an_address_that_is_none_gives_a_sentence(address, monkeypatch):
    monkeypatch.setattr(executors, "SECONDS_TO_CONNECT", 1)
    before = set(threading.enumerate())
    with pytest.raises(ConfigError, match=f"answers at {address}"):
        executors.dask(address)
    assert set(threading.enumerate()) <= before  # nothing of it is left running


@pytest.mark.slow
def test_a_cluster_runs_the_same_jobs():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=None) as cluster:
        executor = executors.dask(cluster.scheduler_address)
        assert executors.num_workers(executor) == 2
        assert executor.submit(pow, 3, 5).result(60) == 243
        executor._client.close()
