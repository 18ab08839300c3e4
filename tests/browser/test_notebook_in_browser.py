"""What three lines in a notebook draw, opened and pointed at; nothing is asked of the outside."""

import re

import numpy as np
import pytest

from attention import show

pytestmark = pytest.mark.browser
expect = pytest.importorskip("playwright.sync_api").expect

CELL = """
from attention import show
from attention.checkpoints import shipped, load
show(load(*next(key for key in shipped() if key[0] == "spelling"))[0], "knight")
"""


def output_of(cell):
    """What a notebook shows of a cell: its last line, as HTML."""
    *lines, last = cell.strip().splitlines()
    names = {}
    exec("\n".join(lines), names)
    return eval(last, names)._repr_html_()


def softmax_of_noise(heads, length):
    scores = np.exp(np.random.default_rng(0).standard_normal((heads, length, length), dtype=np.float32))
    return scores / scores.sum(-1, keepdims=True), [f"t{number}" for number in range(length)]


@pytest.fixture
def opened(new_page):
    """A page that holds the output of a cell, and the frame in it; the page may reach nobody."""

    def opened(output, **look):
        page = new_page(**look)
        asked = []
        page.route("**/*", lambda route: (asked.append(route.request.url), route.abort()))
        page.set_content(f"<!doctype html><body style='margin: 0'>{output}")
        frame = page.frame_locator("iframe")
        expect(frame.get_by_role("radio").first).to_be_visible()
        assert not asked
        return page, frame

    return opened


@pytest.mark.parametrize("width", [1280, pytest.param(390, marks=pytest.mark.slow)])
def test_the_output_of_a_cell_can_be_pointed_at(opened, width):
    page, frame = opened(output_of(CELL), width=width)
    heads = frame.get_by_role("radio")
    area = heads.nth(2).locator(".map")
    box = area.bounding_box()
    area.hover(position={"x": 1.5 * box["width"] / 7, "y": 0.5 * box["height"] / 4})
    expect(frame.locator(".readout")).to_contain_text("query (decoder)n1/4key (encoder)n2/7head 3")
    for number in range(heads.count()):
        expect(heads.nth(number).locator(".value")).to_have_text(re.compile(r"^[01]\.\d{3}$"))
    heads.nth(1).click()
    expect(heads.nth(1)).to_have_attribute("aria-checked", "true")
    sizes = "page => [page.scrollWidth, page.clientWidth, page.offsetHeight]"
    whole, seen, height = frame.locator("html").evaluate(sizes)
    assert whole <= seen
    assert page.locator("iframe").bounding_box()["height"] == pytest.approx(height, abs=1)


def test_the_number_shown_is_the_weight(opened):
    weights = np.random.default_rng(1).dirichlet(np.ones(3), size=(2, 2)).astype(np.float32)
    _, frame = opened(show(weights, rows=["<b>", "y"], columns=list("abc"))._repr_html_())
    area = frame.get_by_role("radio").first.locator(".map")
    box = area.bounding_box()
    area.hover(position={"x": 2.5 * box["width"] / 3, "y": 1.5 * box["height"] / 2})
    for head in range(2):
        expect(frame.get_by_role("radio").nth(head).locator(".value")).to_have_text(f"{weights[head, 1, 2]:.3f}")
    assert frame.locator(".rows span").first.text_content() == "<b>"


@pytest.mark.slow
def test_sixteen_heads_over_512_tokens_have_few_nodes(opened):
    weights, tokens = softmax_of_noise(16, 512)
    _, frame = opened(show(weights, rows=tokens, columns=tokens)._repr_html_())
    expect(frame.get_by_role("radio")).to_have_count(16)
    assert frame.locator("*").count() < 1500
