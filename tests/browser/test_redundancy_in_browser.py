"""The page about redundancy in a real browser: change the measure, click a pair, switch a head off, plant a twin."""

import pytest

pytestmark = pytest.mark.browser
expect = pytest.importorskip("playwright.sync_api").expect


@pytest.fixture
def open_lab(serve, new_page):
    def open_lab(query="", **options):
        page = new_page(**options)
        page.goto(f"{serve('app.py')}/redundancy?{query}")
        expect(page.get_by_role("heading", name="Two heads")).to_be_visible(timeout=90_000)
        expect(page.get_by_text("What every measure says")).to_be_visible(timeout=60_000)
        return page

    return open_lab


def look_at(page, part):
    page.get_by_role("radio", name=part, exact=True).click()


def click_cell(page, chart, row, column, heads):
    """Click the cell of a map of pairs, both counted from 1."""
    area = page.locator(f".st-key-{chart} .nsewdrag").first
    box = area.bounding_box()
    x, y = ((number - 0.5) / heads for number in (column, row))
    page.mouse.click(box["x"] + x * box["width"], box["y"] + y * box["height"])


def test_a_visitor_changes_the_measure_and_clicks_a_pair(open_lab):
    page = open_lab()
    page.get_by_role("combobox", name="Measure").click()
    page.get_by_role("option", name="cosine of contributions").click()
    expect(page.get_by_text("all that the rest of the model ever gets from a head")).to_be_visible(timeout=30_000)
    click_cell(page, "pairs_encoder", row=2, column=4, heads=4)
    expect(page.get_by_text("head 2 less head 4")).to_be_visible(timeout=30_000)
    expect(page.get_by_text("What every measure says of heads 2 and 4")).to_be_visible(timeout=30_000)


def test_a_visitor_switches_a_head_off_and_plants_a_twin(open_lab):
    page = open_lab()
    look_at(page, "Take heads away")
    expect(page.get_by_text("none switched off yet")).to_be_visible(timeout=30_000)
    switches = page.get_by_test_id("stButtonGroup").filter(has_text="Cross-attention, layer 2")
    switches.get_by_text("3", exact=True).click()
    expect(page.get_by_text("without 1 head")).to_be_visible(timeout=30_000)
    look_at(page, "Plant a twin")
    expect(page.get_by_role("columnheader", name="same pattern, other V")).to_be_visible(timeout=30_000)
    page.get_by_text("rotated", exact=True).first.click()
    expect(page.get_by_text("What it does to the model: rotated")).to_be_visible(timeout=30_000)


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_screen(open_lab, width):
    page = open_lab(width=width)
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_to_mend(open_lab, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = open_lab(color_scheme=scheme)
    found = axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
