"""The head grid in a real browser: what it draws, lights, sends and keeps."""

from pathlib import Path

import numpy as np
import pytest

from attention.figures.colors import table
from attention.figures.palette import DARK, palette

pytestmark = pytest.mark.browser
expect = pytest.importorskip("playwright.sync_api").expect

APP = Path(__file__).parent / "apps" / "head_grid_app.py"
ROWS = ["<s>", "a<b>c", "$x$", "🙂", "1"]
COLS = ["注意", "a<b>c", "*b*", "</s>", "1", "1", ":cat:"]
READ_PIXELS = """canvas => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return { width: canvas.width, height: canvas.height, data: [...data] };
}"""


def weight(head, row, col, updates=0, layer=1):
    return ((5 * layer + 7 * head + 3 * row + col + updates) % 11) / 10


@pytest.fixture
def open_app(serve, new_page):
    def open_app(query="", **options):
        page = new_page(**options)
        page.goto(f"{serve(APP)}/?{query}")
        expect(heads(page).first).to_be_visible(timeout=30_000)
        expect(page.get_by_text("updates 0, picks 0")).to_be_visible()
        return page

    return open_app


def heads(page, group=0):
    return page.get_by_role("radiogroup", name="Attention heads").nth(group).get_by_role("radio")


def point_at(page, head, row, col, act="hover"):
    area = heads(page).nth(head).locator(".map")
    area.scroll_into_view_if_needed()
    box = area.bounding_box()
    at = {"x": (col + 0.5) * box["width"] / len(COLS), "y": (row + 0.5) * box["height"] / len(ROWS)}
    getattr(area, act)(position=at)


def press_without_pointer(page, name):
    """A click that moves neither the pointer nor the focus."""
    page.get_by_role("button", name=name).evaluate("button => button.click()")


def pixels(page, head):
    """(rows, cols, 4) uint8: one pixel per cell."""
    read = heads(page).nth(head).locator("canvas").evaluate(READ_PIXELS)
    return np.array(read["data"], dtype=np.uint8).reshape(read["height"], read["width"], 4)


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_pixels_are_the_weights_in_the_colours_of_the_theme(open_app, scheme):
    page = open_app(color_scheme=scheme)
    expect(heads(page)).to_have_count(5)
    colors = table(palette(scheme).sequential)
    for head in range(5):
        expected = [[weight(head, row, col) for col in range(len(COLS))] for row in range(len(ROWS))]
        sent = np.rint(1000 * np.array(expected))  # in the three decimals that are shown
        levels = np.floor(255 * sent / 1000 + 0.5).astype(int)  # as JavaScript rounds
        drawn = pixels(page, head)
        assert (drawn[..., 3] == 255).all()
        np.testing.assert_array_equal(drawn[..., :3], colors[levels])


@pytest.mark.slow
def test_a_theme_switch_redraws(open_app):
    page = open_app(color_scheme="light")
    expect(heads(page)).to_have_count(5)
    canvas = heads(page).first.locator("canvas").evaluate_handle("canvas => canvas")
    page.emulate_media(color_scheme="dark")
    first = table(DARK.sequential)[round(255 * weight(0, 0, 0))].tolist()
    same = """([canvas, color]) =>
        canvas.getContext('2d').getImageData(0, 0, 1, 1).data.slice(0, 3).join() === color.join()"""
    page.wait_for_function(same, arg=[canvas, first])


def test_pointing_lights_the_same_cell_in_every_head(open_app):
    page = open_app()
    readout = page.get_by_role("status").filter(has_text="Point at a cell")
    expect(readout).to_be_visible()
    height = page.locator(".footer").bounding_box()["height"]
    first_map = heads(page).first.locator(".map")
    place = first_map.bounding_box()

    point_at(page, head=2, row=3, col=5)
    readout = page.locator(".readout")
    expect(readout).to_have_text("query (decoder)🙂4/5key (encoder)16/7head 3" + f"{weight(2, 3, 5):.3f}")
    for head in range(5):
        tile = heads(page).nth(head)
        expect(tile.locator(".value")).to_have_text(f"{weight(head, 3, 5):.3f}")
        expect(tile.locator(".cols .lit")).to_have_text("1")
        mark, area = tile.locator(".mark").bounding_box(), tile.locator(".map").bounding_box()
        assert mark["x"] - area["x"] == pytest.approx(5 / 7 * area["width"], abs=0.6)
        assert mark["y"] - area["y"] == pytest.approx(3 / 5 * area["height"], abs=0.6)
    assert page.locator(".footer").bounding_box()["height"] == height
    assert first_map.bounding_box() == place  # nothing jumps

    page.mouse.move(2, 2)
    expect(page.locator(".readout")).to_contain_text("Point at a cell")
    expect(page.locator(".lit")).to_have_count(0)


@pytest.mark.slow
def test_a_click_picks_a_head_every_time(open_app):
    page = open_app()
    expect(heads(page).nth(0)).to_have_attribute("aria-checked", "true")
    heads(page).nth(3).click()
    expect(page.get_by_text("updates 0, picks 1, chosen (1, 3), returned (1, 3)")).to_be_visible()
    expect(heads(page).nth(3)).to_have_attribute("aria-checked", "true")
    expect(heads(page).and_(page.locator("[aria-checked=true]"))).to_have_count(1)
    heads(page).nth(3).click()
    expect(page.get_by_text("picks 2, chosen (1, 3)")).to_be_visible()
    point_at(page, head=2, row=3, col=5, act="click")
    expect(page.get_by_text("picks 3, chosen (1, 2), returned (1, 2), cell (3, 5)")).to_be_visible()
    heads(page).nth(1).locator(".captions").click()
    expect(page.get_by_text("picks 4, chosen (1, 1), returned (1, 1), cell None")).to_be_visible()


@pytest.mark.slow
def test_keyboard(open_app):
    page = open_app()
    expect(heads(page).and_(page.locator("[tabindex='0']"))).to_have_count(1)  # one stop for Tab
    heads(page).nth(0).focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("chosen (1, 1), returned (1, 1)")).to_be_visible()
    expect(heads(page).nth(1)).to_be_focused()  # also after Python has answered
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_text("chosen (1, 0)")).to_be_visible()
    page.keyboard.press("ArrowDown")  # three heads stand in a row at this width
    expect(page.get_by_text("chosen (1, 3)")).to_be_visible()
    page.keyboard.press("ArrowUp")
    expect(page.get_by_text("chosen (1, 0)")).to_be_visible()
    page.keyboard.press("End")
    expect(page.get_by_text("chosen (1, 4)")).to_be_visible()
    expect(heads(page).nth(4)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text("picks 6, chosen (1, 4)")).to_be_visible()
    for _ in range(2):
        page.keyboard.press("Shift+ArrowDown")
    expect(page.locator(".readout")).to_contain_text("a<b>c2/5")
    expect(page.get_by_text("chosen (1, 4), returned (1, 4), cell (1, 0)")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".readout")).to_contain_text("Point at a cell")


@pytest.mark.slow
def test_a_held_arrow_key_sends_only_the_last_head(open_app):
    page = open_app("heads=11")
    heads(page).nth(0).focus()
    heads(page).nth(0).evaluate(
        """(node) => { for (let i = 0; i < 5; i++) node.getRootNode().activeElement.dispatchEvent(
            new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true })); }"""
    )
    expect(page.get_by_text("picks 1, chosen (1, 5)")).to_be_visible()


@pytest.mark.slow
def test_names_for_a_screen_reader(open_app):
    page = open_app("compact=1")
    expect(heads(page).nth(1)).to_have_accessible_name("head 2, entropy 0.1")
    expect(heads(page, group=1).nth(4)).to_have_accessible_name("layer 2, head 2, entropy 0.1")


@pytest.mark.slow
def test_labels_are_literal(open_app):
    page = open_app()
    tile = heads(page).first
    assert tile.locator(".rows span").all_text_contents() == ROWS
    assert tile.locator(".cols span").all_text_contents() == COLS
    assert page.locator(".cols b, .readout b").count() == 0
    point_at(page, head=0, row=1, col=2)
    expect(page.locator(".readout .token")).to_have_text(["a<b>c", "*b*"])


@pytest.mark.slow
def test_updates_change_numbers_and_make_no_nodes(open_app):
    page = open_app()
    nodes = page.locator(".root *")
    before = nodes.count()
    heads(page).nth(2).evaluate("node => { node.sameNode = true; }")
    point_at(page, head=1, row=0, col=0)
    for update in range(1, 6):
        press_without_pointer(page, "update")
        expect(page.get_by_text(f"updates {update}, picks 0")).to_be_visible()
        expect(heads(page).nth(4).locator(".value")).to_have_text(f"{weight(4, 0, 0, update):.3f}")
    page.mouse.move(2, 2)
    expect(page.locator(".readout")).to_contain_text("Point at a cell")
    assert nodes.count() <= before
    assert heads(page).nth(2).evaluate("node => node.sameNode")
    heads(page).nth(1).click()
    expect(page.get_by_text("picks 1, chosen (1, 1)")).to_be_visible()  # one listener: one pick


@pytest.mark.slow
def test_focus_moves_to_a_head_that_is_left(open_app):
    page = open_app()
    heads(page).nth(4).click()
    expect(page.get_by_text("picks 1")).to_be_visible()
    press_without_pointer(page, "fewer heads")
    expect(heads(page)).to_have_count(3)
    expect(heads(page).nth(2)).to_be_focused()
    expect(page.get_by_text("returned None")).to_be_visible()  # the picked head is gone


@pytest.mark.slow
def test_masked_cells_are_blank_and_rows_without_keys_say_so(open_app):
    page = open_app("mask=1")
    expect(heads(page)).to_have_count(5)
    open_cells = np.tri(len(ROWS), len(COLS), dtype=bool)
    open_cells[2] = False
    np.testing.assert_array_equal(pixels(page, 1)[..., 3] == 255, open_cells)
    point_at(page, head=0, row=2, col=1)
    expect(page.locator(".readout")).to_have_text("query (decoder)$x$3/5key (encoder)a<b>c2/7no keys")
    expect(heads(page).first.locator(".value")).to_have_text("–")
    point_at(page, head=0, row=1, col=4)
    expect(page.locator(".readout .closed")).to_have_text("masked")


@pytest.mark.slow
def test_overview(open_app):
    page = open_app("compact=1")
    overview = heads(page, group=1)
    expect(overview).to_have_count(6)
    expect(page.locator(".section-title:visible")).to_have_text(["layer 1", "layer 2"])
    overview.nth(4).click()
    expect(page.get_by_text("picks 1, chosen (1, 1)")).to_be_visible()
    expect(heads(page).nth(1)).to_have_attribute("aria-checked", "true")  # the other grid follows
    overview.nth(4).focus()
    page.keyboard.press("ArrowUp")
    expect(page.get_by_text("picks 2, chosen (0, 1)")).to_be_visible()


@pytest.mark.slow
def test_phone(open_app):
    page = open_app(width=390, height=844, has_touch=True, is_mobile=True, device_scale_factor=2)
    boxes = [heads(page).nth(head).bounding_box() for head in range(5)]
    assert [round(box["y"]) == round(boxes[0]["y"]) for box in boxes] == [True, True, False, False, False]
    assert all(box["x"] + box["width"] <= 390 for box in boxes)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    point_at(page, head=1, row=2, col=1, act="tap")
    expect(page.locator(".readout .token")).to_have_text(["$x$", "a<b>c"])
    expect(page.get_by_text("chosen (1, 1), returned (1, 1), cell (2, 1)")).to_be_visible()


@pytest.mark.slow
def test_sizes_follow_the_window(open_app):
    page = open_app(width=1600)
    first = heads(page).first
    cells = first.locator("canvas").evaluate_handle("canvas => canvas")
    before = first.locator(".map").bounding_box()["width"]
    page.set_viewport_size({"width": 700, "height": 900})
    page.wait_for_function("([canvas, width]) => canvas.clientWidth < width", arg=[cells, before])
    for head in heads(page).all():
        box = head.bounding_box()
        assert box["x"] + box["width"] <= 700
    width = first.locator(".map").bounding_box()["width"]
    assert width == pytest.approx(7 * round(width / 7))  # whole pixels, so that all cells are equal


def drawn(page, head):
    """(height, width) bool: where lines are, in device pixels."""
    read = heads(page).nth(head).locator("canvas").evaluate(READ_PIXELS)
    return np.array(read["data"], dtype=np.uint8).reshape(read["height"], read["width"], 4)[..., 3] > 40


def runs(line):
    """Where the stretches of True in a row of pixels are: (middles, widths)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], line.astype(int), [0]])))
    return (edges[::2] + edges[1::2]) / 2, edges[1::2] - edges[::2]


def point_at_token(page, head, side, at, count, act="hover"):
    """The middle of a token's share of the upper or lower half."""
    area = heads(page).nth(head).locator(".map")
    area.scroll_into_view_if_needed()
    box = area.bounding_box()
    y = box["height"] * (0.2 if side == "col" else 0.8)
    getattr(area, act)(position={"x": (at + 0.5) * box["width"] / count, "y": y})


@pytest.mark.slow
def test_lines_are_as_thick_as_the_weights_and_those_of_one_token_stay(open_app):
    page = open_app("lines=1")
    expect(heads(page)).to_have_count(5)
    tile = heads(page).first
    assert tile.locator(".cols span").all_text_contents() == COLS
    assert tile.locator(".rows span").all_text_contents() == ROWS
    whole = drawn(page, 1)

    point_at_token(page, head=0, side="row", at=3, count=len(ROWS))
    expect(page.locator(".readout")).to_contain_text("query (decoder)🙂4/5head 1")
    for head in (0, 1):
        weights = [weight(head, 3, col) for col in range(len(COLS))]
        best = int(np.argmax(weights))
        expect(heads(page).nth(head).locator(".value")).to_have_text(f"{COLS[best]} {weights[best]:.2f}")
        lit = drawn(page, head)
        middles, widths = runs(lit[0])  # where the lines arrive, in order of the keys
        there = [col for col, value in enumerate(weights) if value > 0]
        np.testing.assert_allclose(middles, [(col + 0.5) * lit.shape[1] / len(COLS) for col in there], atol=1)
        thickest = min(14, lit.shape[1] / len(COLS))
        np.testing.assert_allclose(widths, [weights[col] * thickest for col in there], atol=1.5)
        middle, _ = runs(lit[-1])
        np.testing.assert_allclose(middle, [3.5 * lit.shape[1] / len(ROWS)], atol=1)
    assert drawn(page, 1).sum() < whole.sum()
    expect(tile.locator(".rows .lit")).to_have_text("🙂")

    point_at_token(page, head=0, side="col", at=0, count=len(COLS))
    expect(page.locator(".readout")).to_contain_text("key (encoder)注意1/7")
    middle, _ = runs(drawn(page, 1)[0])
    np.testing.assert_allclose(middle, [0.5 * whole.shape[1] / len(COLS)], atol=1)
    page.mouse.move(2, 2)
    expect(page.locator(".readout")).to_contain_text("Point at a token")
    np.testing.assert_array_equal(drawn(page, 1), whole)


@pytest.mark.slow
def test_the_keyboard_goes_from_token_to_token(open_app):
    page = open_app("lines=1")
    heads(page).first.focus()
    for key, told in [
        ("Right", "注意1/7"),
        ("Right", "a<b>c2/7"),
        ("Down", "a<b>c2/5"),
        ("Left", "<s>1/5"),
        ("Up", "注意1/7"),
    ]:
        page.keyboard.press(f"Shift+Arrow{key}")
        expect(page.locator(".readout")).to_contain_text(told)
    page.keyboard.press("Escape")
    expect(page.locator(".readout")).to_contain_text("Point at a token")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("chosen (1, 1)")).to_be_visible()


@pytest.mark.slow
def test_a_tap_on_a_token_keeps_its_lines(open_app):
    page = open_app("lines=1&mask=1", width=390, height=844, has_touch=True, is_mobile=True, device_scale_factor=2)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    point_at_token(page, head=1, side="row", at=2, count=len(ROWS), act="tap")
    expect(page.locator(".readout")).to_contain_text("$x$3/5head 2no keys")
    assert not drawn(page, 0).any()
    expect(page.get_by_text("chosen (1, 1)")).to_be_visible()


def test_the_server_log_is_clean(open_app, serve):
    open_app()
    assert serve.unexpected(serve(APP)) == []
