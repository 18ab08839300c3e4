"""The page of shapes in a real browser: red clashes, suggestions that lead to a picture, steps."""

import pytest
from whole_page import LOOKS, expect_fitting

from attention.shapes import trace_shapes
from pages.shapes.address import FAULT
from pages.shapes.situations import BREAKS, apply_break
from pages.shared.ledger import dim_name
from pages.shared.settings import Settings
from pages.shared.texts import catalogue, say

pytestmark = pytest.mark.browser
expect = pytest.importorskip("playwright.sync_api").expect
RED = "rgb(198, 40, 40)"


@pytest.fixture
def open_shapes(serve, new_page):
    def open_shapes(query="", **options):
        page = new_page(**options)
        page.goto(f"{serve('app.py')}/shapes?{query}")
        expect(page.locator(".flow")).to_be_visible(timeout=60_000)
        return page

    return open_shapes


def choose(page, title, option):
    """Open a list and choose; a run that comes to its end in between closes the list, so it is opened again."""
    offered = page.get_by_role("option", name=option, exact=True)
    for _ in range(5):
        page.get_by_role("combobox", name=title).click()
        page.wait_for_timeout(500)
        if offered.is_visible():
            break
    offered.click()


def rows_of(page):
    """What is drawn, line by line: the number of each block's step, or None for what a row begins with."""
    blocks = page.locator(".flow .block").evaluate_all(
        "blocks => blocks.map(one => [one.getBoundingClientRect().top, one.getBoundingClientRect().left,"
        " parseInt(one.querySelector('.step').textContent) || null])"
    )
    rows = {}
    for top, left, number in blocks:
        rows.setdefault(round(top), []).append((left, number))
    return [[number for _, number in sorted(rows[top])] for top in sorted(rows)]


@pytest.mark.slow
@pytest.mark.parametrize("name", list(BREAKS)[::3])  # all of them without a browser: tests/pages/shapes
def test_a_failure_is_red_where_it_clashes_and_every_suggestion_leads_to_a_picture(open_shapes, name):
    page = open_shapes()
    settings = apply_break(Settings(), name)
    failure = trace_shapes(settings.config, 7, 4, settings[FAULT]).failure
    buttons = [say("ledger_suggestion", one.message) for one in failure.suggestions]
    for button in buttons or [catalogue()["failure"]["without_fault"]]:
        choose(page, catalogue()["shapes"]["breaks"], catalogue()["break"][name])
        for clash in failure.clashes:
            dim = dim_name(clash.dim, short=True)
            marked = page.locator(".flow .dim.clash", has_text=f"{dim} {clash.sizes[0]} ✗").first
            expect(marked).to_be_visible()
            assert marked.evaluate("node => getComputedStyle(node).backgroundColor") == RED
        expect(page.get_by_text(failure.error, exact=True).first).to_be_visible()
        page.get_by_role("button", name=button).first.click()  # it may have a mark behind its name
        expect(page.locator(".flow .clash")).to_have_count(0)
        expect(page.get_by_text("Changed: ")).to_be_visible()
        expect(page.locator(".flow .meet .names b").last).to_have_text("O")


@pytest.mark.slow
def test_heads_are_slices_as_wide_as_the_head_size(open_shapes):
    page = open_shapes("enc_heads=8&enc_dim=8&dec_heads=16&dec_dim=8&kv=direct")
    q, k = (page.locator(f".flow .{lane} .block").last for lane in "qk")
    assert q.locator(".slice").count() == 16 and k.locator(".slice").count() == 8
    widths = [block.locator(".slice").first.bounding_box()["width"] for block in (q, k)]
    assert widths[0] == pytest.approx(widths[1], abs=0.6)
    page = open_shapes("enc_heads=8&enc_dim=8&dec_heads=8&dec_dim=4&kv=direct")
    q, k = (page.locator(f".flow .{lane} .block .slice").last.bounding_box()["width"] for lane in "qk")
    assert k == pytest.approx(2 * q, rel=0.1)


FIX_3 = "enc_heads=8&enc_dim=8&dec_heads=16&dec_dim=8&keep=size&kv=extra"


@pytest.mark.parametrize("width", [1280, *(pytest.param(width, marks=pytest.mark.slow) for width in (390, 800, 1920))])
def test_rows_read_from_left_to_right_in_the_order_of_the_steps(open_shapes, width):
    page = open_shapes(FIX_3, width=width, height=1080)
    rows = rows_of(page)
    numbers = [number for row in rows for number in row if number]
    assert numbers == list(range(1, 16))
    if width >= 1280:  # no row is broken, so that no block stands alone
        assert list(map(len, rows)) == [3, 6, 6, 5]


ONE_SCREEN = {
    "fix_3": FIX_3,
    "equal": "enc_heads=8&dec_heads=8",
    "states": f"{FIX_3}&kv_variant=states",
    "fails": f"{FIX_3[:-5]}direct",
}


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) for name in ONE_SCREEN])
def test_picture_slider_formula_and_code_are_on_one_screen(open_shapes, name):
    """At 1280 × 720, without scrolling, at every step."""
    page = open_shapes(ONE_SCREEN[name], height=720)
    slider = page.get_by_role("slider", name="Step")
    slider.focus()
    page.keyboard.press("Home")
    count = int(slider.get_attribute("max"))
    for number in range(1, count + 1):
        title = page.get_by_text(f"{number} of {count}: ")
        expect(title).to_be_visible()
        panel = page.locator("[data-testid=stMarkdownContainer]", has=title)
        for part in (slider, panel.locator(".katex"), panel.locator("code"), page.locator(".flow")):
            box = part.bounding_box()
            assert box["y"] >= 0 and box["y"] + box["height"] <= 720, (number, box)
        page.keyboard.press("ArrowRight")


@pytest.mark.slow
def test_stepping_with_the_keyboard(open_shapes):
    page = open_shapes()
    slider = page.get_by_role("slider", name="Step")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("2 of 11: split Q into heads")).to_be_visible()
    expect(page.locator(".flow .block.current .step")).to_have_text("2. split Q into heads")


@pytest.mark.slow
def test_a_silent_failure_can_be_linked(open_shapes):
    page = open_shapes("demo=tiled_kv")
    expect(page.get_by_role("heading", name=catalogue()["silent_titles"]["tiled_kv"])).to_be_visible(timeout=30_000)
    expect(page.locator(".js-plotly-plot")).to_have_count(2)


@pytest.mark.slow
@pytest.mark.parametrize("look", LOOKS)
def test_it_fits_the_screen_and_axe_finds_nothing(open_shapes, look):
    page = open_shapes("enc_heads=8&enc_dim=8&dec_heads=16&dec_dim=4&kv=direct", **look)
    expect(page.locator(".flow .dim.clash")).to_have_count(4)
    expect_fitting(page, look["width"])
