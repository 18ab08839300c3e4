"""A page that is redrawn again and again, as one that watches a training: it comes, and takes no more memory."""

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]
expect = pytest.importorskip("playwright.sync_api").expect

SLOW = 300_000  # milliseconds, on a busy machine


def heap_after(page, redraws) -> tuple[int, int]:
    """Bytes in use by scripts, and nodes in the document, once the page was redrawn so often and has swept up."""
    page.wait_for_function(
        "count => Number(document.querySelector('#number')?.textContent) >= count", arg=redraws, timeout=SLOW
    )
    devtools = page.context.new_cdp_session(page)
    devtools.send("HeapProfiler.collectGarbage")
    used = devtools.send("Runtime.getHeapUsage")["usedSize"]
    devtools.detach()
    whole = "document.querySelectorAll('.js-plotly-plot .main-svg').length === 6"  # none is just being replaced
    nodes = page.wait_for_function(f"{whole} && document.querySelectorAll('*').length", timeout=SLOW)
    return used, nodes.json_value()


def test_two_hundred_redraws_take_no_more_memory_than_fifty(serve, new_page):
    page = new_page()
    page.goto(serve("tests/browser/apps/redraw_app.py"))
    charts, failure = page.locator(".js-plotly-plot .main-svg"), page.get_by_test_id("stException")
    expect(charts.or_(failure).first).to_be_visible(timeout=SLOW)
    expect(failure).to_have_count(0)
    expect(charts).to_have_count(6, timeout=SLOW)  # of two
    early, late = heap_after(page, 50), heap_after(page, 200)
    assert late[0] < 1.3 * early[0], (early, late)
    assert late[1] < 1.2 * early[1], (early, late)
