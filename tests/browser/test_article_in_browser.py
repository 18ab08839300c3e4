"""The article page in a browser: from the table to a claim, its experiment, and both situations; nothing too wide."""

import re

import pytest
from whole_page import LOOKS, expect_fitting, expect_whole

pytestmark = pytest.mark.browser
pytest.importorskip("playwright.sync_api")


@pytest.mark.slow
@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_the_page_fits_with_experiments_open(serve, new_page, look):
    page = new_page(**look)
    page.goto(f"{serve('app.py')}/article?claim=A5-A6-A12")
    expect_whole(page, "article")
    expect_fitting(page, look["width"])


def test_from_the_table_to_a_claim_and_its_experiment_and_on_to_its_situation(serve, new_page):
    from playwright.sync_api import expect

    page = new_page()
    page.goto(f"{serve('app.py')}/article?text=cat")
    expect_whole(page, "article")
    page.get_by_role("link", name="A5 The mismatch").click()
    heading = page.get_by_role("heading", name="A5 · The mismatch")
    expect(heading).to_be_in_viewport()
    assert "text=cat" in page.url
    page.get_by_text("Try it: the mismatch, step by step").click()
    expect(page.get_by_text("The size of tensor a (16) must match").first).to_be_visible()
    expect(page).to_have_url(re.compile("claim=A5"))
    page.reload()
    expect(page.get_by_text("The size of tensor a (16) must match").first).to_be_visible()
    page.locator(".st-key-playground_A5 button").click()
    expect(page).to_have_url(re.compile("kv=direct"))
    expect(page.get_by_text("Cross-attention does not run").first).to_be_visible()
    assert "text=cat" in page.url and "dec_heads=16" in page.url
