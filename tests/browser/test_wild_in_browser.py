"""The page about real models in a real browser: a click and a link lead to the same miniature."""

import re

import pytest
from whole_page import expect_fitting

pytestmark = pytest.mark.browser
expect = pytest.importorskip("playwright.sync_api").expect


@pytest.fixture
def open_wild(serve, new_page):
    """The page as visitors come to it: from the playground, whose settings come along."""

    def open_wild(query="", **options):
        page = new_page(**options)
        page.goto(f"{serve('app.py')}/?{query}")
        expect(page.get_by_text("Do the query heads look alike?")).to_be_visible(timeout=60_000)
        page.get_by_role("link", name="Published models").click()
        expect(page.get_by_role("heading", name="Published models", level=1)).to_be_visible(timeout=30_000)
        expect(page.get_by_role("heading", name="Claims about published models")).to_be_visible(timeout=30_000)
        return page

    return open_wild


def heads(page):
    return page.get_by_role("radiogroup", name="Attention heads").get_by_role("radio")


@pytest.mark.slow
def test_a_click_opens_a_miniature_and_its_settings_come_along(open_wild):
    page = open_wild("text=cat&dec_heads=16")
    expect(
        page.get_by_text("As set on the playground, “cat”")
    ).to_be_visible()  # settings came along from the playground
    expect(page.get_by_text("2 × 2 × 16 heads × 4 × 4 tokens")).to_be_visible()
    page.get_by_role("button", name="T5Gemma 9B-2B").click()
    expect(heads(page)).to_have_count(8, timeout=30_000)
    expect(page.get_by_text("Miniature of T5Gemma 9B-2B")).to_be_visible()
    expect(page.get_by_text("random weights").first).to_be_visible()
    expect(page).to_have_url(re.compile(r"/\?.*text=cat.*enc_kv_heads=8.*dec_kv_heads=4"))


@pytest.mark.slow
def test_a_link_opens_the_same_miniature_anew(open_wild):
    page = open_wild("text=cat")
    link = page.get_by_role("row", name="Llama 3.2 11B Vision").get_by_role("link").first
    page.goto(link.evaluate("link => link.href"))  # as if it had been sent to somebody
    expect(heads(page)).to_have_count(32, timeout=60_000)
    expect(page.get_by_text("Miniature of Llama 3.2 11B Vision")).to_be_visible()
    expect(page.get_by_text("32 query heads read 8 K/V heads")).to_be_visible()


@pytest.mark.slow
def test_the_table_stays_a_table_at_every_width(open_wild):
    page = open_wild()
    for width in (390, 800, 1160, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(500)
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        table = page.get_by_role("table", name="The figures")
        expect(table.get_by_role("rowheader")).to_have_count(15)
        expect(table.get_by_role("cell", name="16·8 × 256")).to_have_count(1)
        box = table.bounding_box()
        assert box["x"] + box["width"] <= width
        assert page.locator(".table.published").evaluate("table => table.scrollWidth <= table.clientWidth")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_the_screen_and_axe_finds_nothing(open_wild, scheme):
    page = open_wild(color_scheme=scheme)
    expect(page.locator(".js-plotly-plot").last).to_be_visible()
    expect_fitting(page, 1280)


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_no_name_of_a_published_model_covers_another(serve, new_page, width):
    page = new_page(width=width, height=900)
    page.goto(f"{serve('app.py')}/wild")
    names = page.locator(".st-key-head_counts :is(.scatterlayer, .infolayer .annotation) text")
    expect(names.filter(has_text="BLIP-2")).to_be_visible(timeout=60_000)
    told = """all => all.map(node => {
        const { left, right, top, bottom } = node.getBoundingClientRect();
        return [node.textContent, left, right, top, bottom];
    })"""
    boxes = names.evaluate_all(told)
    assert len(boxes) >= 14
    frame = page.locator(".st-key-head_counts .main-svg").first.bounding_box()
    for one, left, right, top, bottom in boxes:
        assert frame["x"] <= left and right <= frame["x"] + frame["width"], one
        for other, *ends in boxes:
            beside = right <= ends[0] or ends[1] <= left or bottom <= ends[2] or ends[3] <= top
            assert one == other or beside, (one, other)
