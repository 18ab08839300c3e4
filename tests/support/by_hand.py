"""An executor whose jobs run when the test says so, in the test's own process."""

from concurrent.futures import Executor, Future

from attention.jobs import executors
from attention.jobs.training_service import TrainingService


class ByHand(Executor):
    def __init__(self, num_workers: int = 1) -> None:
        self._max_workers = num_workers
        self.jobs: list[tuple[Future, tuple]] = []

    def submit(self, job, *args) -> Future:
        self.jobs.append((Future(), (job, *args)))
        return self.jobs[-1][0]

    def run(self, service: TrainingService, error: Exception | None = None) -> None:
        """The next job runs, or ends with `error`; returns when the service has taken note of it."""
        handle(service)
        future, (job, *args) = self.jobs.pop(0)
        future.set_exception(error) if error else future.set_result(job(*args))
        handle(service)

    def shutdown(self, **_) -> None:
        """Nothing runs by itself."""


def handle(service: TrainingService) -> None:
    """Let the service do what it has to do, here and now."""
    while not service._events.empty():
        service._handle(service._events.get())


def service_by_hand(monkeypatch, num_workers: int = 1) -> tuple[TrainingService, ByHand]:
    """A service without processes and without a thread that would run ahead of the test."""
    executor = ByHand(num_workers)
    monkeypatch.setattr(executors, "configured", lambda _: executor)
    monkeypatch.setattr(TrainingService, "_dispatch", lambda self: None)
    service = TrainingService(num_workers)
    monkeypatch.setattr(service._dispatcher, "is_alive", lambda: True)
    return service, executor
