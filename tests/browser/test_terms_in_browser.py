"""Terms in a real browser: marked once, opened by pointer, keyboard and tap, closed without being in the way."""

import re

import pytest
from whole_page import ADDRESSES, expect_whole

from pages.shared.every_page import PAGES
from pages.shared.texts import catalogue

pytestmark = pytest.mark.browser
expect = pytest.importorskip("playwright.sync_api").expect

# Where the first occurrence of a form is, counted by another walk over the same texts than the page's own.
COVERED = """([name, forms]) => {
    const button = [...document.querySelectorAll(".term")].find(b => b.ariaLabel === name);
    button.scrollIntoView({ block: "center" });
    const box = button.getBoundingClientRect();
    button.style.visibility = "hidden";
    const { offsetNode, offset } = document.caretPositionFromPoint(box.left + 3, box.top + box.height / 2);
    button.style.visibility = "";
    const text = offsetNode.data.toLowerCase();  // the place is before the first letter, or behind a narrow one
    return forms.some(form => [offset, offset - 1].some(at => text.startsWith(form.toLowerCase(), Math.max(0, at))));
}"""


@pytest.fixture
def open_page(serve, new_page):
    def open_page(name, **options):
        page = new_page(**options)
        page.goto(f"{serve('app.py')}/{ADDRESSES[name]}")
        expect_whole(page, name)
        expect(page.locator(".term").first).to_be_visible()
        return page

    return open_page


def meaning(page):
    return page.locator(".term-meaning")


def means(name):
    return next(term["means"] for term in catalogue()["terms"].values() if term["name"] == name)


def test_a_term_opens_by_pointer_and_by_keyboard_and_is_out_of_the_way_afterwards(open_page):
    page = open_page("playground", width=1280, height=720)
    head = page.get_by_role("button", name="head", exact=True)
    expect(head).to_have_count(1)
    head.scroll_into_view_if_needed()
    head.hover()
    expect(meaning(page)).to_contain_text(means("head"))
    page.mouse.move(2, 2)
    expect(meaning(page)).to_be_hidden()

    head.focus()
    expect(meaning(page)).to_contain_text(means("head"))
    page.keyboard.press("Escape")
    expect(meaning(page)).to_be_hidden()
    head.blur()
    head.focus()
    expect(meaning(page)).to_be_visible()
    page.keyboard.press("Tab")
    expect(meaning(page)).to_be_hidden() if not page.evaluate("document.activeElement.matches('.term')") else None
    assert page.evaluate("document.activeElement.ariaLabel") != "head"


@pytest.mark.slow
def test_a_tap_opens_a_term_and_a_tap_elsewhere_closes_it(open_page):
    page = open_page("anchors", width=390, height=844, has_touch=True, is_mobile=True)
    encoder = page.get_by_role("button", name="encoder", exact=True)
    encoder.tap()
    expect(meaning(page)).to_contain_text(means("encoder"))
    box = meaning(page).bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390
    page.touchscreen.tap(3, box["y"] + box["height"] + 100)  # in the margin, below it
    expect(meaning(page)).to_be_hidden()


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_each_term_is_marked_once_over_its_own_word(open_page, name):
    page = open_page(name, width=1280, height=6000)
    page.wait_for_timeout(1500)
    marked = page.locator(".term").evaluate_all("terms => terms.map(term => term.ariaLabel)")
    assert len(marked) == len(set(marked)) > 0
    forms = {term["name"]: [term["name"], *term["also"]] for term in catalogue()["terms"].values()}
    for term in marked:
        assert page.evaluate(COVERED, [term, forms[term]]), term


@pytest.mark.slow
def test_marks_follow_when_the_texts_change(open_page):
    page = open_page("playground", width=1280, height=2000)
    page.get_by_role("radiogroup", name="Attention", exact=True).get_by_role("radio", name="Encoder self").click()
    expect(page).to_have_url(re.compile("kind=encoder"), timeout=60_000)
    expect(page.get_by_text("Each map is one head of the encoder")).to_be_visible()
    page.wait_for_timeout(1500)
    forms = {term["name"]: [term["name"], *term["also"]] for term in catalogue()["terms"].values()}
    for term in page.locator(".term").evaluate_all("terms => terms.map(term => term.ariaLabel)"):
        assert page.evaluate(COVERED, [term, forms[term]]), term
