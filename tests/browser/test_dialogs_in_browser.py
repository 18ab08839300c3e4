"""What opens over a page, or in it: axe finds nothing in it, in both colour schemes, on a laptop and on a phone."""

import pytest
from whole_page import ADDRESSES, LOOKS, expect_whole

from pages.shared.texts import label

pytestmark = [pytest.mark.browser, pytest.mark.slow]
expect = pytest.importorskip("playwright.sync_api").expect
axe = pytest.importorskip("axe_playwright_python.sync_playwright")


def open_sidebar(page):
    """On a phone it is a drawer."""
    if page.viewport_size["width"] < 768:
        page.get_by_test_id("stExpandSidebarButton").click()
        expect(page.get_by_test_id("stSidebar")).to_be_visible()
        page.wait_for_timeout(500)  # until it has slid in


def downloads(page):
    page.locator("[data-test-script-state=notRunning]").wait_for()
    page.locator(".st-key-take_large_head button").first.evaluate("node => node.scrollIntoView({ block: 'center' })")
    page.locator(".st-key-take_large_head button").first.click()
    page.get_by_test_id("stPopoverBody").get_by_role("button", name="CSV").wait_for()


def copied_link(page):
    open_sidebar(page)
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.get_by_role("button", name=label("copy_link", "copy")).click()
    expect(page.get_by_label(label("copy_link", "field"))).to_be_focused()


def qr_code(page):
    open_sidebar(page)
    page.locator(".st-key-qr button").first.click()
    page.get_by_test_id("stPopoverBody").locator("img").wait_for()


def term(page):
    page.locator(".term").first.scroll_into_view_if_needed()
    page.locator(".term").first.focus()
    expect(page.locator(".term-meaning")).to_be_visible()


def class_link(page):
    title = page.get_by_text(label("lecturer", "title"), exact=True)
    title.click()
    page.locator(".st-key-lesson_lecturer img, [data-testid=stImage] img").first.wait_for()


def code(page):
    page.get_by_text(label("take", "code"), exact=True).click()
    page.get_by_test_id("stCode").first.wait_for()


def drawer(page):
    open_sidebar(page)


OPENED = {
    "downloads": ("playground", downloads),
    "copied link": ("playground", copied_link),
    "QR code": ("playground", qr_code),
    "term": ("playground", term),
    "code": ("playground", code),
    "sidebar": ("playground", drawer),
    "class link": ("lesson", class_link),
}


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: look["color_scheme"])
@pytest.mark.parametrize("what", OPENED)
def test_axe_finds_nothing_in_what_is_opened(serve, new_page, what, look):
    name, act = OPENED[what]
    page = new_page(**look)
    page.goto(f"{serve('app.py')}/{ADDRESSES[name]}")
    expect_whole(page, name)
    expect(page.locator(".term").first).to_be_visible()
    act(page)
    page.wait_for_timeout(500)  # until it has faded in: axe measures colours as they are
    found = axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
