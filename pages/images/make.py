"""The README's picture and the animation of a first minute, taken from the app itself in a browser.

python -m pages.images.make
"""

import io
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from benchmarks.browser import FLAGS, Servers, find_browser
from pages.shared.texts import label

HERE = Path(__file__).parent
WIDTH, HEIGHT = 1280, 720
SHOWN_WIDTH = 960  # px of the animation
SECONDS = 2.5  # that each picture of it stays


def settle(page: Page) -> None:
    """Wait until the page is whole and nothing moves any more."""
    page.wait_for_timeout(1000)  # for the run to begin
    page.locator("[data-test-script-state=notRunning]").wait_for(timeout=120_000)
    page.wait_for_timeout(3000)


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=label("tries", name)).click()
    settle(page)


def first_minute(page: Page):
    """One picture after another: the question, a word typed, and each of the three things to try."""
    yield page.screenshot()
    field = page.get_by_role("textbox", name=label("spelling", "text")).last
    field.fill("bright")
    field.press("Enter")
    settle(page)
    yield page.screenshot()
    for name in ("more", "needed", "reuse"):
        press(page, name)
        yield page.screenshot()
        press(page, "undo")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        servers = Servers(Path(folder))
        try:
            browser = playwright.chromium.launch(executable_path=find_browser(), args=FLAGS)
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
            page.goto(servers("app.py"))
            settle(page)
            taken = list(first_minute(page))
        finally:
            servers.stop()
    (HERE / "playground.png").write_bytes(taken[0])
    size = SHOWN_WIDTH, SHOWN_WIDTH * HEIGHT // WIDTH
    first, *rest = (Image.open(io.BytesIO(one)).convert("RGB").resize(size, Image.Resampling.LANCZOS) for one in taken)
    timing = {"duration": round(1000 * SECONDS), "loop": 0}
    first.save(HERE / "first-minute.webp", save_all=True, append_images=rest, quality=80, method=6, **timing)


if __name__ == "__main__":
    main()
