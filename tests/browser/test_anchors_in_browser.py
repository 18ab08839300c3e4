"""The page Anchors in a real browser: play, step, hide letters, and an address that opens at the same step."""

import re

import pytest
from whole_page import LOOKS, expect_fitting

from attention.tasks import get_task

pytestmark = pytest.mark.browser
expect = pytest.importorskip("playwright.sync_api").expect
KNIGHT = ["n", "aɪ", "t", "</s>"]


@pytest.fixture
def open_anchors(serve, new_page):
    def open_anchors(query="", **options):
        page = new_page(**options)
        page.goto(f"{serve('app.py')}/anchors?{query}")
        expect(play(page)).to_be_visible(timeout=120_000)
        return page

    return open_anchors


def play(page):
    return page.get_by_role("button", name=re.compile("^(Play|Pause)$"))


def expect_step(page, step, of=4):
    expect(page.get_by_text(f"step {step} / {of}", exact=True)).to_be_visible(timeout=30_000)


def picture(page):
    return page.get_by_role("img", name=re.compile("step"))


def runs(page):
    """What stands over the two runs: title and answer of each."""
    return [text.split("\n") for text in page.locator(".run-head").all_inner_texts()]


def letters(page):
    return page.get_by_role("group", name="Hidden from the decoder").get_by_role("button")


def lines(page):
    """How many lines of the control are drawn."""
    return (
        page.locator(".stage")
        .first.locator("path[stroke-width]")
        .evaluate_all("all => all.filter(p => p.style.display !== 'none').length")
    )


@pytest.mark.slow
def test_it_plays_to_the_end_and_tells_the_address(open_anchors):
    page = open_anchors()
    expect_step(page, 1)
    play(page).click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect_step(page, 4)
    expect(page.get_by_role("button", name="Play")).to_be_visible()  # it stops by itself
    for token in KNIGHT:
        expect(page.locator(".sounds").first.get_by_text(token, exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile("step=4"))


@pytest.mark.slow
def test_pause_step_on_and_step_back(open_anchors):
    page = open_anchors("text=psychology")
    total = int(page.get_by_text(re.compile(r"^step 1 / \d+$")).inner_text().split("/")[1])
    play(page).click()
    expect_step(page, 2, total)
    play(page).click()
    shown = page.locator(".count").inner_text()
    page.wait_for_timeout(1800)  # longer than a beat
    assert page.locator(".count").inner_text() == shown
    step = int(shown.split()[1])
    page.get_by_role("button", name="Step on").click()
    expect_step(page, step + 1, total)
    page.get_by_role("button", name="Step back").click()
    expect_step(page, step, total)
    page.get_by_role("button", name="First step").click()
    expect_step(page, 1, total)
    expect(page.get_by_role("button", name="Step back")).to_be_disabled()


@pytest.mark.slow
def test_an_address_opens_at_the_same_step_and_head(open_anchors, new_page):
    page = open_anchors()
    page.get_by_role("button", name="Step on").click()
    page.get_by_role("button", name="Step on").click()
    page.get_by_role("button", name="head 5", exact=True).click()
    expect(page).to_have_url(re.compile("step=3.*lines=one|lines=one.*step=3"))
    other = new_page()
    other.goto(page.url)
    expect(play(other)).to_be_visible(timeout=60_000)
    expect_step(other, 3)
    expect(other.get_by_role("button", name="head 5", exact=True)).to_have_attribute("aria-pressed", "true")
    expect(picture(other).first).to_have_attribute("aria-label", picture(page).first.get_attribute("aria-label"))


@pytest.mark.slow
def test_keys_and_slider(open_anchors):
    page = open_anchors()
    picture(page).first.focus()
    page.keyboard.press("ArrowRight")
    expect_step(page, 2)
    page.keyboard.press("End")
    expect_step(page, 4)
    page.keyboard.press("ArrowLeft")
    expect_step(page, 3)
    page.keyboard.press("Home")
    expect_step(page, 1)
    page.keyboard.press(" ")
    expect_step(page, 2)
    page.keyboard.press(" ")
    slider = page.get_by_role("slider", name="Step", exact=True)
    slider.focus()
    page.keyboard.press("End")
    expect_step(page, 4)
    expect(slider).to_have_attribute("aria-valuetext", "step 4 / 4: </s>")


@pytest.mark.slow
def test_only_the_decoders_own_store_grows(open_anchors):
    page = open_anchors()
    anchor, own = (page.locator(f".panel.{name}") for name in ("anchor", "cache"))
    fixed = anchor.inner_text()
    for step in (1, 2, 3):
        expect_step(page, step)
        expect(own.locator(".full")).to_have_count(step)
        expect(own).to_contain_text(f"4 × (8 × {step} × 8)")
        assert anchor.inner_text() == fixed
        page.get_by_role("button", name="Step on").click()


@pytest.mark.slow
def test_the_lines_are_those_of_all_heads_or_of_one(open_anchors):
    page = open_anchors()
    page.wait_for_timeout(600)
    bundle = lines(page)
    page.get_by_role("button", name="head 1", exact=True).click()
    page.wait_for_timeout(600)
    assert 1 <= lines(page) <= 7 < bundle


@pytest.mark.slow
def test_nobody_who_wants_little_motion_sees_lines_glide(open_anchors):
    page = open_anchors(reduced_motion="reduce")
    paths = page.locator("svg path[stroke-width]")
    page.get_by_role("button", name="Step on").click()
    at_once = paths.evaluate_all("all => all.map(path => path.getAttribute('d'))")
    page.wait_for_timeout(600)
    assert paths.evaluate_all("all => all.map(path => path.getAttribute('d'))") == at_once


ON_ONE_SCREEN = (
    ".st-key-page_experiment", ".controls",
    ".stage >> nth=0", ".stage >> nth=1", ".sounds >> nth=0", ".sounds >> nth=1",
)  # fmt: skip


def test_letters_are_hidden_by_clicking_them_and_both_runs_are_on_one_screen(open_anchors):
    page = open_anchors(width=1280, height=720)
    boxes = [page.locator(part).bounding_box() for part in ON_ONE_SCREEN]
    assert all(box["y"] >= 0 and box["y"] + box["height"] <= 720 for box in boxes), boxes
    (*_, left, right), (first, second) = boxes, boxes[2:4]
    assert left["y"] == right["y"] and first["x"] + first["width"] <= second["x"]
    assert runs(page)[0] == ["Control: anchor fixed", "n aɪ t ✓"] and runs(page)[1][0] == "Hidden: k 1"
    letters(page).nth(0).click()
    letters(page).nth(4).click()
    expect(page.locator(".run-head").nth(1)).to_contain_text("Hidden: h 5")
    expect(letters(page).and_(page.locator("[aria-pressed=true]"))).to_have_text(["h"])
    assert letters(page).nth(4).evaluate("node => getComputedStyle(node).textDecorationLine") == "line-through"
    expect(page).to_have_url(re.compile("hidden=5"))
    assert runs(page)[0] == ["Control: anchor fixed", "n aɪ t ✓"]


@pytest.mark.slow
def test_on_a_phone_letters_are_hidden_by_tapping_and_the_runs_stand_one_below_the_other(open_anchors):
    page = open_anchors(width=390, height=844, has_touch=True, is_mobile=True)
    letters(page).nth(5).tap()
    expect(page.locator(".run-head").nth(1)).to_contain_text("Hidden: k 1, t 6")
    first, second = (page.locator(".stage").nth(which).bounding_box() for which in (0, 1))
    assert first["y"] + first["height"] <= second["y"]
    assert second["y"] + second["height"] - first["y"] <= 844  # both are seen together


@pytest.mark.slow
def test_letters_are_hidden_by_the_keyboard(open_anchors):
    page = open_anchors("hidden=none")
    expect(page.locator(".run-head").nth(1)).to_contain_text("Nothing is hidden")
    letters(page).nth(6).focus()
    page.keyboard.press(" ")
    expect(page.locator(".run-head").nth(1)).to_contain_text("Hidden: ‹/s›")
    expect(page.locator(".count")).to_have_text(re.compile("^step 1 /"))  # the key was the letter's, not the player's
    page.keyboard.press("Enter")
    expect(page.locator(".run-head").nth(1)).to_contain_text("Nothing is hidden")
    expect(letters(page).nth(6)).to_be_focused()


@pytest.mark.slow
def test_letters_of_another_text_are_not_those_that_were_hidden_before(open_anchors):
    page = open_anchors("text=photograph&hidden=3-4-end")
    pressed = letters(page).and_(page.locator("[aria-pressed=true]"))
    expect(pressed).to_have_text(["o", "t", "</s>"])
    page.get_by_test_id("stSidebar").get_by_text("Dates", exact=True).click()
    expect(page).to_have_url(re.compile("task=dates"))
    expect(pressed).to_have_count(3)
    expect(pressed.first).not_to_have_text("o")
    page.go_back()
    expect(pressed).to_have_text(["o", "t", "</s>"])


@pytest.mark.slow
def test_another_word_is_played_from_its_own_steps(open_anchors):
    page = open_anchors("step=4")
    box = page.get_by_role("textbox", name="Word")
    box.fill("a" * 2)
    box.press("Enter")
    expect(page.locator(".letters").first).to_have_text(re.compile("^aa</s>$"), timeout=30_000)


@pytest.mark.slow
@pytest.mark.parametrize("look", LOOKS)
def test_the_longest_word_fits_the_screen_and_axe_finds_nothing_to_mend(open_anchors, look):
    page = open_anchors("text=characterization&step=5", **look)
    assert len("characterization") == get_task("spelling").max_src_len
    expect(page.get_by_text("first 300 test words right")).to_have_count(2, timeout=60_000)
    expect_fitting(page, look["width"])
