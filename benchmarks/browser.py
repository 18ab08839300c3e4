"""A real browser and servers that run an app, for whatever measures or tests the pages from outside."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parents[1]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
GREETING = (
    "Uvicorn server started",
    "You can now view your Streamlit app in your browser.",
    "URL: http://localhost:",
)
START_SECONDS = 90
STOP_SECONDS = 10


def find_browser() -> str | None:
    """The browser named by CHROMIUM, or the system's chromium or google-chrome; None where there is none."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)


class Servers:
    """Runs `streamlit run FILE`, one server per file and environment; calling it gives the base URL."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._running: dict[tuple, tuple[str, subprocess.Popen, Path]] = {}

    def __call__(self, script: str | Path, **environment: str) -> str:
        key = (str(script), *sorted(environment.items()))
        if key not in self._running:
            self._running[key] = self._start(script, environment)
        return self._running[key][0]

    def log(self, url: str) -> str:
        """What the server at this URL has printed so far."""
        return next(log for address, _, log in self._running.values() if address == url).read_text()

    def unexpected(self, url: str) -> list[str]:
        """What the server at this URL has printed beside the lines that each server begins with."""
        lines = [line for line in self.log(url).splitlines() if line.strip()]
        return [line for line in lines if not any(part in line for part in GREETING)]

    @property
    def logs(self) -> dict[str, str]:
        """What each server has printed, by its URL."""
        return {address: log.read_text() for address, _, log in self._running.values()}

    @property
    def processes(self) -> list[subprocess.Popen]:
        """The servers that were started."""
        return [process for _, process, _ in self._running.values()]

    def stop(self):
        for _, process, _ in self._running.values():
            _stop(process)

    def _start(self, script: str | Path, environment: dict[str, str]):
        port = free_port()
        url = f"http://localhost:{port}"
        log = self._folder / f"server-{port}.log"
        # `-m streamlit` puts the working directory, the root of the repository, on the import path.
        command = [sys.executable, "-m", "streamlit", "run", str(script)]
        command += ["--server.port", str(port), "--server.headless", "true"]
        with log.open("w") as out:
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=os.environ | environment,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # so that workers which the app starts can be stopped with it
            )
        try:
            _wait_until_healthy(url, process)
        except RuntimeError as error:
            _stop(process)
            raise RuntimeError(f"{script}: {error}\n{log.read_text()[-3000:]}") from error
        return url, process, log


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return probe.getsockname()[1]


def _wait_until_healthy(url: str, process: subprocess.Popen):
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with code {process.returncode}")
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError(f"the server was not healthy after {START_SECONDS} s")


def _stop(process: subprocess.Popen):
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)  # whatever it started and left behind
