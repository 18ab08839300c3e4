"""Copying a link, with and without a clipboard, and the address of a page around the app, in a real browser."""

from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import expect

from benchmarks.browser import FLAGS, find_browser

pytestmark = pytest.mark.browser

# The page that a Space is shown in: it puts what it is told behind its own address, as huggingface.co does.
OUTER = """<!doctype html><title>outer</title><iframe src="{inner}" style="width:1200px;height:800px"></iframe><script>
  heard = [];
  addEventListener("message", (event) => {{
    if (typeof event.data?.queryString !== "string") return;
    heard.push([event.origin, event.data]);
    history.replaceState(null, "", "?" + event.data.queryString + event.data.hash);
  }});
</script>"""


def test_the_link_is_in_the_clipboard_and_opens_the_same_maps(serve, new_page):
    url = serve("app.py")
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    page.goto(url)
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_text("Copied.")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.startswith(f"{url}/?") and dict(parse_qsl(urlsplit(link).query))["text"] == "knight"


@pytest.mark.slow
def test_without_a_clipboard_the_link_is_there_to_be_copied_by_hand(serve, new_page):
    page = new_page()
    page.add_init_script("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.goto(f"{serve('app.py')}/?text=box")
    page.get_by_role("button", name="Copy link").click()
    field = page.get_by_label("Link to what is on the screen")
    expect(field).to_be_focused()
    chosen = field.evaluate("field => field.value.slice(field.selectionStart, field.selectionEnd)")
    assert "text=box" in chosen and chosen == field.input_value()


@pytest.fixture
def outside(browser):
    """A browser in which a page of another site may hold one of this machine."""
    flags = [*FLAGS, "--disable-features=LocalNetworkAccessChecks"]
    running = browser.browser_type.launch(executable_path=find_browser(), args=flags)
    yield running
    running.close()


def framed(browser, inner: str, origin: str):
    context = browser.new_context()
    context.route(f"{origin}/**", lambda route: route.fulfill(content_type="text/html", body=OUTER.format(inner=inner)))
    page = context.new_page()
    page.goto(f"{origin}/spaces/somebody/attention")
    return page


@pytest.mark.slow
def test_the_address_of_the_page_around_follows(serve, outside):
    url = serve("app.py")
    page = framed(outside, f"{url}/?text=box&hack=1", "https://huggingface.co")
    app = page.frame_locator("iframe")
    app.get_by_role("radio", name="Decoder self").click()
    page.wait_for_function("location.search.includes('kind=decoder')")
    told = dict(parse_qsl(urlsplit(page.url).query))
    assert (told["text"], told["kind"]) == ("box", "decoder") and "hack" not in told
    origins = {origin for origin, _ in page.evaluate("heard")}
    assert origins == {url}


@pytest.mark.slow
def test_no_other_page_around_is_told_anything(serve, outside):
    page = framed(outside, f"{serve('app.py')}/?text=box", "https://example.com")
    app = page.frame_locator("iframe")
    app.get_by_role("radio", name="Decoder self").click()
    expect(app.get_by_text("which earlier tokens")).to_be_visible()
    assert page.evaluate("heard") == [] and urlsplit(page.url).query == ""
