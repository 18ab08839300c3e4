"""With every address outside this machine closed, each page is whole, and none of them asks for anything there."""

import pytest
from whole_page import ADDRESSES, expect_whole

from pages.shared.every_page import PAGES
from pages.shared.texts import label

pytestmark = pytest.mark.browser
expect = pytest.importorskip("playwright.sync_api").expect
HERE = ("http://localhost:", "ws://localhost:", "data:", "blob:")


@pytest.fixture
def alone(browser):
    """A page that reaches this machine alone, and the addresses outside that it asked for."""
    context = browser.new_context(service_workers="block")
    asked = []

    def only_here(route):
        if route.request.url.startswith(HERE):
            return route.continue_()
        asked.append(route.request.url)
        return route.abort()

    context.route("**/*", only_here)
    page = context.new_page()
    page.on("request", lambda request: request.url.startswith(HERE) or asked.append(request.url))
    page.on("websocket", lambda socket: socket.url.startswith(HERE) or asked.append(socket.url))
    yield page, asked
    context.close()


@pytest.mark.slow
def test_the_watch_works(alone):
    page, asked = alone
    page.set_content("<img src='https://example.com/x.png'><script>new WebSocket('wss://example.com')</script>")
    page.wait_for_function("document.images[0].complete")
    assert {address.split(":")[0] for address in asked} == {"https", "wss"}


def scroll_through(page):
    """So that nothing waits until it is seen."""
    main = page.get_by_test_id("stMain")
    for share in (0.25, 0.5, 0.75, 1):
        main.evaluate("(node, share) => node.scrollTo(0, share * node.scrollHeight)", share)
        page.wait_for_timeout(200)


@pytest.mark.parametrize(
    "name", [name if name == "playground" else pytest.param(name, marks=pytest.mark.slow) for name in PAGES]
)
def test_a_page_asks_for_nothing_outside(serve, alone, name):
    page, asked = alone
    page.goto(f"{serve('app.py')}/{ADDRESSES[name]}")
    expect_whole(page, name)
    scroll_through(page)
    for menu in page.get_by_role("button", name=label("take", "title")).all()[:1]:
        menu.click()
        expect(page.get_by_test_id("stPopoverBody").first).to_be_visible()
    assert not asked
