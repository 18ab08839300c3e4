"""What tests in a browser share: a real Chromium, servers that run an app, and pages that watch for trouble.

Without a browser these tests are skipped with a reason. With REQUIRE_BROWSER=1 a missing browser is a failure.
CHROMIUM names the browser to use; otherwise the system's chromium or google-chrome is looked for.
"""

import contextlib
import os

import pytest

from benchmarks.browser import BROWSERS, FLAGS, Servers, find_browser

OPENED = pytest.StashKey[tuple[list, list[str]]]()  # a test's pages, and what their consoles said
LAST_LINES = 40  # of a server's log


def _no_browser(reason: str):
    if os.environ.get("REQUIRE_BROWSER") == "1":
        pytest.fail(f"REQUIRE_BROWSER=1, but {reason}", pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser():
    """A running Chromium (playwright's Browser)."""
    path = find_browser()
    if not path:
        _no_browser(f"no browser was found: none of {', '.join(BROWSERS)} is on the PATH, and CHROMIUM is not set")
    try:
        from playwright.sync_api import Error, expect, sync_playwright
    except ImportError:
        _no_browser("the package playwright is not installed")
    expect.set_options(timeout=30_000)  # milliseconds: a busy machine is slow, and no test asks how fast
    with sync_playwright() as playwright:
        try:
            running = playwright.chromium.launch(executable_path=path, args=FLAGS)
        except Error as error:
            _no_browser(f"{path} does not start: {error.message.splitlines()[0]}")
        yield running
        running.close()


@pytest.fixture(scope="session")
def serve(browser, tmp_path_factory):
    """`serve("app.py")` starts the app (once) and gives its base URL; all servers stop at the end.

    The first page of a server is opened here, so that no test waits while it imports everything.
    """
    servers = Servers(tmp_path_factory.mktemp("servers"))
    page = browser.new_page()
    page.goto(servers("app.py"))
    page.locator("[data-test-script-state=notRunning]").wait_for(timeout=120_000)
    page.close()
    yield servers
    servers.stop()


@pytest.fixture
def new_page(browser, request):
    """`new_page(width=1280, height=900, **context_options)` opens a page in a fresh browser context.

    At the end of the test: no script of the page has failed, and nothing was asked of another host. The report of a
    test that fails says what its pages showed and their consoles said, and what the servers printed.
    """
    contexts, troubles = [], []
    pages, said = request.node.stash[OPENED] = [], []

    def watch(request):
        if not request.url.startswith(("http://localhost:", "ws://localhost:", "data:", "blob:")):
            troubles.append(f"asked of another host: {request.url}")

    def note(line: str):
        if line not in said:  # one that goes on and on would push out what came before
            said.append(line)

    def open_page(width: int = 1280, height: int = 900, **options):
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("request", watch)
        page.on("pageerror", lambda error: troubles.append(f"script error: {error}"))
        page.on("pageerror", lambda error: note(f"script error: {error}"))
        page.on("console", lambda message: note(f"{message.type}: {message.text}"))
        page.on("requestfailed", lambda request: note(f"failed: {request.url} {request.failure}"))
        pages.append(page)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not troubles, "\n".join(troubles)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    if report.failed and report.when == "call" and OPENED in item.stash:
        pages, said = item.stash[OPENED]
        for page in pages:
            with contextlib.suppress(Exception):  # a page may be closed, or no longer answer
                page.set_default_timeout(5_000)
                shown = page.inner_text("body")[:3000]
                report.sections.append((f"shown at {page.url}", shown or "nothing: it is white"))
        report.sections.append(("consoles of the pages", "\n".join(said[-LAST_LINES:])))
        for url, log in getattr(item.funcargs.get("serve"), "logs", {}).items():
            report.sections.append((f"log of the server at {url}", "\n".join(log.splitlines()[-LAST_LINES:])))
    return report
