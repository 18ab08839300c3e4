"""What tells in a real browser that a page is whole, and that nothing on it complains."""

from pages.shared.every_page import PAGES

ADDRESSES = {name: "" if name == next(iter(PAGES)) else name for name in PAGES}  # the first page's is the server's own
LANDMARKS = {  # what is there when a page is whole; for others a title is enough
    "playground": "[role=radiogroup][aria-label='Attention heads']",
    "anchors": ".panel.anchor",
    "shapes": ".flow",
    "lesson": "[data-testid=stButtonGroup]",
    "compare": ".js-plotly-plot",
    "redundancy": ":is(.js-plotly-plot, table)",
    "wild": "table",
    "article": ".verdicts",
}


def expect_whole(page, name):
    """Wait until all of a page is there; it is neither an error nor the dialog "Page not found"."""
    from playwright.sync_api import expect

    expect(page.locator("[data-test-script-state=notRunning]")).to_be_visible(timeout=120_000)
    expect(page.locator(LANDMARKS.get(name, "h1, h2")).first).to_be_visible(timeout=120_000)
    expect(page.get_by_text("Page not found")).to_have_count(0)
    expect(page.get_by_test_id("stException")).to_have_count(0)


def complaints_of(page, url):
    """A list that grows by what the browser's console says of this page's errors.

    Streamlit's own are left out: below a page's address it looks for the server, and then looks further up.
    """
    probes = {f"{url}/{name}/_stcore/{part}" for name in PAGES for part in ("health", "host-config")}
    found = []

    def watch(message):
        if message.type == "error" and message.location["url"] not in probes:
            found.append(message.text)

    page.on("console", watch)
    return found


# Each colour scheme once, begun at one width and looked at in both.
LOOKS = [{"color_scheme": "light", "width": 1280}, {"color_scheme": "dark", "width": 390}]


def expect_fitting(page, width):
    """Nothing is wider than the screen, on a laptop and on a phone; axe finds nothing at the page's first width."""
    import pytest

    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    found = axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    for other in (width, {1280: 390, 390: 1280}[width]):
        page.set_viewport_size({"width": other, "height": 900})
        page.wait_for_timeout(400)
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
