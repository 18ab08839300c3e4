"""The type scale as a browser has computed it: nothing too small to read, headings in order, on every page."""

import re

import pytest
from type_sizes import CROWDED, SMALLEST, type_of, watch_type
from whole_page import ADDRESSES, expect_whole

from pages.shared.texts import label

pytestmark = pytest.mark.browser
expect = pytest.importorskip("playwright.sync_api").expect

HEADINGS = "els => els.filter(el => el.checkVisibility()).map(el => parseFloat(getComputedStyle(el).fontSize))"
PHONE = {"width": 390, "height": 844, "has_touch": True, "is_mobile": True}
STATES = [
    *((name, "") for name in ADDRESSES),
    ("playground", "dec_heads=16&text=psychologist"),
    ("playground", "view=layers&dec_heads=16"),
    ("playground", "kv=direct&dec_heads=16"),
    ("anchors", "text=psychologist"),
    ("shapes", "demo=tiled_kv&kv=grouped&dec_heads=16&keep=size"),
    *(("redundancy", f"part={part}") for part in ("pairs", "layers", "twins", "shared")),
    ("compare", "compare=sweep-reverse-8-3-250"),
]


@pytest.fixture
def open_page(serve, new_page):
    def open_page(name, query="", **options):
        page = new_page(**options)
        watch_type(page)
        page.goto(f"{serve('app.py')}/{ADDRESSES[name]}?{query}")
        expect_whole(page, name)
        expect(page.locator("[data-stale=true]")).to_have_count(0)
        return page

    return open_page


def expect_legible(page, labels_from):
    texts, labels = type_of(page)
    assert len(texts) > 20
    assert texts[0][0] >= SMALLEST, texts[:10]
    assert not labels or labels[0][0] >= labels_from, labels[:10]


def test_nothing_is_too_small_to_read(open_page):
    """As pages open, one after the other: eight heads and a short word, whose labels are no smaller than other type."""
    page = open_page("playground", width=1280, height=720)
    for name in ADDRESSES:
        page.get_by_test_id("stSidebarNavLink").get_by_text(label("app", name), exact=True).click()
        expect(page).to_have_url(re.compile(rf"://[^/]+/{ADDRESSES[name]}(\?|$)"))
        title = label("app", "title")
        expect(page).to_have_title(f"{label('app', name)} · {title}" if ADDRESSES[name] else title)
        expect_whole(page, name)
        expect(page.locator("[data-stale=true]")).to_have_count(0)
        expect_legible(page, SMALLEST)
        sizes = [page.locator(f"{level}:not(section *)").evaluate_all(HEADINGS) for level in ("h1", "h2", "h3")]
        title, *lower = [set(found) for found in sizes if found]
        assert len(sizes[0]) == 1 and title == {28}, name
        assert [max(size) for size in (title, *lower)] == sorted({28, *(max(size) for size in lower)}, reverse=True), (
            name
        )


@pytest.mark.slow
@pytest.mark.parametrize(("name", "query"), STATES)
def test_nothing_is_too_small_in_any_state_or_size(open_page, name, query):
    page = open_page(name, query, **PHONE)
    expect_legible(page, CROWDED)
    for width, height in ((1280, 720), (1920, 1080)):
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(500)
        expect_legible(page, CROWDED)


@pytest.mark.slow
def test_small_type_is_found_wherever_it_is(open_page):
    """The measure itself: text in a shadow root, on a canvas, in a picture."""
    page = open_page("wild")
    page.evaluate("""() => {
        const host = document.body.appendChild(document.createElement("div"));
        host.attachShadow({ mode: "open" }).innerHTML = `<p style="font-size:7px">shadow</p>
            <svg width="99" height="30"><text y="20" font-size="6">drawing</text></svg>`;
        const canvas = document.body.appendChild(document.createElement("canvas"));
        const pen = canvas.getContext("2d");
        pen.font = "5px serif";
        pen.fillText("painted", 9, 9);
    }""")
    assert [text for size, text in type_of(page)[0] if size < SMALLEST] == ["painted", "drawing", "shadow"]
    assert re.fullmatch(r"[567.]+", "".join(f"{size:g}" for size, _ in type_of(page)[0][:3]))
