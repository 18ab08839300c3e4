"""Ways between the pages in a real browser: every row of buttons keeps its mark, and Back goes back."""

import re
from itertools import pairwise, permutations
from urllib.parse import parse_qsl, urlsplit

import pytest
from whole_page import ADDRESSES, complaints_of, expect_whole

from pages.shared import settings
from pages.shared.every_page import PAGES, all_declared
from pages.shared.texts import label

pytestmark = pytest.mark.browser
expect = pytest.importorskip("playwright.sync_api").expect

START = "text=phone&enc_heads=8&enc_dim=8&dec_heads=16&dec_dim=4&kind=decoder&layer=1"
ROWS = """() => [...document.querySelectorAll('[role=radiogroup][aria-label]')]
    .filter(row => row.querySelector('[data-variant=segmented_control]'))
    .map(row => [row.getAttribute('aria-label'), [...row.querySelectorAll('[role=radio]')]
        .filter(button => button.getAttribute('aria-checked') === 'true').map(button => button.innerText.trim())])"""


def wait(page, name):
    """Until this page is whole."""
    expect(page).to_have_url(re.compile(rf"://[^/]+/{ADDRESSES[name]}(\?|$)"), timeout=60_000)
    page.wait_for_timeout(300)
    expect_whole(page, name)


def go(page, name):
    """Follow the link of the navigation."""
    page.get_by_test_id("stSidebarNavLink").get_by_text(label("app", name), exact=True).click()
    wait(page, name)


def read(page):
    """The settings that the address bar has."""
    found, notices = settings.read_address(dict(parse_qsl(urlsplit(page.url).query)), all_declared())
    assert not notices
    return found


def expect_marks(page):
    """Every row of buttons has one mark, and those of the kind of attention and of the layer have the right one."""
    all_marked = "rows.every(([name, chosen]) => chosen.length === 1 || !named.includes(name))"
    named = [label("kind", "label"), label("kind", "layer"), label("sidebar", "task")]
    page.wait_for_function(f"named => {{ const rows = ({ROWS})(); return {all_marked}; }}", arg=named, timeout=30_000)
    rows, wanted = dict(page.evaluate(ROWS)), read(page)
    says = {
        label("kind", "label"): label("kind", f"{wanted.kind}_short"),
        label("kind", "layer"): {str(wanted.layer), label("head", "layer", layer=wanted.layer)},
        label("sidebar", "task"): label(wanted.task, "title"),
    }
    for name in says.keys() & rows.keys() if "compare" not in page.url else ():
        assert rows[name][0] in (says[name] if isinstance(says[name], set) else {says[name]})


def walk(page, names):
    """Follow the navigation from page to page; everything set stays, and each page has a title of its own."""
    before, titles = read(page), {}
    for name in names:
        go(page, name)
        expect_marks(page)
        assert read(page) == before
        expect(page).to_have_title(re.compile(label("app", "title")))
        titles[name] = page.title()
    assert len(set(titles.values())) == len(PAGES)


def all_pairs():
    """From the first page over every ordered pair of pages once, back to the first (Hierholzer's algorithm)."""
    left = {name: [other for other in PAGES if other != name] for name in PAGES}
    open_walk, circuit = [next(iter(PAGES))], []
    while open_walk:
        ways = left[open_walk[-1]]
        if ways:
            open_walk.append(ways.pop())
        else:
            circuit.append(open_walk.pop())
    return circuit[::-1]


def test_every_pair_of_pages_is_on_the_long_walk():
    found = all_pairs()
    assert sorted(pairwise(found)) == sorted(permutations(PAGES, 2))


def rounds(*strides):
    """From the first page through all others and back to it, once with each stride, which has no divisor in common
    with the number of pages."""
    names = list(PAGES)
    return [names[0], *(names[stride * place % len(names)] for stride in strides for place in range(1, 1 + len(names)))]


def test_every_page_is_on_each_round():
    for stride in (1, 3, -1):
        first, *names = rounds(stride)
        assert sorted(names) == sorted(PAGES) and first == names[-1] == next(iter(PAGES))


WAITS = [pytest.param(wait_ms, marks=pytest.mark.exhaustive) for wait_ms in (30, 100, 300)]
WALKS = [
    pytest.param(rounds(1), id="round"),
    pytest.param(rounds(-1, 3), id="other_rounds", marks=pytest.mark.slow),
    pytest.param(all_pairs(), id="all_pairs", marks=pytest.mark.exhaustive),
]


@pytest.mark.parametrize("names", WALKS)
def test_every_row_of_buttons_keeps_its_mark_from_page_to_page(serve, new_page, names):
    url, page = serve("app.py"), new_page()
    logged, complaints = len(serve.unexpected(url)), complaints_of(page, url)
    page.goto(f"{url}/?{START}")
    wait(page, names[0])
    expect_marks(page)
    walk(page, names[1:])
    assert complaints == []
    assert serve.unexpected(url)[logged:] == []


@pytest.mark.slow
def test_back_gives_what_was_shown_on_each_page(serve, new_page):
    url, page = serve("app.py"), new_page()
    page.goto(f"{url}/?{START}")
    wait(page, "playground")
    shown = read(page)
    go(page, "anchors")
    go(page, "redundancy")
    seen = []
    for _ in range(8):
        page.go_back()
        page.wait_for_timeout(1500)
        expect(page.locator("[data-test-script-state=notRunning]")).to_be_visible(timeout=120_000)
        seen.append(urlsplit(page.url).path)
        assert read(page) == shown
        if seen[-1] == "/":
            break
    assert seen[-1] == "/" and "/anchors" in seen


@pytest.mark.slow
def test_going_back_right_after_a_change_shows_the_word_of_the_address(serve, new_page):
    page = new_page()
    page.goto(f"{serve('app.py')}/?text=phone")
    wait(page, "playground")
    field = page.get_by_role("textbox", name="Word")
    field.fill("box")
    field.press("Enter")
    expect(page).to_have_url(re.compile("text=box"))
    page.go_back()
    expect(page.locator(".answer .said")).to_contain_text("f")
    expect(page).to_have_url(re.compile("text=phone"))
    expect(field).to_have_value("phone")


@pytest.mark.parametrize("wait_ms", [pytest.param(60, marks=pytest.mark.slow), *WAITS])
def test_going_back_in_the_middle_of_a_change_leaves_page_and_address_agreed(serve, new_page, wait_ms):
    page = new_page()
    page.goto(f"{serve('app.py')}/?enc_heads=8&dec_heads=8")
    wait(page, "playground")
    row = page.get_by_role("radiogroup", name=label("sidebar", "dec_heads"), exact=True)
    row.get_by_role("radio", name=re.compile(r"^16\b")).click()
    expect(page).to_have_url(re.compile("dec_heads=16"))
    wait(page, "playground")
    row.get_by_role("radio", name=re.compile(r"^4\b")).click()
    page.wait_for_timeout(wait_ms)
    page.go_back()
    page.wait_for_timeout(3000)
    wait(page, "playground")
    there, rows = read(page), dict(page.evaluate(ROWS))
    for field in ("enc_heads", "enc_dim", "dec_heads", "dec_dim"):
        assert [name.split()[0] for name in rows[label("sidebar", field)]] == [str(there[field])]  # without its mark
    expect(page.locator("[role=radiogroup][aria-label='Attention heads'] [role=radio]")).to_have_count(there.dec_heads)


@pytest.mark.slow
def test_a_link_of_fixes_compared_has_the_path_of_the_playground(serve, new_page):
    url, page = serve("app.py"), new_page()
    page.goto(f"{url}/compare")
    link = page.get_by_role("link", name=label("compare", "see")).first
    expect(link).to_be_visible(timeout=120_000)
    assert urlsplit(link.evaluate("link => link.href")).path == "/"


@pytest.mark.slow
def test_miniatures_stay_embedded(serve, new_page):
    url, page = serve("app.py"), new_page()
    page.goto(f"{url}/wild?embed=true")
    link = page.locator("table a[href^='./?']").first
    expect(link).to_be_visible(timeout=120_000)
    assert dict(parse_qsl(urlsplit(link.evaluate("link => link.href")).query))["embed"] == "true"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["playground", "anchors"])
def test_a_printed_page_is_whole_and_has_no_sidebar_and_no_toolbar(serve, new_page, name):
    page = new_page(width=794)  # A4 at 96 dots an inch
    page.goto(f"{serve('app.py')}/{ADDRESSES[name]}?{START}")
    wait(page, name)
    page.emulate_media(media="print")
    for part in ("stSidebar", "stHeader", "stToolbar"):
        for found in page.get_by_test_id(part).all():
            expect(found).to_be_hidden()
    for found in page.locator(".modebar").all():
        expect(found).to_be_hidden()
    sizes = "() => { const all = document.querySelector('[data-testid=stMainBlockContainer]');"
    sizes += " return [document.documentElement.scrollHeight, all.scrollHeight, all.scrollWidth, all.clientWidth]; }"
    height, inner, width, room = page.evaluate(sizes)
    assert height >= inner  # nothing scrolls inside: a printer sees the whole
    assert width <= room
