"""What is taken away, in a real browser: each file of a menu is downloaded, opened, and compared with the library."""

import base64
import csv
import io
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from playwright.sync_api import Page

from attention.checkpoints import load
from attention.figures.colors import table
from attention.figures.palette import LIGHT
from attention.inspection import inspect_word
from attention.tasks import get_task
from attention.training.stored import load_weights, read_card
from pages.shared.settings import Settings

pytestmark = pytest.mark.browser

NAME = "knight-8x8-8x8-cross-layer2-head1"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def view():
    model, _ = load("spelling", Settings().config)
    return inspect_word(model, get_task("spelling"), tuple("knight"))


def open_menu(page: Page, picture: str) -> None:
    """Once all is drawn: what comes later would move the page below the menu."""
    page.locator("[data-test-script-state=notRunning]").wait_for(timeout=60_000)
    page.locator(".large .map").wait_for()
    button = page.locator(f".st-key-take_{picture} button").first
    button.evaluate("node => node.scrollIntoView({ block: 'center' })")
    button.click()
    page.locator("[data-testid=stPopoverBody]").get_by_role("button", name="CSV").wait_for()


def download(page: Page, button: str, folder) -> tuple[str, object]:
    with page.expect_download(timeout=60_000) as waiting:
        page.locator("[data-testid=stPopoverBody]").get_by_role("button", name=button, exact=True).click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return waiting.value.suggested_filename, path


@pytest.mark.parametrize("scheme", [pytest.param(scheme, marks=pytest.mark.slow) for scheme in ("light", "dark")])
def test_everything_of_a_head_is_downloaded_and_is_what_the_library_says(serve, new_page, tmp_path, view, scheme):
    page = new_page(color_scheme=scheme)
    page.goto(serve("app.py"))
    open_menu(page, "large_head")
    shown = view.layers["cross"][1].weights[0]
    texts = {f"{weight:.2f}" for weight in shown.ravel()} | {
        "k",
        "n",
        "aɪ",
        "</s>",
        "↓ query (decoder)",
        "→ key (encoder)",
    }

    name, path = download(page, "SVG", tmp_path)
    assert name == f"{NAME}.svg"
    drawn = ElementTree.parse(path).getroot()
    written = {"".join(node.itertext()) for node in drawn.iter(f"{SVG}text")}
    assert drawn.tag == f"{SVG}svg" and texts <= written

    name, path = download(page, "PNG", tmp_path)
    assert name == f"{NAME}.png"
    assert (mean_brightness(page, path.read_bytes()) > 0.6) == (scheme == "light")

    name, path = download(page, "CSV", tmp_path)
    rows = list(csv.DictReader(path.read_text(encoding="utf-8-sig").splitlines()[1:]))
    assert name == f"{NAME}.csv"
    np.testing.assert_allclose([float(row["weight"]) for row in rows], shown.ravel(), atol=1e-6)

    name, path = download(page, "NPZ", tmp_path)
    np.testing.assert_allclose(np.load(io.BytesIO(path.read_bytes()))["weight"], shown.ravel(), atol=1e-6)

    name, path = download(page, "Weights", tmp_path)
    assert name == "spelling-8x8-8x8.safetensors" and read_card(path).scores is not None
    again = inspect_word(load_weights(path, Settings().config), get_task("spelling"), tuple("knight"))
    np.testing.assert_array_equal(again.layers["cross"][1].weights, view.layers["cross"][1].weights)

    name, path = download(page, "PyTorch script", tmp_path)
    assert name == f"{NAME}.py" and "import torch" in path.read_text(encoding="utf-8")


def mean_brightness(page: Page, png: bytes) -> float:
    """Of an image, as the browser decodes it."""
    return page.evaluate(
        """async data => {
            const image = await createImageBitmap(await (await fetch(data)).blob());
            const canvas = new OffscreenCanvas(image.width, image.height), pen = canvas.getContext("2d");
            pen.drawImage(image, 0, 0);
            const pixels = pen.getImageData(0, 0, image.width, image.height).data;
            return pixels.reduce((sum, value) => sum + value, 0) / pixels.length / 255;
        }""",
        "data:image/png;base64," + base64.b64encode(png).decode(),
    )


@pytest.mark.slow
def test_the_web_page_works_alone_with_the_network_blocked(serve, new_page, tmp_path, view):
    page = new_page()
    page.goto(serve("app.py"))
    open_menu(page, "large_head")
    name, path = download(page, "Web page", tmp_path)
    assert name == f"{NAME}.html"

    alone, asked, failed = new_page(width=390), [], []
    alone.route("**/*", lambda route: (asked.append(route.request.url), route.abort()))
    alone.on("pageerror", lambda error: failed.append(str(error)))
    alone.set_content(path.read_text(encoding="utf-8"))
    alone.locator(".numbers span").first.wait_for()
    cells = alone.locator(".numbers span").all_text_contents()
    assert not asked and not failed
    assert {f"{weight:.2f}" for weight in view.layers["cross"][1].weights[0].ravel()} <= set(cells)
    assert alone.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("mode", ["heads", pytest.param("lines", marks=pytest.mark.slow)])
def test_the_grid_is_an_svg_with_all_heads_and_labels_and_the_same_as_a_png(serve, new_page, tmp_path, view, mode):
    page = new_page(width=390)
    page.goto(f"{serve('app.py')}/?text=knight&view={mode}")
    open_menu(page, "heads")
    _, path = download(page, "SVG", tmp_path)
    drawn = ElementTree.parse(path).getroot()
    texts = ["".join(node.itertext()) for node in drawn.iter(f"{SVG}text")]
    assert {f"head {head}" for head in range(1, 9)} <= set(texts)
    assert texts[0].startswith("knight · encoder 8 × 8, decoder 8 × 8 · Cross-attention, layer 2 · trained")
    assert texts.count("aɪ") == texts.count("k") == 8  # beside each map, whatever there is room for on the screen
    weights = np.round(1000 * view.layers["cross"][1].weights)
    if mode == "heads":
        fills = {node.get("fill") for node in drawn.iter(f"{SVG}rect")}
        cells = [node for node in drawn.iter(f"{SVG}rect") if node.get("x") and node.get("width") == node.get("height")]
        white = sum(color == "#ffffff" for color in (shade(weight / 1000) for weight in weights.ravel()))
        assert len(cells) == weights.size - white and len(fills) > 10
    else:
        paths = [node for node in drawn.iter(f"{SVG}path") if node.get("stroke-width") and "C" in node.get("d")]
        assert len(paths) == (weights >= 10).sum()
    _, image = download(page, "PNG", tmp_path)
    size = [int.from_bytes(image.read_bytes()[at : at + 4], "big") for at in (16, 20)]
    assert size == [2 * int(drawn.get(name)) for name in ("width", "height")]


@pytest.mark.slow
def test_a_chart_has_its_title_above_it_in_lines_that_fit(serve, new_page, tmp_path):
    page = new_page(width=390)
    page.goto(f"{serve('app.py')}/anchors?experiment=noise_each")
    button = page.locator(".st-key-take_drift button").first
    button.wait_for(timeout=60_000)
    page.locator("[data-test-script-state=notRunning]").wait_for(timeout=60_000)
    button.evaluate("node => node.scrollIntoView({ block: 'center' })")
    button.click()
    _, path = download(page, "SVG", tmp_path)
    drawn = ElementTree.parse(path).getroot()
    lines = ["".join(node.itertext()) for node in drawn.findall(f"{SVG}text")]
    title = " ".join(lines)
    assert len(lines) > 1 and title.startswith("knight · encoder 8 × 8, decoder 8 × 8 · Step by step · trained")
    below = drawn.find(f"{SVG}svg")  # the chart as plotly draws it
    assert float(below.get("y")) > max(float(node.get("y")) for node in drawn.findall(f"{SVG}text"))
    assert float(below.get("y")) + float(below.get("height")) == float(drawn.get("height"))
    _, image = download(page, "PNG", tmp_path)
    size = [int.from_bytes(image.read_bytes()[at : at + 4], "big") for at in (16, 20)]
    assert size == [2 * float(drawn.get(name)) for name in ("width", "height")]


def shade(weight: float) -> str:
    """The colour of a weight on a light page."""
    return "#{:02x}{:02x}{:02x}".format(*table(LIGHT.sequential)[round(255 * weight)])
