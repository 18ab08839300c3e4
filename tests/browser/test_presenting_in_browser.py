"""A presentation in a real browser: large enough for the back row, walked through by keys, and left without a trace."""

import re

import pytest
from type_sizes import type_of, watch_type
from whole_page import ADDRESSES, expect_whole

from pages.shared.every_page import PAGES

pytestmark = pytest.mark.browser
expect = pytest.importorskip("playwright.sync_api").expect

BACK_ROW = 18  # px


@pytest.fixture
def open_page(serve, new_page):
    def open_page(name, query="present=1", width=1280, height=720):
        page = new_page(width=width, height=height)
        watch_type(page)
        page.goto(f"{serve('app.py')}/{ADDRESSES[name]}?{query}")
        expect_whole(page, name)
        return page

    return open_page


def test_the_arrows_walk_and_escape_ends_it_unless_something_is_in_use(open_page):
    page = open_page("shapes", query="")
    page.get_by_role("button", name="Present").click()
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    page.wait_for_function("typeof window.stopPresenting === 'function'")
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile("ledger=2"), timeout=60_000)
    expect(page.get_by_role("button", name="◀")).to_be_enabled()
    page.keyboard.press("ArrowLeft")
    expect(page).to_have_url(re.compile("ledger=1"), timeout=60_000)

    word = page.get_by_role("textbox", name="Word")
    word.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    word.blur()
    page.locator(".term").first.focus()
    expect(page.locator(".term-meaning")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".term-meaning")).to_be_hidden()
    page.evaluate("document.activeElement.blur()")
    expect(page).to_have_url(re.compile("ledger=1.*present=1|present=1.*ledger=1"))

    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stSidebar")).to_be_visible(timeout=60_000)
    assert page.evaluate("typeof window.stopPresenting") == "undefined"
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(1000)
    expect(page).to_have_url(re.compile("ledger=1"))


@pytest.mark.slow
def test_the_arrows_walk_through_a_word(open_page):
    page = open_page("anchors")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("step 2 / 4", exact=True)).to_be_visible()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_text("step 1 / 4", exact=True)).to_be_visible()


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_everything_is_legible_from_the_back_row_and_one_row_holds_the_controls(open_page, name):
    page = open_page(name)
    expect(page.get_by_role("button", name="End")).to_be_visible()
    for width, height in ((1280, 720), (1920, 1080)):
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(500)
        texts, labels = type_of(page)
        assert texts[0][0] >= BACK_ROW, texts[:10]
        assert not labels or labels[0][0] >= BACK_ROW, labels[:10]
        boxes = [box.bounding_box() for box in page.locator(".st-key-bar :is(input, .st-key-present_end button)").all()]
        bottoms = [box["y"] + box["height"] for box in boxes]
        assert max(bottoms) - min(bottoms) < 20
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


FIRST_CONTENT = 170  # px below the top
SEEN = {  # what a lecturer has on the first screen, all of it
    "playground": (".answer", "[role=radiogroup][aria-label='Attention heads'] [role=radio]"),
    "anchors": (".answer", ".columns > * >> nth=0 >> .sounds", ".columns > * >> nth=1 >> .sounds"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SEEN)
def test_cause_and_effect_are_on_the_first_screen(open_page, name):
    page = open_page(name)
    boxes = [page.locator(part).first.bounding_box() for part in SEEN[name]]
    assert boxes[0]["y"] <= FIRST_CONTENT
    for box in boxes:
        assert box["y"] + box["height"] <= 720, boxes
