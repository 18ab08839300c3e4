"""How long until a changed head count is on the screen, in a real browser, beside pages that do less or do it plainly.

    python -m benchmarks.interaction [--changes 20] [--starts 3]

Four pages are served, each by a Streamlit of its own with the project's settings and torch imported, and changed in
turns, between 8 and 16 decoder heads:

    playground   this project's page, until the new maps are painted
    text only    the same settings, model and numbers, with one line of text in place of the pictures
    bare         one widget and one line of text
    subplots     the same heads as one plotly figure with a subplot for each

Times are taken inside the browser, from the click to the second animation frame after the new state is in the document.
The start is measured from `streamlit run` to the first painted maps, or line of text, of the playground and of the bare
page in turns.
"""

import argparse
import re
import statistics
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.browser import FLAGS, Servers, find_browser

# Whether a page shows `want` heads, as JavaScript.
IN_GRID = """[...document.querySelectorAll('*')].some(host => host.shadowRoot &&
    host.shadowRoot.querySelectorAll('[role=radiogroup] [role=radio]').length === want)"""
IN_TEXT = """[...document.querySelectorAll('[data-testid=stMarkdownContainer]')].some(text =>
    text.textContent.startsWith(want + ' heads'))"""
IN_PLOT = "document.querySelectorAll('.js-plotly-plot .hm').length === want"
PAGES = {
    "playground": ("app.py", IN_GRID),
    "text only": ("benchmarks/pages/text_only.py", IN_TEXT),
    "bare": ("benchmarks/pages/bare.py", IN_TEXT),
    "subplots": ("benchmarks/pages/subplots.py", IN_PLOT),
}
ADDRESS = "?enc_heads=8&dec_heads=8"
CHANGE = """([button, want]) => new Promise(resolve => {
    const shown = () => %s;
    const begin = performance.now();
    const done = () => resolve(performance.now() - begin);
    const look = () => shown() ? requestAnimationFrame(() => requestAnimationFrame(done)) : requestAnimationFrame(look);
    button.click();
    requestAnimationFrame(look);
})"""
SETTLE_SECONDS = 1.0  # between two changes, so that none pays for the charts that the one before left to be drawn


def open_page(browser: Browser, url: str, shown: str, heads: int) -> Page:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(url + ADDRESS)
    page.wait_for_function(f"() => {{ const want = {heads}; return {shown} }}", timeout=120_000)
    return page


def change(page: Page, shown: str, heads: int) -> float:
    """Choose another head count; milliseconds until it is painted."""
    group = page.get_by_role("radiogroup", name="Decoder heads")
    button = group.get_by_role("radio", name=re.compile(rf"^{heads}\b")).element_handle()
    return page.evaluate(CHANGE % shown, [button, heads])


def measure_changes(browser: Browser, servers: Servers, changes: int) -> dict[str, list[float]]:
    """Milliseconds of every change, by page; the pages take turns, so that all see the same machine."""
    pages = {name: open_page(browser, servers(script), shown, 8) for name, (script, shown) in PAGES.items()}
    times: dict[str, list[float]] = {name: [] for name in PAGES}
    for number in range(-2, changes):  # the first two changes fill caches and do not count
        for name, page in pages.items():
            spent = change(page, PAGES[name][1], 16 if number % 2 == 0 else 8)
            time.sleep(SETTLE_SECONDS)
            if number >= 0:
                times[name].append(spent)
    return times


def measure_start(browser: Browser, folder: Path, name: str) -> float:
    """Seconds from `streamlit run` to what a page first paints."""
    servers, (script, shown) = Servers(folder), PAGES[name]
    begin = time.perf_counter()
    try:
        open_page(browser, servers(script), shown, 8).close()
        return time.perf_counter() - begin
    finally:
        servers.stop()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--changes", type=int, default=20, help="changes counted for each page")
    parser.add_argument("--starts", type=int, default=3, help="starts counted")
    options = parser.parse_args()
    path = find_browser()
    if path is None:
        parser.error("no browser was found: install chromium, or name one in CHROMIUM")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        servers = Servers(Path(folder))
        try:
            times = measure_changes(browser, servers, options.changes)
        finally:
            servers.stop()
        print(f"{'page':12} {'median ms':>10} {'95th %':>8} {'× text only':>12} {'× bare':>8}")
        medians = {name: statistics.median(spent) for name, spent in times.items()}
        for name, spent in times.items():
            slow = sorted(spent)[int(0.95 * (len(spent) - 1) + 0.5)]
            to_text, to_bare = (medians[name] / medians[other] for other in ("text only", "bare"))
            print(f"{name:12} {medians[name]:10.0f} {slow:8.0f} {to_text:12.2f} {to_bare:8.2f}")
        pair = ("playground", "bare")
        starts = [[measure_start(browser, Path(folder), name) for name in pair] for _ in range(options.starts)]
        maps, bare = (statistics.median(column) for column in zip(*starts, strict=True))
        print(f"\n`streamlit run` to the first maps {maps:.1f} s, to the bare page {bare:.1f} s: {maps / bare:.2f} ×")
        browser.close()


if __name__ == "__main__":
    main()
