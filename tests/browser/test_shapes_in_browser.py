"""The page of shapes in a real browser: what clashes is red, each mend leads to a picture, steps can be walked."""

import pytest

from attention.trace import trace_shapes
from benchmarks.browser import Servers
from pages.parts.breaks import BREAKS, apply_break
from pages.parts.settings import Settings
from pages.parts.words import catalogue

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


def choose(page, group, option):
    page.get_by_role("radiogroup", name=group, exact=True).get_by_role("radio", name=option, exact=True).click()


@pytest.mark.parametrize("name", BREAKS)
def test_a_failure_is_red_where_it_clashes_and_every_mend_leads_to_a_picture(open_shapes, name):
    page = open_shapes()
    settings = apply_break(Settings(), name)
    failure = trace_shapes(settings.config, 7, 4, settings.fault).failure
    mends = [mend.label for mend in failure.mends] or [catalogue()["failure"]["fault_mend"]]
    for mend in mends:
        choose(page, catalogue()["shapes"]["breaks"], catalogue()["break"][name])
        for clash in failure.clashes:
            dim = clash.dim.replace("heads × head size", "features")
            marked = page.locator(".flow .dim.clash", has_text=f"{dim} {clash.sizes[0]} ✗").first
            expect(marked).to_be_visible()
            assert marked.evaluate("node => getComputedStyle(node).backgroundColor") == RED
        expect(page.get_by_text(failure.error, exact=True).first).to_be_visible()
        page.get_by_role("button", name=mend, exact=True).click()
        expect(page.locator(".flow .clash")).to_have_count(0)
        expect(page.get_by_text("Changed: ")).to_be_visible()
        expect(page.locator(".flow .meet .block b").last).to_have_text("O")


def test_heads_are_slices_as_wide_as_the_head_size(open_shapes):
    page = open_shapes("enc_heads=8&enc_dim=8&dec_heads=16&dec_dim=8&kv=direct")
    q, k = (page.locator(f".flow .{lane} .block").last for lane in "qk")
    assert q.locator(".slice").count() == 16 and k.locator(".slice").count() == 8
    widths = [block.locator(".slice").first.bounding_box()["width"] for block in (q, k)]
    assert widths[0] == pytest.approx(widths[1], abs=0.6)
    page = open_shapes("enc_heads=8&enc_dim=8&dec_heads=8&dec_dim=4&kv=direct")
    q, k = (page.locator(f".flow .{lane} .block .slice").last.bounding_box()["width"] for lane in "qk")
    assert k == pytest.approx(2 * q, rel=0.1)


def test_stepping_with_the_keyboard(open_shapes):
    page = open_shapes()
    slider = page.get_by_role("slider", name="Step")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_text("10 of 11: merge heads")).to_be_visible()
    expect(page.locator(".flow .arrow.current")).to_contain_text("10. merge heads")


def test_a_silent_failure_can_be_linked(open_shapes):
    page = open_shapes("demo=tiled_kv")
    expect(page.get_by_role("heading", name=catalogue()["silent_titles"]["tiled_kv"])).to_be_visible(timeout=30_000)
    expect(page.locator(".js-plotly-plot")).to_have_count(2)


def test_the_first_address_asked_of_a_server_may_be_a_page(browser, new_page, tmp_path):
    servers = Servers(tmp_path)
    try:
        page = new_page()
        page.goto(f"{servers('app.py')}/shapes?enc_heads=8&dec_heads=16&kv=grouped&keep=size")
        expect(page.locator(".flow")).to_be_visible(timeout=60_000)
        expect(page.get_by_text("Page not found")).to_have_count(0)
        expect(page.get_by_role("radiogroup", name="Encoder heads").get_by_role("radio", name="8")).to_be_checked()
    finally:
        servers.stop()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)])
def test_nothing_is_wider_than_the_screen_and_axe_finds_nothing(open_shapes, scheme, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = open_shapes("enc_heads=8&enc_dim=8&dec_heads=16&dec_dim=4&kv=direct", color_scheme=scheme, width=width)
    expect(page.locator(".flow .dim.clash")).to_have_count(4)
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    found = axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
