"""The playground in a real browser: the maps painted are the maps computed, and what people click does what it says."""

import re

import numpy as np
import pytest
from whole_page import LOOKS, expect_fitting

from attention.checkpoints import load
from attention.figures.colors import table
from attention.figures.palette import LIGHT
from attention.inspection import inspect_word
from attention.tasks import get_task
from pages.shared.settings import Settings, read_address
from pages.shared.situations import apply_situation

pytestmark = pytest.mark.browser
expect = pytest.importorskip("playwright.sync_api").expect

READ_PIXELS = """canvas => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return { width: canvas.width, height: canvas.height, data: [...data] };
}"""


@pytest.fixture
def open_app(serve, new_page):
    def open_app(query="", **options):
        page = new_page(**options)
        page.goto(f"{serve('app.py')}/?{query}")
        expect(page.get_by_text("Do the query heads look alike?")).to_be_visible(timeout=60_000)
        return page

    return open_app


def heads(page):
    return page.get_by_role("radiogroup", name="Attention heads").get_by_role("radio")


def choose(page, group, option):
    """An option by its name; some have a mark after it."""
    name = re.compile(rf"^{re.escape(option)}\W*$")
    page.get_by_role("radiogroup", name=group, exact=True).get_by_role("radio", name=name).click()


def painted(page, head):
    """(q_len, kv_len, 3): the colour of each cell of a head's map."""
    read = heads(page).nth(head).locator("canvas").evaluate(READ_PIXELS)
    return np.array(read["data"], dtype=np.uint8).reshape(read["height"], read["width"], 4)[..., :3]


def computed(settings):
    model, _ = load(settings.task, settings.config)
    view = inspect_word(model, get_task(settings.task), get_task(settings.task).read(settings.text))
    return view.layers[settings.kind][settings.layer - 1].weights


def expect_maps(page, settings):
    weights = computed(settings)
    expect(heads(page)).to_have_count(len(weights))
    colors = table(LIGHT.sequential)
    for head, rows in enumerate(weights):
        sent = np.rint(1000 * np.float64(rows))  # in the three decimals that are shown
        levels = np.floor(255 * sent / 1000 + 0.5).astype(int)
        np.testing.assert_array_equal(painted(page, head), colors[levels])


@pytest.mark.slow
def test_the_first_visit_paints_the_eight_maps_that_the_library_computes(open_app):
    page = open_app()
    expect_maps(page, Settings())
    expect(page.get_by_text("the lexicon agrees")).to_be_visible()


@pytest.mark.parametrize("touch", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_square_that_is_clicked_or_reached_by_keyboard_is_taken_apart(open_app, touch):
    page = open_app("layer=2", has_touch=touch, width=390 if touch else 1280)
    weights = computed(Settings())
    told = "Head {} of layer 2: the query that predicts “{}” looks at “{}” with weight {:.3f}."

    def at(head, row, column):
        tokens = ("n", "aɪ", "t", "</s>")[row], (*"knight", "</s>")[column]
        return page.get_by_text(told.format(head + 1, *tokens, weights[head, row, column]))

    area = heads(page).nth(2).locator(".map")
    area.scroll_into_view_if_needed()
    box = area.bounding_box()
    place = {"x": 3.5 / 7 * box["width"], "y": 1.5 / 4 * box["height"]}
    area.tap(position=place) if touch else area.click(position=place)
    expect(at(2, 1, 3)).to_be_visible()
    heads(page).nth(2).focus()
    page.keyboard.press("Shift+ArrowRight")
    expect(at(2, 1, 4)).to_be_visible()
    steps = page.get_by_role("radiogroup", name="Steps")
    steps.get_by_role("radio").first.focus()
    for step in (2, 3):
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        expect(page.locator(".made li")).to_have_count(step)
    expect(page).to_have_url(re.compile("row=2.*column=5.*made=3"))


@pytest.mark.slow
def test_sixteen_decoder_heads_at_a_click(open_app):
    page = open_app("enc_heads=8&dec_heads=8")
    choose(page, "Decoder heads", "16")
    expect_maps(page, apply_situation(Settings(), "problem_1"))
    expect(page).to_have_url(re.compile("dec_heads=16"))


@pytest.mark.slow
def test_direct_shows_the_error_and_a_mend_leads_back_to_maps(open_app):
    page = open_app("enc_heads=8&enc_dim=8&dec_heads=16&dec_dim=8&keep=size")
    chooser = page.get_by_role("combobox", name="K and V from")
    chooser.click()
    chooser.fill("as they are")
    chooser.press("Enter")
    expect(page.get_by_text("Cross-attention does not run")).to_be_visible()
    expect(page.get_by_text("must match the size of tensor b (8)")).to_be_visible()
    expect(page.get_by_text("heads 16 ✗")).to_be_visible()
    page.get_by_role("button", name="use 8 decoder heads").click()
    expect(heads(page)).to_have_count(8)
    expect(page.get_by_text("Cross-attention does not run")).to_have_count(0)


@pytest.mark.slow
def test_an_address_is_followed_and_the_back_button_works(open_app):
    page = open_app("text=thought&enc_heads=4&kind=encoder&layer=1&head=3")
    settings, _ = read_address({"text": "thought", "enc_heads": "4", "kind": "encoder", "layer": "1", "head": "3"})
    expect_maps(page, settings)
    expect(heads(page).nth(2)).to_have_attribute("aria-checked", "true")
    choose(page, "Attention", "Cross")
    expect(heads(page)).to_have_count(8)
    expect(page).to_have_url(re.compile("kind=cross"))
    page.wait_for_timeout(1100)  # the address of a moment ago is taken for a late echo, not for the back button
    page.go_back()
    expect(heads(page)).to_have_count(4)


@pytest.mark.slow
def test_picking_a_head_enlarges_it_and_tells_the_address(open_app):
    page = open_app()
    heads(page).nth(4).click()
    expect(page.get_by_text("Head 5 of layer 2, cross-attention")).to_be_visible()
    expect(page).to_have_url(re.compile("head=5"))


def test_the_large_head_has_its_numbers_and_a_click_takes_a_cell_apart(open_app):
    page = open_app("text=phone&head=3")
    shown = computed(read_address({"text": "phone", "head": "3"})[0])[2]
    large = page.locator(".st-key-enlarged")
    expect(large.locator(".numbers span")).to_have_text([f"{weight:.2f}" for weight in shown.ravel()])
    cell = large.locator(".chosen").bounding_box()
    large.locator(".map").click(position={"x": 1.5 * cell["width"], "y": 1.5 * cell["height"]})  # row 2, column 2
    expect(page).to_have_url(re.compile(r"row=2&column=2"))
    expect(page.get_by_text("How is this square made?")).to_be_visible()
    expect(page.locator(".under").filter(has_text=f"with weight {shown[1, 1]:.3f}")).to_be_visible()
    picture = page.get_by_role("img", name="Attention map, ")
    picture.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"row=2&column=3"))
    moved, whole = large.locator(".chosen").bounding_box(), large.locator(".map").bounding_box()
    assert (round(moved["x"] - whole["x"]), round(moved["y"] - whole["y"])) == (2 * cell["width"], cell["height"])


def boxes(page):
    """(left, top, right, bottom) of each head, with its words."""
    found = [head.bounding_box() for head in heads(page).all()]
    return np.array([(box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]) for box in found])


def rows_of(found):
    """How many heads stand in each row, from above."""
    return np.unique(found[:, 1].round(), return_counts=True)[1].tolist()


@pytest.mark.slow
@pytest.mark.parametrize("query", ["", "view=lines"])
def test_eight_heads_and_a_large_one_take_380_pixels_of_a_small_laptop(open_app, query):
    page = open_app(query, height=720)
    expect(page.locator(".st-key-enlarged .large .map")).to_be_visible()
    page.wait_for_timeout(300)
    found = boxes(page)
    assert rows_of(found) == [4, 4]
    assert found[:, 3].max() - found[:, 1].min() <= 380
    large = page.locator(".st-key-enlarged").bounding_box()
    assert large["x"] >= found[:, 2].max() and large["y"] + large["height"] <= found[:, 1].min() + 380
    sizes = page.locator(".root :is(.title, .caption, .cols span, .rows span, .key)").evaluate_all(
        "nodes => nodes.map(node => parseFloat(getComputedStyle(node).fontSize))"
    )
    assert min(sizes) >= 14


@pytest.mark.slow
def test_sixteen_heads_take_the_whole_width_and_the_grid_stays_the_same_one(open_app):
    page = open_app(height=720)
    expect(heads(page)).to_have_count(8)
    heads(page).first.evaluate("node => { node.getRootNode().querySelector('.root').same = true; }")
    choose(page, "Decoder heads", "16")
    expect(heads(page)).to_have_count(16)
    page.wait_for_timeout(1500)
    found = boxes(page)
    assert rows_of(found) == [8, 8]
    assert found[:, 2].max() > 1200
    assert page.locator(".st-key-enlarged").bounding_box()["y"] > found[:, 3].max()
    assert heads(page).first.evaluate("node => node.getRootNode().querySelector('.root').same")


@pytest.mark.slow
def test_on_a_phone_a_tap_leads_to_the_large_head(open_app):
    page = open_app(width=390, height=844, has_touch=True, is_mobile=True)
    expect(heads(page)).to_have_count(8)
    large = page.locator(".st-key-enlarged")
    assert large.bounding_box()["y"] > 844
    heads(page).nth(1).tap()
    expect(page.get_by_text("Head 2 of layer 2, cross-attention")).to_be_in_viewport()
    expect(large.locator(".large .map")).to_be_in_viewport(ratio=0.9)


@pytest.mark.slow
def test_typed_markup_is_shown_as_typed(open_app):
    page = open_app()
    box = page.get_by_role("textbox", name="Word")
    box.fill("<b>$x$</b> **y**")
    box.press("Enter")
    expect(page.get_by_text("are not letters this model knows")).to_contain_text("'<'")
    expect(box).to_have_value("<b>$x$</b> **y**")


@pytest.mark.slow
@pytest.mark.parametrize("look", LOOKS)
def test_it_fits_the_screen_and_axe_finds_nothing_to_mend(open_app, look):
    page = open_app(**look)
    expect(heads(page)).to_have_count(8)
    expect(page.locator(".large .map")).to_be_visible()
    page.get_by_text("Maps of all pairs of heads").click()
    expect(page.locator(".js-plotly-plot")).to_have_count(3)
    expect_fitting(page, look["width"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "look"),
    [("enc_heads=8&dec_heads=16&keep=size&kv=direct", LOOKS[1]), ("text=caf%C3%A9&dec_heads=3", LOOKS[0])],
)
def test_what_does_not_run_fits_too(open_app, query, look):
    page = open_app(query, **look)
    expect(page.get_by_text("Maps of all pairs of heads")).to_be_visible()
    expect_fitting(page, look["width"])


@pytest.mark.slow
def test_the_toolbar_covers_no_label_on_touch(open_app):
    page = open_app("text=phone", width=390, height=844, has_touch=True, is_mobile=True)
    page.get_by_text("Maps of all pairs of heads").tap()
    chart = page.locator(".js-plotly-plot").first
    chart.scroll_into_view_if_needed()
    expect(chart.locator(".xtick text").first).to_be_visible()
    expect(chart.locator(".modebar")).to_be_hidden()


@pytest.mark.slow
@pytest.mark.parametrize("tried", ["needed", "reuse"])
def test_on_a_phone_what_there_is_to_try_stands_right_below_the_maps(open_app, tried):
    page = open_app(width=390, height=844, has_touch=True)

    def box(name):
        return page.locator(f".st-key-{name}").bounding_box()

    def expect_between(above, below):
        expect(page.locator(f".st-key-{above}")).to_be_visible()
        end = box(above)["y"] + box(above)["height"]
        assert end <= box("tries")["y"] < end + 40
        assert box("tries")["y"] + box("tries")["height"] <= box("on_phone")["y"]
        assert box("on_phone")["y"] + box("on_phone")["height"] <= box(below)["y"]

    expect(heads(page)).to_have_count(8)
    expect_between("heads", "enlarged")
    caption = page.get_by_text("Under a head: what it does").bounding_box()
    assert box("on_phone")["y"] + box("on_phone")["height"] <= caption["y"] < box("enlarged")["y"]
    page.locator(f".st-key-try_{tried} button").tap()
    outcome = page.get_by_text("One head is enough" if tried == "needed" else "It does not run.").first
    expect(outcome).to_be_visible()
    said = outcome.bounding_box()
    assert box("tries")["y"] + box("tries")["height"] <= said["y"] <= box("on_phone")["y"] - said["height"]
    above, below = ("heads", "enlarged") if tried == "needed" else ("choices", "failure")
    assert box(above)["y"] < box("tries")["y"] and box("on_phone")["y"] < box(below)["y"]


@pytest.mark.slow
@pytest.mark.parametrize(("width", "query"), [(1280, ""), (1280, "dec_heads=16&dec_dim=4"), (390, "")])
def test_no_head_loses_its_number_while_a_cell_is_pointed_at(open_app, width, query):
    page = open_app(query, width=width, height=844)
    for head in (0, 9):
        heads(page).nth(head if query else 0).locator(".map").hover()
        expect(page.locator(".value").first).to_have_text(re.compile(r"0\.\d{3}|1\.000"))
        told = "all => all.map(({ textContent, scrollWidth, clientWidth }) => [textContent, scrollWidth - clientWidth])"
        for number, (name, cut) in enumerate(
            page.locator("[role=radiogroup] .tile .title").evaluate_all(told), start=1
        ):
            assert re.search(r"\d+", name)[0] == str(number) and cut <= 0


@pytest.mark.slow
def test_on_a_phone_the_keyboard_goes_from_the_word_to_the_heads_as_the_eye_does(open_app):
    page = open_app(width=390, height=844, has_touch=True)
    page.get_by_role("textbox", name="Word").locator("visible=true").focus()
    where = "node => node.getBoundingClientRect().top + document.querySelector('[data-testid=stMain]').scrollTop"
    tops = [page.evaluate(f"({where})(document.activeElement)")]
    while not page.evaluate("document.activeElement.shadowRoot?.activeElement?.matches('[role=radio]') ?? false"):
        page.keyboard.press("Tab")
        tops.append(page.evaluate(f"({where})(document.activeElement)"))
        assert len(tops) < 20
    assert len(tops) > 3 and tops == sorted(tops)
