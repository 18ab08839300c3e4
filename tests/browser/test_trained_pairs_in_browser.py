"""Every pair of head counts that the sidebar offers, clicked in a real browser: each leads to a trained model."""

import re
from itertools import product

import pytest

from pages.shared.sidebar import USUAL
from pages.shared.texts import label

pytestmark = pytest.mark.browser
expect = pytest.importorskip("playwright.sync_api").expect

COUNTS = USUAL["heads"]
FOUR = [(8, 8), (16, 1), (1, 32), (32, 4)]  # beginning with the first visit's
# Each count twice on either side.
TWELVE = [(COUNTS[at], COUNTS[(at + shift) % len(COUNTS)]) for shift in (1, 3) for at in range(len(COUNTS))]
ALL = [(enc, dec) for enc, dec in product(COUNTS, COUNTS)]


def choose(page, side, heads):
    row = page.get_by_role("radiogroup", name=label("sidebar", f"{side}_heads"), exact=True)
    button = row.get_by_role("radio", name=re.compile(rf"^{heads}\b"))
    expect(button).to_have_text(re.compile("●"))
    if button.get_attribute("aria-checked") == "false":
        button.click()
        bare = "|^[^?]*$" if heads == 8 else ""  # as on a first visit
        expect(page).to_have_url(re.compile(rf"\b{side}_heads={heads}\b{bare}"))
        page.locator("[data-test-script-state=notRunning]").wait_for()


@pytest.mark.parametrize(
    "pairs",
    [FOUR, pytest.param(TWELVE, marks=pytest.mark.slow), pytest.param(ALL, marks=pytest.mark.exhaustive)],
    ids=len,
)
def test_each_pair_of_head_counts_leads_to_a_trained_model(serve, new_page, pairs):
    page = new_page()
    page.goto(serve("app.py"))
    maps = page.get_by_role("radiogroup", name="Attention heads").get_by_role("radio")
    for enc, dec in pairs:
        choose(page, "enc", enc)
        choose(page, "dec", dec)
        expect(maps).to_have_count(dec)
        expect(page.locator(".answer .badge.shipped")).to_have_text(
            re.compile(r"^trained [\d,]+ steps: \d+\s% of test words right$")
        )
        expect(page.get_by_text("Random weights")).to_have_count(0)
