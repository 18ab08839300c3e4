"""How long frames take while heads over long inputs are drawn, changed and pointed at, in a real browser.

    python -m benchmarks.frames

Sixteen heads over 256 tokens in the app's component (aims: no frame over 100 ms, at most 1.5 MB), and over 512 tokens
on the page that `show` makes (250 ms, 6 MB). Frames are those that the browser itself reports as long, over 50 ms, and
all of each counts: scripts, style, layout and paint. "drawn" begins with the page, or with the switch.
"""

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

from attention import show
from attention.notebook import Section, Tile, grid_message
from attention.notebook.show import WORDS
from benchmarks.browser import FLAGS, Servers, find_browser

HEADS, IN_APP, IN_NOTEBOOK = 16, 256, 512  # heads; tokens
AIMS = {IN_APP: (100, 1.5e6), IN_NOTEBOOK: (250, 6e6)}  # ms of a frame, bytes
OBSERVE = """long = []; new PerformanceObserver(list => long.push(...list.getEntries().map(entry => entry.duration)))
    .observe({ type: "long-animation-frame", buffered: true });"""
SETTLE = 1500  # ms after which a frame no longer belongs to what was done
STEPS = 40  # of the pointer over a map


def random_weights(tokens: int) -> np.ndarray:
    scores = np.exp(np.random.default_rng(0).standard_normal((HEADS, tokens, tokens), dtype=np.float32))
    return scores / scores.sum(-1, keepdims=True)


def names(tokens: int) -> list[str]:
    return [f"token{number}" for number in range(tokens)]


def bytes_in_app(tokens: int) -> int:
    """What the app sends of these heads."""
    tiles = [Tile(head, f"head {head + 1}", (), weights) for head, weights in enumerate(random_weights(tokens))]
    axes = {"row_labels": names(tokens), "col_labels": names(tokens), "row_title": "query", "col_title": "key"}
    return len(grid_message([Section("", 0, tiles)], words=WORDS, **axes))


def longest(page: Page, act: Callable[[], object]) -> list[float]:
    """Milliseconds of the long frames that come of what is done."""
    page.evaluate("long.length = 0")
    act()
    page.wait_for_timeout(SETTLE)
    return page.evaluate("long")


def heads_of(page: Page):
    return page.get_by_role("radiogroup", name="Attention heads").get_by_role("radio")


def drawn(page: Page) -> None:
    heads_of(page).nth(HEADS - 1).locator("canvas").wait_for(timeout=120_000)


def point(page: Page) -> None:
    """Across a head's map, from corner to corner, and by keys from cell to cell."""
    area = heads_of(page).nth(2).locator(".map")
    area.scroll_into_view_if_needed()
    box = area.bounding_box()
    for step in range(STEPS):
        share = (step + 0.5) / STEPS
        page.mouse.move(box["x"] + share * box["width"], box["y"] + share * box["height"])
    heads_of(page).nth(0).focus()
    for key in ("Shift+ArrowRight", "Shift+ArrowDown"):
        for _ in range(5):
            page.keyboard.press(key)


def pick(page: Page) -> None:
    """Another head, by click; in the app the script runs for it."""
    for number in (3, 5, 2):
        heads_of(page).nth(number).locator(".map").click()
        page.wait_for_timeout(500)


def resize(page: Page) -> None:
    for width in (700, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(300)


def open_page(browser: Browser) -> Page:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.add_init_script(OBSERVE)
    return page


def in_app(browser: Browser, servers: Servers) -> dict[str, list[float]]:
    page = open_page(browser)
    page.goto(servers("benchmarks/pages/long_input.py"))
    switch = page.get_by_text("draw", exact=True)
    switch.wait_for(timeout=120_000)
    page.wait_for_timeout(SETTLE)

    def draw() -> None:
        switch.click()
        drawn(page)

    def change() -> None:
        page.get_by_role("button", name="change").click()
        page.get_by_text("1 changes").wait_for(timeout=60_000)  # it stands below the heads

    frames = {"drawn": longest(page, draw), "changed": longest(page, change)} | used(page)
    page.close()
    return frames


def used(page: Page) -> dict[str, list[float]]:
    acts = {"pointed at": point, "picked": pick, "resized": resize}
    return {name: longest(page, lambda act=act: act(page)) for name, act in acts.items()}


def in_notebook(browser: Browser, html: str, folder: Path) -> tuple[dict[str, list[float]], int]:
    """And how many nodes there are."""
    file = folder / "heads.html"
    file.write_text(html, encoding="utf-8")
    page = open_page(browser)
    page.goto(file.as_uri())
    drawn(page)
    page.wait_for_timeout(SETTLE)
    frames = {"drawn": page.evaluate("long")} | used(page)
    nodes = page.locator("*").count()
    page.close()
    return frames, nodes


def report(where: str, tokens: int, size: int, frames: dict[str, list[float]]) -> None:
    most, bytes_aim = AIMS[tokens]
    print(f"{where}, {HEADS} heads, {tokens} tokens: {size:,} bytes (at most {bytes_aim:,.0f})")
    for name, times in frames.items():
        over = sum(time > most for time in times)
        print(f"    {name:12} longest frame {max(times, default=0):4.0f} ms, {over} over {most} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.parse_args()
    path = find_browser()
    if path is None:
        parser.error("no browser was found: install chromium, or name one in CHROMIUM")
    html = show(random_weights(IN_NOTEBOOK), rows=names(IN_NOTEBOOK), columns=names(IN_NOTEBOOK)).html
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        servers = Servers(Path(folder))
        try:
            report("app", IN_APP, bytes_in_app(IN_APP), in_app(browser, servers))
            frames, nodes = in_notebook(browser, html, Path(folder))
            report("notebook", IN_NOTEBOOK, len(html), frames)
            print(f"    {nodes} nodes")
        finally:
            servers.stop()
            browser.close()


if __name__ == "__main__":
    main()
