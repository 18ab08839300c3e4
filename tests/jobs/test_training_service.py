"""The training service, with real worker processes and small real trainings."""

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from tiny_training import tiny
from told import told

from attention.jobs import executors
from attention.jobs import training_service as jobs
from attention.jobs.executors import MAX_DEATHS
from attention.jobs.progress import NUM_POINTS, thinned
from attention.jobs.training_service import Progress, TrainingService
from attention.jobs.worker import Chunk, Scored, recorded_steps
from attention.tasks import get_task
from attention.training import StepReport, TrainingSettings, advance, start
from attention.training.evaluation import evaluate

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def service():
    service = TrainingService(num_workers=2, chunk_seconds=0.1)
    service.warm_up()
    yield service
    service.close()


@pytest.fixture
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def wait(service, settings, until=lambda progress: not progress.open, seconds=300) -> list[Progress]:
    """What was seen until `until` was true of it."""
    seen = [service.progress(settings)]
    end = time.monotonic() + seconds
    while not until(seen[-1]):
        assert time.monotonic() < end, seen[-1]
        time.sleep(0.02)
        seen.append(service.progress(settings))
    return seen


def count_chunks(service, monkeypatch) -> list[TrainingSettings]:
    """Grows by the settings of each chunk that is handed to a worker from now on."""
    sent = []
    send = service._send

    def counting(job, *args):
        if job is jobs.run_chunk:
            sent.append(args[0])
        return send(job, *args)

    monkeypatch.setattr(service, "_send", counting)
    return sent


def assert_same_as_in_one_go(finished) -> None:
    expected = advance(start(finished.settings), finished.settings.num_steps)
    assert finished.history == expected.history
    assert finished.weights.keys() == expected.weights.keys()
    for name, weight in expected.weights.items():
        assert torch.equal(finished.weights[name], weight), name


def test_in_chunks_as_in_one_go(service, one_thread, monkeypatch):
    sent = count_chunks(service, monkeypatch)
    settings = tiny(120)
    assert service.progress(settings) is None
    assert service.submit(settings).status in ("waiting", "running")
    seen = wait(service, settings)
    finished = service.finished(settings)

    assert seen[-1].status == "done" and seen[-1].step == 120
    assert len(sent) > 2
    steps = [progress.step for progress in seen]
    assert steps == sorted(steps)
    ranges = [progress.seconds_left for progress in seen if progress.status in ("waiting", "running")]
    assert ranges and all(0 <= low < high for low, high in ranges)
    assert seen[-1].seconds_left is None
    assert seen[-1].history == thinned(list(finished.history))
    assert_same_as_in_one_go(finished)
    task = get_task("reverse")
    model = advance(start(settings), 120).model()
    assert finished.scores == evaluate(model, task, task.held_out(jobs.NUM_EXAMPLES))
    assert finished.seconds > 0


@pytest.mark.slow
def test_many_who_ask_for_the_same_cause_one_training(service, monkeypatch):
    sent = count_chunks(service, monkeypatch)
    settings = tiny(60, seed=1)
    threads = [threading.Thread(target=service.submit, args=(replace(settings),)) for _ in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wait(service, settings)
    first = service.finished(settings)
    chunks = len(sent)
    assert service.submit(tiny(60, seed=1)).status == "done"
    assert service.finished(tiny(60, seed=1)) is first
    assert [report.step for report in first.history] == list(range(60))
    assert len(sent) == chunks


@pytest.mark.slow
def test_nobody_waits_for_a_whole_training(service):
    long = [tiny(100_000, seed=seed) for seed in (2, 3, 4)]
    for settings in long:
        service.submit(settings)
    wait(service, long[-1], lambda progress: progress.step > 10)
    short = tiny(40, seed=5)
    service.submit(short)
    seen = wait(service, short)
    assert seen[-1].status == "done"
    assert max(progress.place for progress in seen) <= 3
    assert all(service.progress(settings).open for settings in long)
    for settings in long:
        service.stop(settings)


def test_stopped_is_never_finished_and_can_go_on(service, one_thread):
    settings = tiny(100_000, seed=6)
    service.submit(settings)
    wait(service, settings, lambda progress: progress.step > 0)
    service.stop(settings)
    stopped = service.progress(settings)
    assert stopped.status == "stopped" and stopped.step < 100_000
    time.sleep(0.5)  # the chunk in hand comes back
    assert service.progress(settings) == stopped
    assert service.finished(settings) is None

    newest = service.newest(settings)
    assert newest.step == stopped.step  # half trained, and says so
    again = service.submit(settings)
    assert again.open and again.step == stopped.step and again.history == stopped.history
    wait(service, settings, lambda progress: progress.step > stopped.step)
    service.stop(settings)
    service.stop(settings)
    service.stop(tiny(9, seed=99))  # never heard of: nothing happens


def test_it_pauses_while_nobody_who_asked_is_here_and_no_chunk_is_lost(service, one_thread, monkeypatch):
    sent, send, back = [], service._send, threading.Event()
    leave = {"ann": 2, "ben": 3}  # after so many chunks
    settings, other = tiny(200, seed=63), tiny(20, seed=64)

    def states() -> list[bytes | None]:
        return [state for job, (one, state, *_) in sent if one == settings and job is jobs.run_chunk]

    def noting(job, *args):
        sent.append((job, args))
        return send(job, *args)

    monkeypatch.setattr(jobs, "NUM_EXAMPLES", 20)
    monkeypatch.setattr(service, "_send", noting)
    monkeypatch.setattr(service, "_is_here", lambda who: back.is_set() or len(states()) < leave[who])
    for who in leave:
        service.submit(replace(settings), who)
    paused = wait(service, settings, lambda progress: progress.paused)[-1]
    assert len(states()) == 3 and paused.open and 0 < paused.step < 200
    service.submit(other)  # the worker is free for others
    assert wait(service, other)[-1].status == "done"
    assert service.progress(settings) == paused and len(states()) == 3
    back.set()
    assert wait(service, settings)[-1].status == "done"
    assert_same_as_in_one_go(service.finished(settings))
    begun_at = [pickle.loads(state).step if state else 0 for state in states()]
    assert paused.step in begun_at and begun_at == sorted(set(begun_at))  # none was made twice


@pytest.mark.slow
def test_stopping_and_going_on_changes_nothing(service, one_thread):
    settings = tiny(150, seed=61)
    service.submit(settings)
    for _ in range(5):  # at any moment: while it waits, and while its chunk is in hand
        service.stop(settings)
        service.submit(settings)
    wait(service, settings, lambda progress: progress.step > 10)
    service.stop(settings)
    time.sleep(0.5)
    service.submit(settings)
    assert wait(service, settings)[-1].status == "done"
    assert_same_as_in_one_go(service.finished(settings))


def test_snapshots_show_how_the_model_formed(service, one_thread):
    settings = tiny(120, seed=62)
    service.submit(settings)
    wait(service, settings, lambda progress: progress.step > 30)
    early = service.snapshots(settings)
    wait(service, settings)
    snapshots = service.finished(settings).snapshots
    assert service.snapshots(settings) == snapshots
    assert snapshots[: len(early)] == early and early
    weights = sum(weight.numel() for weight in snapshots[0].weights.values())
    assert tuple(snapshot.step for snapshot in snapshots) == recorded_steps(120, weights)
    state = start(settings)
    for snapshot in snapshots:
        state = advance(state, snapshot.step - state.step)
        for name, weight in state.weights.items():
            assert torch.equal(snapshot.weights[name], weight.half()), (snapshot.step, name)
    assert service.newest(settings) is None  # it is done: `finished` has the weights, all bits of them


def test_snapshots_are_bounded_in_number_and_bytes():
    assert recorded_steps(250, 250_000) == tuple(round(250 * n / 24) for n in range(25))
    assert recorded_steps(3, 250_000) == (0, 1, 2, 3)
    assert recorded_steps(600, 3_000_000) == (0, 200, 400, 600)
    assert recorded_steps(600, 10**9) == (0, 600)  # where it began and where it ended, at the least


@pytest.mark.slow
def test_a_killed_worker_costs_the_chunk_in_hand(service, one_thread):
    settings, other = tiny(150, seed=7), tiny(150, seed=8)
    service.submit(settings)
    service.submit(other)
    wait(service, settings, lambda progress: progress.step > 10)
    before = set(service._pool._executor._processes)  # and not those that an earlier test may have left behind
    os.kill(min(before), signal.SIGKILL)
    ended = [wait(service, one)[-1] for one in (settings, other)]
    assert [progress.status for progress in ended] == ["done", "done"]
    # Both, or the one that was in the worker's hands.
    assert any("A worker process died and was replaced" in told("jobs", progress.message) for progress in ended)
    assert not before & {process.pid for process in multiprocessing.active_children()}
    assert_same_as_in_one_go(service.finished(settings))
    assert [report.step for report in service.finished(other).history] == list(range(150))


class Breaks(ThreadPoolExecutor):
    """Takes some jobs, then says what a pool says whose worker has died since the last one."""

    def __init__(self, after: int) -> None:
        super().__init__(1)
        self.left = after

    def submit(self, job, /, *args):
        self.left -= 1
        if self.left < 0:
            raise BrokenProcessPool
        return super().submit(job, *args)

    def shutdown(self, kill_workers=False) -> None:
        super().shutdown()


def test_a_worker_that_dies_between_two_chunks_is_told_of(monkeypatch):
    pools = [Breaks(after=2), Breaks(after=1000)]
    monkeypatch.setattr(executors, "configured", lambda num_workers: pools.pop(0))
    service, settings = TrainingService(chunk_seconds=0.0), tiny(6)
    service.submit(settings)
    last = wait(service, settings)[-1]
    service.close()
    assert not pools
    assert last.status == "done"
    assert told("jobs", last.message) == "A worker process died and was replaced; the training went on from step 3."


@pytest.mark.slow
def test_a_cluster_trains_the_same_model(one_thread, monkeypatch):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=None) as cluster:
        monkeypatch.setenv(executors.SCHEDULER, cluster.scheduler_address)
        service = TrainingService(chunk_seconds=0.1)
        both = tiny(40, seed=71), tiny(40, seed=72)
        for settings in both:
            service.submit(settings)
        for settings in both:
            assert wait(service, settings)[-1].status == "done", service.progress(settings).message
            assert_same_as_in_one_go(service.finished(settings))
        service.close()


def test_a_cluster_that_is_not_there_is_told(monkeypatch):
    monkeypatch.setattr(executors, "SECONDS_TO_CONNECT", 1)
    monkeypatch.setenv(executors.SCHEDULER, "tcp://localhost:9")
    service = TrainingService()
    service.submit(tiny(2))
    failed = wait(service, tiny(2))[-1]
    assert failed.status == "failed" and "no Dask scheduler answers at tcp://localhost:9" in told(
        "jobs", failed.message
    )
    service.close()


def test_failures_are_told_in_a_sentence(service):
    settings = tiny(20)
    clash = replace(settings, config=replace(settings.config, kv="direct"))
    service.submit(clash)
    failed = wait(service, clash)[-1]
    assert failed.status == "failed"
    sentence = told("jobs", failed.message)
    assert sentence.startswith("The training failed: ") and sentence.endswith(".")
    assert "2" in sentence and "4" in sentence and "\n" not in sentence
    assert service.finished(clash) is None

    wild = tiny(50, learning_rate=1e30, matrix_rate=1e30, warmup=0)
    service.submit(wild)
    failed = wait(service, wild)[-1]
    assert failed.status == "failed" and "no longer a number" in told("jobs", failed.message)
    assert service.finished(wild) is None


@pytest.fixture
def pretend(monkeypatch):
    """A service without processes, and the list of jobs it hands out, which the test answers with `answer`."""
    made = []

    def make(**arguments):
        service = TrainingService(**arguments)
        handed_out = []

        def send(job, *args):
            handed_out.append((job, args, Future()))
            return handed_out[-1][-1]

        monkeypatch.setattr(service, "_send", send)
        made.append(service)
        return service, handed_out

    yield make
    for service in made:
        service.close()


def answer(handed_out: list, number: int = 1, error: Exception | None = None, size: int = 1) -> list[TrainingSettings]:
    """Wait for `number` jobs and let them all end, well or with `error`. Returns whose they were."""
    end = time.monotonic() + 10
    while len(handed_out) < number:
        assert time.monotonic() < end
        time.sleep(0.001)
    jobs_now = handed_out[:]
    handed_out.clear()
    for job, (settings, state, number), future in jobs_now:
        if error:
            future.set_exception(error)
        elif job is jobs.score:
            future.set_result(Scored({"w": torch.zeros(size)}, None, 1.0))
        else:
            first = int(state or 0)
            last = min(first + number, settings.num_steps)
            reports = tuple(StepReport(step, 1.0, 0.0) for step in range(first, last))
            future.set_result(Chunk(str(last).rjust(size, "0").encode(), last, reports, (), len(reports)))
    return [settings for _, (settings, *_), _ in jobs_now]


def test_trainings_take_turns(pretend):
    service, handed_out = pretend(num_workers=1, chunk_seconds=2.0)
    three = [tiny(4, seed=seed) for seed in range(3)]
    for settings in three:
        service.submit(settings)
    assert [answer(handed_out) for _ in range(9)] == [[settings] for settings in three] * 3


def test_the_cache_is_bounded(pretend, monkeypatch):
    service, handed_out = pretend(num_workers=1, max_finished=2)

    def train(settings, size=1):
        service.submit(settings)
        answer(handed_out, size=size)  # the steps
        answer(handed_out, size=size)  # the score
        wait(service, settings)

    def kept():
        return [settings.seed for settings in trained if service.progress(settings)]

    trained = [tiny(2, seed=seed) for seed in range(5)]
    train(trained[0])
    train(trained[1])
    service.finished(trained[0])  # so that the second is the one not asked for longest
    train(trained[2])
    assert kept() == [0, 2]
    assert service.finished(trained[1]) is None and service.submit(trained[1]).status != "done"
    answer(handed_out)
    answer(handed_out)
    wait(service, trained[1])
    assert kept() == [1, 2]

    monkeypatch.setattr(jobs, "MAX_BYTES", 100)
    train(trained[3], size=20)
    assert kept() == [1, 3]
    train(trained[4], size=1000)  # too large by itself: the last one is kept all the same
    assert kept() == [4]


def test_a_long_training_is_kept_when_it_ends(pretend):
    service, handed_out = pretend(num_workers=2, max_finished=1)
    long, short = tiny(2, seed=1), tiny(2, seed=2)
    service.submit(long)
    wait(service, long, lambda progress: handed_out)
    last = [handed_out.pop()]
    service.submit(short)
    answer(handed_out)
    answer(handed_out)
    wait(service, short)
    answer(last)
    answer(handed_out)
    wait(service, long)
    assert service.finished(long) and not service.finished(short)


def test_what_waits_is_bounded(pretend, monkeypatch):
    monkeypatch.setattr(jobs, "MAX_OPEN", 3)
    service, _ = pretend(num_workers=1)
    wanted = [tiny(2, seed=seed) for seed in range(5)]
    statuses = [service.submit(settings).status for settings in wanted]
    assert statuses[3:] == ["failed", "failed"] and "failed" not in statuses[:3]
    wait(service, wanted[0], lambda progress: progress.status == "running")
    assert [service.progress(settings).place for settings in wanted[:3]] == [0, 0, 1]
    assert "3 trainings" in told("jobs", service.progress(wanted[3]).message)
    service.stop(wanted[1])
    assert service.submit(wanted[3]).status == "waiting"

    for seed in range(10, 20):  # nor does what was stopped pile up
        service.submit(tiny(2, seed=seed))
        service.stop(tiny(2, seed=seed))
    assert sum(service.progress(tiny(2, seed=seed)) is not None for seed in range(20)) <= 3 + 3


def test_a_closed_service_says_so(pretend):
    service, _ = pretend(num_workers=1)
    service.submit(tiny(2))
    service.close()
    assert service.progress(tiny(2)).status == "stopped"
    assert "has ended" in told("jobs", service.submit(tiny(2)).message)


def test_large_trainings_begin_when_there_is_room(pretend, monkeypatch):
    monkeypatch.setattr(jobs, "MAX_BYTES", 10)
    service, handed_out = pretend(num_workers=1)
    first, second = tiny(2, seed=1), tiny(2, seed=2)
    service.submit(first)
    service.submit(second)
    assert [answer(handed_out, size=20) for _ in range(4)] == [[first], [first], [second], [second]]


def test_who_kills_its_worker_fails_and_no_other(pretend):
    service, handed_out = pretend(num_workers=2)
    killer, innocent = tiny(2, seed=1), tiny(2, seed=2)
    service.submit(killer)
    service.submit(innocent)
    assert answer(handed_out, 2, BrokenProcessPool()) == [killer, innocent]
    for _ in range(20):  # both are suspects and run alone
        if not (service.progress(killer).open or service.progress(innocent).open):
            break
        owner = handed_out[0][1][0] if handed_out else None
        if owner:
            assert len(answer(handed_out, 1, BrokenProcessPool() if owner == killer else None)) == 1
        time.sleep(0.05)
    failed = service.progress(killer)
    assert failed.status == "failed" and f"{MAX_DEATHS} times" in told("jobs", failed.message)
    assert service.progress(innocent).status == "done"


def test_thinning():
    for length in (0, 1, 2, NUM_POINTS, NUM_POINTS + 1, 5003):
        history = [StepReport(step, 1.0, 0.0) for step in range(length)]
        points = thinned(history)
        assert len(points) <= NUM_POINTS and (length > NUM_POINTS or points == tuple(history))
        assert points[-1:] == tuple(history[-1:])
        gaps = {after.step - before.step for before, after in pairwise(points)}
        assert len(gaps) <= 1


SERVER = """
import multiprocessing, time
print("main script", flush=True)    # and no `if __name__ == "__main__"`: app.py has none either
from tiny_training import tiny
from attention.jobs.training_service import TrainingService
service = TrainingService(num_workers=1, chunk_seconds=0.1)
service.submit(tiny(1_000_000))
while service.progress(tiny(1_000_000)).step < 20:
    time.sleep(0.05)
print(len(multiprocessing.active_children()), "worker", flush=True)
time.sleep(600)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_no_worker_outlives_the_server_or_runs_its_main_script(tmp_path):
    script = tmp_path / "server.py"
    script.write_text(SERVER)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "tests" / "support")))}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
    servers = [subprocess.Popen([sys.executable, script], env=environment, **pipes) for _ in signals]
    try:
        for server, number in zip(servers, signals, strict=True):
            assert server.stdout.readline() == "main script\n"
            assert server.stdout.readline() == "1 worker\n"
            server.send_signal(number)
            # Workers and their helpers hold the pipes too: the end of the pipes is the end of them all.
            stdout, stderr = server.communicate(timeout=60)
            assert stdout == ""
            assert "a training failed" not in stderr
    finally:
        for server in servers:
            server.kill()
