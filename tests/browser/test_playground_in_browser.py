"""The playground in a real browser: the maps painted are the maps computed, and what people click does what it says."""

import re

import numpy as np
import pytest

from attention.checkpoints import load
from attention.figures import colors
from attention.inspection import inspect_word
from attention.tasks import get_task
from pages.parts.settings import Settings, apply_preset, read_address

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
    page.get_by_role("radiogroup", name=group, exact=True).get_by_role("radio", name=option, exact=True).click()


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
    table = colors.table(colors.sequential(dark=False))
    for head, rows in enumerate(weights):
        levels = np.floor(255 * np.float64(rows) + 0.5).astype(int)
        np.testing.assert_array_equal(painted(page, head), table[levels])


def test_the_first_visit_paints_the_eight_maps_that_the_library_computes(open_app):
    page = open_app()
    expect_maps(page, Settings())
    expect(page.get_by_text("the lexicon agrees")).to_be_visible()


def test_sixteen_decoder_heads_at_a_click(open_app):
    page = open_app("enc_heads=8&dec_heads=8")
    choose(page, "Decoder heads", "16")
    expect_maps(page, apply_preset(Settings(), "problem_1"))
    expect(page).to_have_url(re.compile("dec_heads=16&dec_dim=4"))


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


def test_an_address_is_followed_and_the_back_button_works(open_app):
    page = open_app("text=thought&kind=encoder&layer=1&head=3")
    settings, _ = read_address({"text": "thought", "kind": "encoder", "layer": "1", "head": "3"})
    expect_maps(page, settings)
    expect(heads(page).nth(2)).to_have_attribute("aria-checked", "true")
    choose(page, "Attention", "Cross")
    expect(heads(page)).to_have_count(8)
    expect(page).to_have_url(re.compile("kind=cross"))
    page.wait_for_timeout(1100)  # the address of a moment ago is taken for a late echo, not for the back button
    page.go_back()
    expect(heads(page)).to_have_count(4)


def test_picking_a_head_enlarges_it_and_tells_the_address(open_app):
    page = open_app()
    heads(page).nth(4).click()
    expect(page.get_by_text("Head 5 of layer 2")).to_be_visible()
    expect(page).to_have_url(re.compile("head=5"))


def test_typed_markup_is_shown_as_typed(open_app):
    page = open_app()
    box = page.get_by_role("textbox", name="Word")
    box.fill("<b>$x$</b> **y**")
    box.press("Enter")
    expect(page.get_by_text("are not letters this model knows")).to_contain_text("'<'")
    expect(box).to_have_value("<b>$x$</b> **y**")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_screen(open_app, scheme, width):
    page = open_app(width=width, color_scheme=scheme)
    expect(heads(page)).to_have_count(8)
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("query", ["", "enc_heads=8&dec_heads=16&keep=size&kv=direct", "text=caf%C3%A9&dec_heads=3"])
def test_axe_finds_nothing_to_mend(open_app, scheme, query):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = open_app(query, color_scheme=scheme)
    expect(page.locator(".js-plotly-plot").last).to_be_visible()
    found = axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_training_in_the_app_ends_with_trained_maps(open_app):
    page = open_app("task=reverse&text=abcdef&enc_heads=2&dec_heads=2&seed=21")  # nobody else's, on this server
    expect(page.get_by_text("random weights").first).to_be_visible()
    page.get_by_role("button", name="Train this model").click()
    expect(page.get_by_text("Training, step").first).to_be_visible(timeout=30_000)
    choose(page, "Layer", "1")  # touching another widget neither stops it nor loses it
    expect(page.get_by_text("trained here:")).to_be_visible(timeout=180_000)
    expect(page.get_by_text("random weights")).to_have_count(0)


def test_a_training_can_be_stopped_and_is_not_shown_as_trained(open_app):
    page = open_app("enc_heads=2&dec_heads=2&seed=5")
    page.get_by_role("button", name="Train this model").click()
    expect(page.get_by_text("Training, step").first).to_be_visible(timeout=60_000)
    page.get_by_role("button", name="Stop", exact=True).last.click(timeout=30_000)
    expect(page.get_by_text("Stopped at step").last).to_be_visible(timeout=30_000)
    expect(page.get_by_text("half trained: stopped at step").first).to_be_visible()
    expect(page.get_by_text("trained here:")).to_have_count(0)
    expect(page.get_by_role("button", name="Continue")).to_be_visible()
