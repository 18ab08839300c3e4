"""The page about redundancy in a real browser: change the measure, click a pair, switch a head off, plant a twin."""

import pytest
from whole_page import LOOKS, expect_fitting

pytestmark = pytest.mark.browser
expect = pytest.importorskip("playwright.sync_api").expect
# How a text is decorated, and how far its colour is from the page's.
LOOK = """node => {
    const light = color => color.match(/[\\d.]+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0);
    const [style, page] = [node, document.querySelector(".stApp")].map(one => getComputedStyle(one));
    return [style.textDecorationLine, Math.abs(light(style.color) - light(page.backgroundColor))];
}"""


@pytest.fixture
def open_lab(serve, new_page):
    def open_lab(query="", **options):
        page = new_page(**options)
        page.goto(f"{serve('app.py')}/redundancy?{query}")
        whole = "What every measure says" if "part=pairs" in query else "Before and after"
        expect(page.get_by_text(whole)).to_be_visible(timeout=90_000)
        return page

    return open_lab


def look_at(page, part):
    page.get_by_role("radio", name=part, exact=True).click()


def click_cell(page, chart, row, column, heads):
    """Click the cell of a map of pairs, both counted from 1."""
    area = page.locator(f".st-key-{chart} .nsewdrag").first
    expect(area).to_be_visible(timeout=30_000)
    box = area.bounding_box()
    x, y = ((number - 0.5) / heads for number in (column, row))
    at = box["x"] + x * box["width"], box["y"] + y * box["height"]
    page.mouse.move(*at)
    expect(page.locator(f".st-key-{chart} .hoverlayer .hovertext")).to_be_visible()  # a click takes what is hovered
    page.mouse.click(*at)


@pytest.mark.slow
def test_a_visitor_changes_the_measure_and_clicks_a_pair(open_lab):
    page = open_lab("part=pairs")
    page.get_by_role("combobox", name="Measure").click()
    page.get_by_role("option", name="cosine of contributions").click()
    expect(page.get_by_text("all that the model ever gets from a head")).to_be_visible(timeout=30_000)
    blind = page.get_by_text("two heads may look at different places and still add the same")
    expect(blind).to_be_hidden()
    page.get_by_text("What this measure cannot see").click()
    expect(blind).to_be_visible(timeout=30_000)
    page.wait_for_timeout(500)  # the maps move down below it
    click_cell(page, "pairs_encoder", row=2, column=4, heads=8)
    expect(page.get_by_text("head 2 less head 4")).to_be_visible(timeout=30_000)
    expect(page.get_by_text("What every measure says of heads 2 and 4")).to_be_visible(timeout=30_000)


@pytest.mark.slow
def test_a_visitor_switches_a_head_off_and_plants_a_twin(open_lab):
    page = open_lab()
    expect(page.get_by_text("none switched off yet")).to_be_visible(timeout=30_000)
    switches = page.get_by_test_id("stButtonGroup").filter(has_text="Cross-attention, layer 2")
    third = switches.get_by_text("3", exact=True)
    before = third.evaluate(LOOK)
    assert before[0] == "none"
    third.click()
    expect(page.get_by_text("without 1 head")).to_be_visible(timeout=30_000)
    page.mouse.move(0, 0)
    page.wait_for_timeout(400)  # colours fade
    decoration, contrast = third.evaluate(LOOK)
    assert decoration == "line-through" and contrast < before[1]  # struck through, and fainter than the others
    look_at(page, "Plant a twin")
    expect(page.get_by_role("columnheader", name="same pattern, other V")).to_be_visible(timeout=30_000)
    page.get_by_text("rotated", exact=True).first.click()
    expect(page.get_by_text("What it does to the model: rotated")).to_be_visible(timeout=30_000)


@pytest.mark.slow
@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("part", ["removal&off=cross.2.3", "pairs"])
def test_it_fits_the_screen_and_axe_finds_nothing(open_lab, look, part):
    expect_fitting(open_lab(f"part={part}", **look), look["width"])


@pytest.mark.slow
def test_no_column_beside_the_curve_is_cut_off(open_lab):
    page = open_lab()
    page.get_by_role("button", name="Take all heads away, one by one").click()
    table = page.get_by_role("group", name="Missed most when taken away alone")
    expect(table).to_be_visible(timeout=120_000)
    expect(table.get_by_role("columnheader", name="by gradient")).to_be_visible()
    for width in (1280, 1100):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(500)
        assert table.evaluate("node => node.scrollWidth <= node.clientWidth")
