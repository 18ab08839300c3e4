"""What opens over a page, or in it: axe finds nothing in it, in both colour schemes, on a laptop and on a phone."""

import pytest
from whole_page import LOOKS, expect_whole

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


def offered_training(page):
    page.locator(".st-key-train button").wait_for()


OPENED = {
    "downloads": ("", downloads),
    "copied link": ("", copied_link),
    "QR code": ("", qr_code),
    "term": ("", term),
    "code": ("", code),
    "sidebar": ("", drawer),
    "training": ("?enc_heads=2&dec_heads=4&seed=33", offered_training),
    "class link": ("lesson", class_link),
}


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: look["color_scheme"])
@pytest.mark.parametrize("what", OPENED)
def test_axe_finds_nothing_in_what_is_opened(serve, new_page, what, look):
    address, act = OPENED[what]
    page = new_page(**look)
    page.goto(f"{serve('app.py')}/{address}")
    expect_whole(page, "lesson" if address == "lesson" else "playground")
    expect(page.locator(".term").first).to_be_visible()
    act(page)
    page.wait_for_timeout(500)  # until it has faded in: axe measures colours as they are
    found = axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
