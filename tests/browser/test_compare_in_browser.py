"""The comparison page in a real browser: the stored result is there, a tiny comparison starts and stops."""

import re

import pytest
from whole_page import LOOKS, expect_fitting

pytestmark = [pytest.mark.browser, pytest.mark.slow]
expect = pytest.importorskip("playwright.sync_api").expect


@pytest.fixture
def open_page(serve, new_page):
    def open_page(**options):
        page = new_page(**options)
        page.goto(f"{serve('app.py')}/compare")
        expect(page.get_by_text("Download as CSV")).to_be_visible(timeout=60_000)
        return page

    return open_page


def choose(page, group, option):
    page.get_by_role("radiogroup", name=group, exact=True).get_by_role("radio", name=option, exact=True).click()


def test_it_opens_on_a_result_and_a_comparison_starts_and_stops(open_page):
    page = open_page()
    stop = page.locator(".st-key-compare_stop").get_by_role("button")  # Streamlit has a Stop button of its own
    expect(page.get_by_text("Stored result")).to_be_visible()
    expect(page.locator(".js-plotly-plot")).to_have_count(3)
    choose(page, "Task", "Reverse")
    choose(page, "Encoder heads", "2")
    page.locator("[data-test-script-state=notRunning]").wait_for()
    page.get_by_role("button", name="Train and compare").click()
    expect(page.get_by_text("finished: 0 of")).to_be_visible(timeout=60_000)
    stop.click()
    expect(page.get_by_role("button", name=re.compile("Go on|Train and compare"))).to_be_visible(timeout=30_000)
    expect(stop).to_have_count(0)


@pytest.mark.parametrize("look", LOOKS)
def test_it_fits_the_screen_and_axe_finds_nothing(open_page, look):
    page = open_page(**look)
    expect(page.locator(".js-plotly-plot").last).to_be_visible()
    expect_fitting(page, look["width"])
