"""The lesson in a browser: walked through by a student, and given by a lecturer to a class of three."""

import csv
import json
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from whole_page import complaints_of, expect_fitting, expect_whole

from pages.lesson.steps import STEPS
from pages.shared.texts import label

pytestmark = pytest.mark.browser
expect = pytest.importorskip("playwright.sync_api").expect

SEEN = label("lesson", "seen")
SENTENCE = '<img src=x onerror="document.title=1"> =1+1'
SLOW = 120_000  # ms, for what is computed on a busy machine


def shown(page, number: int) -> None:
    """Wait until a step is there, with all that is drawn of it."""
    expect(page.get_by_role("heading", name=re.compile(rf"^{number}\. "))).to_be_visible(timeout=SLOW)
    expect(page.locator("[data-test-script-state=notRunning]")).to_be_visible(timeout=SLOW)


def predict(page, step, place: int, held_back: bool = False) -> str:
    """Choose one of the choices, by its place; gives its words. `held_back`: what comes of it is yet to be shown."""
    choice = page.locator(f".st-key-lesson_choice_{step.name} button").nth(place)
    words = choice.inner_text()
    choice.click()
    come = page.get_by_text(label("hands", "wait")) if held_back else page.get_by_role("heading", name=SEEN)
    expect(come).to_be_visible(timeout=SLOW)
    return words


def opened(page, box: str):
    """One of the titles below the steps, opened."""
    page.locator(f".st-key-box_{box} summary").click()
    return page.locator(f".st-key-box_{box}")


def told_by(page) -> dict[str, int]:
    """The bars of a show of hands: how many hands each choice has, without those that have none."""
    rows = page.locator(".hands tr").all()
    counts = {row.locator("th").inner_text(): int(row.locator("td").last.inner_text()) for row in rows}
    return {choice: count for choice, count in counts.items() if count}


def test_a_prediction_is_still_there_when_the_page_is_loaded_anew(serve, new_page):
    page = new_page()
    complaints = complaints_of(page, serve("app.py"))
    page.goto(f"{serve('app.py')}/lesson?lesson=5")
    expect_whole(page, "lesson")
    said = predict(page, STEPS[4], 2)
    page.wait_for_function("localStorage['attention-lesson']?.includes('silent')", timeout=SLOW)
    page.reload()
    expect(page.get_by_role("heading", name=SEEN)).to_be_visible(timeout=SLOW)
    expect(page.get_by_text(label("lesson", "predicted", choice=said).replace("*", ""))).to_be_visible()
    assert json.loads(page.evaluate("localStorage['attention-lesson']")) == {"reuse": ["silent", ""]}
    assert page.evaluate("localStorage['attention-lesson-browser']") is None  # a name is kept in a class alone
    assert complaints == []


@pytest.mark.slow
def test_a_student_predicts_runs_and_hands_in(serve, new_page, browser, tmp_path):
    page = new_page(accept_downloads=True)
    url = serve("app.py")
    complaints = complaints_of(page, url)
    page.goto(f"{url}/lesson")
    said = []
    for number, step in enumerate(STEPS, start=1):
        shown(page, number)
        expect(page.get_by_text(step.learned())).to_have_count(0)
        said.append(predict(page, step, number % 3))
        expect(page.get_by_text(step.learned())).to_be_visible()
        for row in page.locator('[class*="st-key-lesson_"] [role=radiogroup]').all()[1:2]:
            row.locator("button, [role=radio]").last.click()  # the experiment's own first choice
            expect(page.locator("[data-test-script-state=notRunning]")).to_be_visible(timeout=SLOW)
        if number != 4:
            field = page.locator(f".st-key-lesson_sentence_{step.name} input")
            field.fill(SENTENCE)
            field.press("Enter")
        if number < len(STEPS):
            page.locator(".st-key-lesson_next button").click()
    box = opened(page, "lesson_hand_in")
    box.get_by_label(label("hand_in", "name")).fill("Ada <b>")
    expect(box.locator(".st-key-lesson_sheet")).to_have_count(0)  # which would lack the name that is being typed
    box.locator(".st-key-lesson_make button").click()
    files = {}
    for kind in ("sheet", "table"):
        with page.expect_download() as download:
            box.locator(f".st-key-lesson_{kind} button").click()
        files[kind] = tmp_path / download.value.suggested_filename
        download.value.save_as(files[kind])
    assert complaints == []

    context = browser.new_context()
    try:
        sheet, asked = context.new_page(), []
        sheet.on("request", lambda request: asked.append(request.url))
        sheet.goto(files["sheet"].as_uri())
        assert sheet.locator("section").count() == len(STEPS)
        assert "Ada <b>" in sheet.inner_text("body") and sheet.locator("body b", has_text="Ada").count() == 0
        assert sheet.inner_text("body").count(SENTENCE) == len(STEPS) - 1
        assert sheet.title() == label("sheet", "title")
        for place, words in enumerate(said):
            assert words in sheet.locator("section").nth(place).inner_text()
        assert sheet.evaluate("[...document.images].every(image => image.naturalWidth > 0)")
        links = [link.get_attribute("href") for link in sheet.locator("a").all()]
        assert links == [f"{url}/lesson?lesson={number}" for number in range(1, len(STEPS) + 1)]
        assert [one for one in asked if not one.startswith(("file:", "data:"))] == []
    finally:
        context.close()
    rows = list(csv.reader(files["table"].open(encoding="utf-8", newline="")))
    assert [row[2] for row in rows[1:]] == said and {row[0] for row in rows[1:]} == {"Ada <b>"}


@pytest.mark.slow
def test_a_lecturer_and_three_students_of_a_class(serve, new_page, tmp_path):
    lecturer = new_page(accept_downloads=True)
    lecturer.goto(f"{serve('app.py')}/lesson?lesson=5")
    expect_whole(lecturer, "lesson")
    box = opened(lecturer, "lesson_lecturer")
    box.locator(".st-key-lesson_lock button").filter(has_text=label("lecturer", "group_pages")).click()
    box.locator(".st-key-lesson_class button").click()
    expect(lecturer).to_have_url(re.compile("class=[a-z]{8,}"))
    expect(box.locator("code")).to_contain_text("class=")
    link = box.locator("code").inner_text()
    query = parse_qs(urlsplit(link).query)
    assert query["lesson"] == ["1"] and query["lock"] == ["pages"]

    students, said = [new_page(width=390, height=844, has_touch=True) for _ in range(3)], []
    for student, place in zip(students, (0, 2, 2), strict=True):
        student.goto(link.replace("lesson=1", "lesson=5"))
        shown(student, 5)
        said.append(predict(student, STEPS[4], place, held_back=True))
    expect(lecturer.get_by_text(label("hands", "number", count=3))).to_be_visible()
    expect(lecturer.locator(".hands")).to_have_count(0)
    lecturer.locator(".st-key-lesson_hands button").click()
    assert said[1] == said[2] != said[0]
    for page in (lecturer, *students):
        expect(page.locator(".hands tr", has_text=said[1])).to_contain_text("2")
        assert told_by(page) == {said[0]: 1, said[1]: 2}
        expect(page.get_by_role("heading", name=SEEN)).to_have_count(0)
    lecturer.reload()  # the browser knows that it leads
    lecturer.locator(".st-key-lesson_happens button").click(timeout=SLOW)
    for page in (lecturer, *students):
        expect(page.get_by_role("heading", name=SEEN)).to_be_visible(timeout=SLOW)

    # Loaded anew, and cleared: the same browser has one vote, and the last one counts.
    again = students[1]
    again.reload()
    shown(again, 5)
    expect(again.locator(".hands")).to_be_visible()
    opened(again, "lesson_hand_in").locator(".st-key-lesson_clear button").click()
    expect(again.locator(".st-key-lesson_choice_reuse")).to_be_visible()
    predict(again, STEPS[4], 0)
    for page in (lecturer, *students):
        expect(page.locator(".hands tr", has_text=said[0])).to_contain_text("2")
        assert told_by(page) == {said[0]: 2, said[1]: 1}

    # The other pages are seen, and dead: for the mouse by their look, for the keyboard because one is brought back.
    other = new_page()
    other.goto(link)
    shown(other, 1)
    to_shapes = other.get_by_test_id("stSidebarNav").get_by_role("link", name=label("app", "shapes"))
    expect(to_shapes).to_be_visible()
    expect(to_shapes).to_have_css("pointer-events", "none")
    to_shapes.focus()
    to_shapes.press("Enter")
    shown(other, 1)
    expect(other).to_have_url(re.compile("/lesson"), timeout=SLOW)

    box = opened(lecturer, "lesson_lecturer")
    box.locator(".st-key-lesson_plan button").first.click()
    with lecturer.expect_download(timeout=SLOW) as download:
        box.locator(".st-key-lesson_plan_file button").click(timeout=SLOW)
    plan = download.value.path().read_text(encoding="utf-8")
    assert plan.count("<section>") == len(STEPS) and label("plan", "right") in plan


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(number, marks=pytest.mark.slow if number % 3 == 2 else pytest.mark.exhaustive)
        for number in range(1, len(STEPS) + 1)
    ],
)
def test_a_step_fits_a_laptop_and_a_phone(serve, new_page, number):
    page = new_page(color_scheme=["light", "dark"][number % 2])
    page.goto(f"{serve('app.py')}/lesson?lesson={number}")
    shown(page, number)
    page.locator(".st-key-lesson_skip button").click()
    expect(page.get_by_role("heading", name=SEEN)).to_be_visible(timeout=SLOW)
    shown(page, number)
    expect_fitting(page, 1280)
