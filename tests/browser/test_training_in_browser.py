"""Training in a real browser, with real workers: watched, stopped, continued, replayed, shared."""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]
expect = pytest.importorskip("playwright.sync_api").expect

ROOT = Path(__file__).parents[2]
SLOW = 300_000  # milliseconds: a busy machine trains slowly, and no test asks how fast
SMALL = "task=reverse&text=abcdef&enc_heads=2&dec_heads=4"  # trains for some seconds, so that one can act meanwhile


@pytest.fixture
def open_app(serve, new_page):
    def open_app(query="", **options):
        page = new_page(**options)
        page.goto(f"{serve('app.py')}/?{query}")
        expect(page.get_by_role("button", name=re.compile("Train this one|Stop")).last).to_be_visible(timeout=SLOW)
        return page

    return open_app


def start_training(page):
    page.get_by_role("button", name=re.compile("^Train this one")).click()
    expect(page.get_by_text(re.compile(r"Training, step \d+ of")).first).to_be_visible(timeout=SLOW)


def step_of(page) -> int:
    text = page.get_by_text(re.compile(r"Training, step \d+ of")).first.text_content()
    return int(re.search(r"step (\d+) of", text)[1])


def wait_for_step(page, step):
    page.wait_for_function(
        """step => { const found = document.body.innerText.match(/Training, step (\\d+) of/);
                     return found && Number(found[1]) > step }""",
        arg=step,
        timeout=SLOW,
    )


def press_arrow(page, key, times=1):
    thumb = page.get_by_role("slider", name="How the heads formed").last
    thumb.focus()
    for _ in range(times):
        thumb.press(key)


def test_train_touch_stop_go_on_and_replay(open_app):
    page = open_app(f"{SMALL}&seed=11")
    start_training(page)
    expect(page.locator(".answer .badge")).to_have_text(re.compile(r"training, step \d+ of 200"), timeout=SLOW)

    page.get_by_role("radiogroup", name="Attention", exact=True).get_by_role("radio", name="Encoder self").click()
    expect(page).to_have_url(re.compile("kind=encoder"), timeout=SLOW)  # the page answers meanwhile …
    wait_for_step(page, step_of(page))  # … and the training goes on

    page.locator(".st-key-stop").get_by_role("button").click()
    expect(page.locator(".answer .badge")).to_have_text(re.compile("half trained: stopped at step"), timeout=SLOW)
    page.get_by_role("button", name="Continue").click()
    expect(page.locator(".answer .badge")).to_have_text(re.compile("^trained here "), timeout=SLOW)

    press_arrow(page, "ArrowLeft")
    expect(page.locator(".answer .badge")).to_have_text("half trained: step 192 of 200", timeout=SLOW)
    expect(page).to_have_url(re.compile("moment=192"))
    press_arrow(page, "ArrowRight")
    expect(page.locator(".answer .badge")).to_have_text(re.compile("^trained here "), timeout=SLOW)


def test_two_sessions_train_at_once_and_neither_blocks_the_other(open_app):
    first, second = open_app(f"{SMALL}&seed=12"), open_app(f"{SMALL}&seed=13")
    start_training(first)
    start_training(second)
    for _ in range(2):
        for page in (first, second):
            wait_for_step(page, step_of(page))
    for page in (first, second):
        page.locator(".st-key-stop").get_by_role("button").click()
        expect(page.locator(".answer .badge")).to_have_text(re.compile("half trained: stopped at step"), timeout=SLOW)


def test_a_reloaded_page_finds_its_training_and_its_word_again(open_app):
    page = open_app(f"{SMALL}&seed=14")
    start_training(page)
    for _ in range(2):
        page.reload()
        expect(page.get_by_text("you see it too")).to_be_visible(timeout=SLOW)  # a new session, the same training
    wait_for_step(page, 0)
    expect(page.get_by_role("textbox", name="Word")).to_have_value("abcdef")


def workers_of(server: subprocess.Popen) -> list[int]:
    """Process ids of the server's children."""
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            lines = dict(line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line)
        except OSError:
            continue
        if int(lines["PPid"]) == server.pid and "Z" not in lines["State"]:
            found.append(int(lines["Pid"]))
    return found


def is_running(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


@pytest.mark.exhaustive  # without a browser: tests/jobs/test_training_service.py
@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_worker_outlives_a_stopped_server(new_page, tmp_path, number):
    from benchmarks.browser import Servers

    servers = Servers(tmp_path)
    try:
        page = new_page()
        page.goto(f"{servers('app.py')}/?{SMALL}&seed=15")
        page.get_by_role("button", name=re.compile("^Train this one")).click(timeout=SLOW)
        expect(page.get_by_text(re.compile(r"Training, step \d+ of")).first).to_be_visible(timeout=SLOW)
        (server,) = servers.processes
        workers = workers_of(server)
        assert workers
        server.send_signal(number)
        server.wait(60)
        end = time.monotonic() + 60
        while any(map(is_running, workers)):
            assert time.monotonic() < end, workers
            time.sleep(0.2)
    finally:
        servers.stop()
