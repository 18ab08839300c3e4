"""The app as a Docker Space: what its files say, and its own command, run by somebody who may write nowhere."""

import contextlib
import ctypes
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from awaited import awaited
from grid_sent import SHOWN

from attention.checkpoints import load
from attention.inspection import inspect_word
from attention.tasks import get_task
from benchmarks.browser import free_port
from benchmarks.visitor import Visitor
from pages.shared.settings import Settings

ROOT = Path(__file__).parents[2]
NOBODY = 65534
DROP_CAPABILITY = 24  # PR_CAPBSET_DROP of prctl(2): not even the next program gets it back
START_SECONDS = 300  # on a machine that does much else; how fast it starts is measured, not tested


def instructions(name: str) -> list[str]:
    """What follows an instruction of the Dockerfile, each time it is given."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    return re.findall(rf"^{name}\s+(.*)$", text, flags=re.MULTILINE)


def front_matter() -> dict[str, str]:
    _, head, _ = (ROOT / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    return dict(line.split(": ", 1) for line in head.strip().splitlines())


def test_the_readme_declares_a_docker_space_on_the_port_of_the_image():
    """Streamlit Spaces of the old kind were retired for Docker (huggingface/hub-docs#1834)."""
    said = front_matter()
    assert said["sdk"] == "docker" and said["license"] == "apache-2.0" and said["emoji"] == "🔎"
    assert said["app_port"] in instructions("EXPOSE") and f"PORT={said['app_port']}" in instructions("ENV")
    assert len(said["short_description"]) <= 60
    assert {said["colorFrom"], said["colorTo"]} <= {
        "red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"
    }  # fmt: skip


def test_the_image_runs_as_user_1000_and_listens_to_the_outside():
    (user,) = instructions("USER")
    assert any(f"--uid 1000 {user}" in line for line in instructions("RUN"))
    (command,) = instructions("CMD")
    assert "--server.address=0.0.0.0" in command and "${PORT:-7860}" in command
    assert "/_stcore/health" in instructions("HEALTHCHECK")[0]


def test_what_the_app_needs_goes_into_the_image_and_nothing_secret():
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    left_out = {line.strip("/") for line in lines if line and not line.startswith("#")}
    assert {".git", "tests", "benchmarks"} <= left_out
    assert not left_out & {"app.py", "attention", "pages", ".streamlit", "requirements.txt", "LICENSE"}


def without_privileges() -> None:
    """In a process about to start another: root is then a user like any other, who may do what its files say."""
    system = ctypes.CDLL(None)
    for capability in range(64):
        system.prctl(DROP_CAPABILITY, capability, 0, 0, 0)


@pytest.fixture
def unwritable_home(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    home.chmod(0o555)
    if os.geteuid() == 0:
        os.chown(home, NOBODY, NOBODY)
    return home


@pytest.mark.slow
def test_the_command_of_the_image_serves_the_first_maps_to_somebody_who_may_not_write_at_home(unwritable_home):
    """PermissionError was what Spaces met first (harry0703/MoneyPrinterTurbo#306, mindee/doctr#951)."""
    (command,) = instructions("CMD")
    port, output = free_port(), unwritable_home.parent / "output"
    environment = {
        "HOME": str(unwritable_home),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PORT": str(port),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    write = ["sh", "-c", 'echo x > "$HOME/x"']
    alone = {"env": environment, "start_new_session": True, "preexec_fn": without_privileges}
    assert subprocess.run(write, stderr=subprocess.DEVNULL, **alone).returncode, "the home can be written to"
    with output.open("w") as out:
        server = subprocess.Popen(json.loads(command), cwd=ROOT, stdout=out, stderr=subprocess.STDOUT, **alone)
    try:
        wait_until_healthy(f"http://localhost:{port}/_stcore/health", server, output)
        run, (_, weights) = awaited(first_page(f"http://localhost:{port}"))
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGTERM)
        server.wait(60)
    said = output.read_text()
    assert not run.failed and "Error" not in said and "ermission" not in said, said
    assert not list(unwritable_home.iterdir())
    model, _ = load("spelling", Settings().config)
    shown = inspect_word(model, get_task("spelling"), tuple("knight")).layers["cross"][1].weights
    np.testing.assert_allclose(weights, shown.ravel(), atol=SHOWN)


async def first_page(url: str):
    async with Visitor.at(url) as visitor:
        run = await visitor.open()
        return run, visitor.grid()


def wait_until_healthy(url: str, server: subprocess.Popen, output: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        assert server.poll() is None, output.read_text()
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                assert answer.status == 200
                return
        except OSError:
            time.sleep(0.2)
    pytest.fail(f"not healthy after {START_SECONDS} s")
