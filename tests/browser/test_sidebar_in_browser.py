"""The sidebar on a phone, where it is a drawer over the page, and what a phone has in the page instead."""

import re

import pytest
from whole_page import ADDRESSES, expect_whole

from pages.shared.drawer import COLLAPSE
from pages.shared.every_page import PAGES
from pages.shared.texts import label

pytestmark = pytest.mark.browser
expect = pytest.importorskip("playwright.sync_api").expect

PHONE = {"width": 390, "height": 844, "has_touch": True, "is_mobile": True}


@pytest.fixture
def open_page(serve, new_page):
    def open_page(name, **options):
        page = new_page(**options)
        page.goto(f"{serve('app.py')}/{ADDRESSES[name]}")
        expect_whole(page, name)
        return page

    return open_page


def opened_drawer(page):
    page.get_by_test_id("stExpandSidebarButton").tap()
    drawer = page.get_by_test_id("stSidebar")
    expect(drawer).to_be_in_viewport()
    return drawer


def test_the_drawer_closes_when_a_page_or_a_situation_is_chosen(open_page):
    page = open_page("playground", **PHONE)
    drawer = opened_drawer(page)
    assert page.get_by_test_id(COLLAPSE).count() == 1  # Streamlit's button, which is pressed for the visitor
    drawer.get_by_role("link", name=label("app", "redundancy")).tap()
    expect(page.get_by_role("heading", name=label("app", "redundancy"), level=1)).to_be_visible(timeout=60_000)
    expect(drawer).not_to_be_in_viewport()

    drawer = opened_drawer(page)
    drawer.get_by_role("radio", name=label("situation_short", "problem_1"), exact=True).tap()
    expect(page).to_have_url(re.compile("dec_heads=16"), timeout=60_000)
    expect(drawer).not_to_be_in_viewport()

    drawer = opened_drawer(page)
    drawer.get_by_role("radiogroup", name=label("sidebar", "keep")).get_by_role("radio").last.tap()
    expect(page).to_have_url(re.compile("keep=size"), timeout=60_000)
    expect(drawer).to_be_in_viewport()  # one thing more may be wanted of it


@pytest.mark.slow
def test_on_a_wide_screen_the_sidebar_stays_and_a_page_begins_at_its_top(open_page):
    page = open_page("article", width=1280, height=720)
    page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, 1300)")
    page.get_by_role("link", name=label("app", "wild")).click()
    expect(page.get_by_role("heading", name=label("app", "wild"), level=1)).to_be_visible(timeout=60_000)
    expect_whole(page, "wild")
    expect(page.get_by_test_id("stSidebar")).to_be_in_viewport()
    assert page.get_by_test_id("stMain").evaluate("main => main.scrollTop") == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PAGES if name in ("playground", "anchors", "shapes", "redundancy")])
def test_a_phone_has_the_word_and_both_head_counts_in_the_page(open_page, name):
    page = open_page(name, **PHONE)
    main = page.get_by_test_id("stMain")
    word = main.get_by_role("textbox", name=label("spelling", "text"))
    word.fill("phone")
    word.press("Enter")
    expect(page).to_have_url(re.compile("text=phone"), timeout=60_000)
    for side in ("enc", "dec"):
        row = main.get_by_role("radiogroup", name=label("sidebar", f"{side}_heads"), exact=True)
        row.get_by_role("radio", name=re.compile("^4")).tap()
        expect(page).to_have_url(re.compile(f"{side}_heads=4"), timeout=60_000)
    page.set_viewport_size({"width": 1280, "height": 844})
    expect(main.get_by_role("radiogroup", name=label("sidebar", "dec_heads"))).to_have_count(0)
