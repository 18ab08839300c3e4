"""What the browser tests share: a real Chromium, servers that run an app, and pages that watch for trouble.

Without a browser these tests are skipped with a reason. With REQUIRE_BROWSER=1 a missing browser is a failure.
CHROMIUM names the browser to use; otherwise the system's chromium or google-chrome is looked for.
"""

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

import pytest

ROOT = Path(__file__).parents[2]
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
START_SECONDS = 90
STOP_SECONDS = 10


def _no_browser(reason: str):
    if os.environ.get("REQUIRE_BROWSER") == "1":
        pytest.fail(f"REQUIRE_BROWSER=1, but {reason}", pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser():
    """A running Chromium (playwright's Browser)."""
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if not path:
        _no_browser(f"no browser was found: none of {', '.join(BROWSERS)} is on the PATH, and CHROMIUM is not set")
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        _no_browser("the package playwright is not installed")
    with sync_playwright() as playwright:
        try:
            running = playwright.chromium.launch(executable_path=path, args=FLAGS)
        except Error as error:
            _no_browser(f"{path} does not start: {error.message.splitlines()[0]}")
        yield running
        running.close()


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

    def stop(self):
        for _, process, _ in self._running.values():
            _stop(process)

    def _start(self, script: str | Path, environment: dict[str, str]):
        port = _free_port()
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
            pytest.fail(f"{script}: {error}\n{log.read_text()[-3000:]}", pytrace=False)
        return url, process, log


@pytest.fixture(scope="session")
def serve(browser, tmp_path_factory):
    """`serve("app.py")` starts the app (once) and gives its base URL; all servers stop at the end."""
    servers = Servers(tmp_path_factory.mktemp("servers"))
    yield servers
    servers.stop()


@pytest.fixture
def new_page(browser):
    """`new_page(width=1280, height=900, **context_options)` opens a page in a fresh browser context.

    At the end of the test: no script of the page has failed, and nothing was asked of another host.
    """
    contexts, troubles = [], []

    def watch(request):
        if not request.url.startswith(("http://localhost:", "ws://localhost:", "data:", "blob:")):
            troubles.append(f"asked of another host: {request.url}")

    def open_page(width: int = 1280, height: int = 900, **options):
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("request", watch)
        page.on("pageerror", lambda error: troubles.append(f"script error: {error}"))
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not troubles, "\n".join(troubles)


def _free_port() -> int:
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
