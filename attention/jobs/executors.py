"""Where jobs run: worker processes on this machine, or a Dask cluster. Both are `concurrent.futures` executors.

    executor = executors.configured()            # as the environment says, see `configured`
    future = executor.submit(run_chunk, settings, None, 50)
    executors.num_workers(executor)              # how many jobs it runs at once
    executors.Pool().run(score, model, batch)    # the same executor, opened when it is needed, and again where it broke

What they run must be importable by name on the other side, and its arguments must be picklable.
"""

import os
import socket
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future
from concurrent.futures.process import BrokenProcessPool

from attention.config import ConfigError
from attention.jobs.worker import prepare

SCHEDULER = "DASK_SCHEDULER_ADDRESS"  # Dask's own name for it
MAX_WORKERS = 16  # unless told otherwise: each takes about 300 MB
IDLE_SECONDS = 300  # workers without work end after this, and start again when there is some
SECONDS_TO_CONNECT = 10
MAX_DEATHS = 3  # workers in a row that may die over one job before it is given up


def configured(num_workers: int | None = None) -> Executor:
    """`dask` where the environment variable DASK_SCHEDULER_ADDRESS is set, `local` otherwise.

    In a server, a line of the same name in Streamlit's `secrets.toml` does too: Streamlit puts it into the environment.
    """
    address = os.environ.get(SCHEDULER, "").strip()
    return dask(address) if address else local(num_workers)


def local(num_workers: int | None = None) -> Executor:
    """Worker processes of this machine, each with one thread for PyTorch; all who ask share the same ones.

    After a worker died its executor is broken for good: ask for it again.

    Args:
        num_workers: by default one less than there are cores, which leaves one to the caller.
    """
    import loky  # not at the top: the first page should not wait for it

    if num_workers is None:
        num_workers = max(1, min(loky.cpu_count() - 1, MAX_WORKERS))
    # The "loky" context does not run the main script in each worker, which under Streamlit would be app.py.
    return loky.get_reusable_executor(
        num_workers, context="loky", timeout=IDLE_SECONDS, initializer=prepare, initargs=(os.getpid(),)
    )


def dask(address: str) -> Executor:
    """The workers of a running Dask cluster, which need this package and the same versions of Python and PyTorch.

    Args:
        address: of the scheduler, such as "tcp://10.0.0.1:8786".

    Raises:
        ConfigError: `distributed` is not installed, or no scheduler answers there.
    """
    try:
        from distributed import Client
        from distributed.comm import get_address_host_port
    except ImportError as error:
        raise ConfigError(
            f"a Dask scheduler ({address}) is asked for, but the package distributed is not installed; "
            f"install requirements-dask.txt, or leave the address out to train on this machine"
        ) from error
    try:
        # A client that never connected leaves threads behind and waits for them when it is swept up, so we knock first.
        socket.create_connection(get_address_host_port(address), SECONDS_TO_CONNECT).close()
        client = Client(address, timeout=SECONDS_TO_CONNECT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"no Dask scheduler answers at {address}; start one (`dask scheduler`) and give its address as "
            f"tcp://HOST:PORT, or leave the address out to train on this machine"
        ) from error
    return client.get_executor()


def num_workers(executor: Executor) -> int:
    """How many jobs run at once: processes here, threads of all workers on a cluster (at least 1)."""
    client = getattr(executor, "_client", None)
    if client is None:
        return executor._max_workers
    try:
        return max(1, sum(client.nthreads().values()))
    except OSError:  # the cluster is out of reach just now
        return 1


def is_lost(executor: Executor) -> bool:
    """Whether it is a cluster whose scheduler has gone. (A local executor raises when something is submitted.)"""
    client = getattr(executor, "_client", None)
    return client is not None and client.status == "closed"


def close(executor: Executor) -> None:
    """Drop what it has in hand: end this machine's workers, or leave the cluster (which goes on)."""
    client = getattr(executor, "_client", None)
    if client is None:
        executor.shutdown(kill_workers=True)
    else:
        executor.shutdown(wait=False)
        client.close()


def worker_died(error: BaseException) -> bool:
    """Whether a job came back without a result because its worker is gone: another worker may do it."""
    return isinstance(error, (BrokenProcessPool, CancelledError))


class Pool:
    """The configured executor: opened with the first job, and again where a worker died or a cluster has gone.

    Args:
        num_workers: as for `configured`.
    """

    def __init__(self, num_workers: int | None = None) -> None:
        self._num_workers = num_workers
        self._lock = threading.Lock()
        self._executor: Executor | None = None
        self.times_opened = 0

    def submit(self, job: Callable, *args) -> Future:
        """Hand a job to the workers."""
        with self._lock:
            if not self.is_open:
                self._open()
            try:
                return self._executor.submit(job, *args)
            except BrokenProcessPool:  # a worker died since the last job
                self._open()
                return self._executor.submit(job, *args)

    def run(self, job: Callable, *args):
        """What a worker makes of a job; when the worker dies another one tries, up to MAX_DEATHS of them."""
        for death in range(1, MAX_DEATHS + 1):
            try:
                return self.submit(job, *args).result()
            except Exception as error:
                if death == MAX_DEATHS or not worker_died(error):
                    raise

    @property
    def is_open(self) -> bool:
        return self._executor is not None and not is_lost(self._executor)

    @property
    def size(self) -> int:
        """How many jobs an open pool runs at once."""
        return num_workers(self._executor)

    def close(self) -> None:
        """Drop what it has in hand."""
        if self._executor is not None:
            close(self._executor)

    def _open(self) -> None:
        self._executor = configured(self._num_workers)
        self.times_opened += 1
