"""The plotly figures as plotly.js really draws them: text, hovers, exports, and the numbers in the cells."""

import urllib.parse
import xml.etree.ElementTree as ElementTree
from itertools import pairwise

import numpy as np
import plotly.io as pio
import pytest
from plotly.offline import get_plotlyjs

from attention.figures import attention_chart, similarity_chart

pytestmark = pytest.mark.browser

TOKENS = ["<s>", "a<b>c", "<br>x", "$x$", "&lt;", "&amp;", "&#36;", "\"q'", "猫", "%{x}", "<extra>", "10", "2024-01-01"]
TOKENS += ["<sub>2</sub>", "<a href='x'>y", "]]>", "10"]

# A stand-in for MathJax that only notices whether it is asked: plotly.js looks at its version before it sets a formula.
WATCH_MATHJAX = "asked = 0; MathJax = { get version() { asked += 1; return '0' } }; null"
TEXTS = "selector => [...document.querySelectorAll(selector)].map(node => node.textContent)"
CELL = """([row, col]) => {
    const { xaxis, yaxis } = figure._fullLayout, box = figure.getBoundingClientRect();
    return [box.x + xaxis._offset + xaxis.l2p(col), box.y + yaxis._offset + yaxis.l2p(row)];
}"""


@pytest.fixture
def draw(new_page):
    def draw(chart, width=1280):
        page = new_page(width=width)
        page.set_content("<body style='margin: 0'><div id='figure'></div>")
        page.evaluate(WATCH_MATHJAX)
        page.add_script_tag(content=get_plotlyjs())
        page.evaluate("spec => Plotly.newPlot('figure', JSON.parse(spec))", pio.to_json(chart.figure))
        return page

    return draw


def columns(page):
    return page.evaluate(TEXTS, ".xtick text")


@pytest.mark.slow
def test_tokens_are_literal_on_screen_in_hovers_and_in_exports(draw):
    size = len(TOKENS)
    page = draw(attention_chart(np.full((size, size), 1 / size), TOKENS, TOKENS, title="<b>$t$</b>"))
    assert columns(page) == TOKENS
    assert page.evaluate(TEXTS, ".ytick text") == TOKENS
    assert page.evaluate(TEXTS, ".gtitle") == ["<b>$t$</b>"]
    for position, token in enumerate(TOKENS):
        page.mouse.move(*page.evaluate(CELL, [position, position]))
        expected = [f"query {position + 1}: {token}", f"key {position + 1}: {token}", f"weight {1 / size:.3f}"]
        page.wait_for_function(
            "key => document.querySelector('.hovertext')?.textContent.includes(key)", arg=expected[1], timeout=5000
        )
        assert page.evaluate(TEXTS, ".hovertext .line") == expected

    image = page.evaluate("Plotly.toImage('figure', { format: 'svg' })")
    svg = ElementTree.fromstring(urllib.parse.unquote(image.split(",", 1)[1]))
    ticks = [node for node in svg.iter("{http://www.w3.org/2000/svg}g") if node.get("class") == "xtick"]
    assert ["".join(tick.itertext()) for tick in ticks] == TOKENS
    assert len(page.evaluate("Plotly.toImage('figure', { format: 'png' })")) > 10_000
    assert page.evaluate("asked") == 0


@pytest.mark.slow
def test_the_watch_on_mathjax_works(draw):
    """Without it, "MathJax was not asked" would prove nothing."""
    chart = attention_chart(np.eye(1), ["a"], ["b"])
    chart.figure.layout.xaxis.ticktext = ["$x$"]
    assert draw(chart).evaluate("asked") > 0


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_first_row_on_top_and_one_size_of_numbers(draw, width):
    weights = np.eye(4, 7)
    page = draw(attention_chart(weights, list("abcd"), list("knightx")), width)
    (left, top), (right, bottom) = page.evaluate(CELL, [0, 0]), page.evaluate(CELL, [3, 6])
    assert left < right and top < bottom
    assert left > 0 and right < width
    numbers = page.evaluate(
        """() => [...document.querySelectorAll('.heatmap-label text')].map(node => {
            const box = node.getBoundingClientRect();
            return [node.textContent.replaceAll('\\u200b', ''), node.style.fontSize,
                    box.x + box.width / 2, box.y + box.height / 2, box.width];
        }).filter(([text]) => text)"""
    )
    assert len(numbers) == weights.size
    assert {size for _, size, *_ in numbers} == {numbers[0][1]}
    assert float(numbers[0][1].removesuffix("px")) >= 9
    column = (right - left) / 6
    for text, _, x, y, number_width in numbers:
        row, col = round((y - top) / (bottom - top) * 3), round((x - left) / column)
        assert text == f"{weights[row, col]:.2f}"
        assert number_width <= column


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_labels_do_not_collide(draw, width):
    """17 letters and 60 tokens: neighbouring labels keep clear of each other, on a phone too."""
    for labels in ([*"abcdefghijklmnop", "</s>"], [f"token{i}" for i in range(60)]):
        page = draw(attention_chart(np.eye(len(labels)), labels, labels), width)
        boxes = page.evaluate(
            """() => [...document.querySelectorAll('.xtick text')].map(node => {
                const box = node.getBoundingClientRect();
                return [box.left, box.right];
            })"""
        )
        assert len(boxes) >= 17
        overlaps = [before[1] - after[0] for before, after in pairwise(sorted(boxes))]  # plotly may add some later
        assert max(overlaps) <= 3  # px; a box is a little wider than what it shows


@pytest.mark.slow
def test_undefined_similarities_show_a_dash(draw):
    matrix = np.array([[1, -0.5, np.nan], [-0.5, 1, np.nan], [np.nan] * 3])
    page = draw(similarity_chart(matrix))
    texts = [text.replace("\u200b", "") for text in page.evaluate(TEXTS, ".heatmap-label text")]
    assert sorted(text for text in texts if text) == sorted(["1.00", "1.00", "−0.50", "−0.50", *["–"] * 5])
