"""What a class's link holds, the link itself, and the plan that is generated."""

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from app_test import address_of, checked, go, open_page, read_address, settings_of, texts

from pages.lesson.address import LESSON
from pages.lesson.lecturer import class_link, is_own
from pages.lesson.plan import plan
from pages.lesson.steps import STEPS
from pages.shared.locked import GROUPS, LOCK, SHOW, held, hidden, hold
from pages.shared.settings import Settings
from pages.shared.situations import SITUATIONS, apply_situation
from pages.shared.texts import label

DOCS = Path(__file__).parents[3] / "docs" / "lesson.md"


@pytest.mark.parametrize("situation", SITUATIONS)
def test_no_situation_changes_what_is_held(situation):
    before = Settings().put(LOCK, ("heads",)).put(SHOW, ("heads", "word"))
    after = hold(before, apply_situation(before.first_visit(), situation).put("text", "box"))
    assert all(after[name] == before[name] for name in (*GROUPS["heads"], "kv", "kv_variant", "task"))
    assert (after[LOCK], after[SHOW], after.text) == (("heads",), ("heads", "word"), "box")


def test_what_is_not_shown_is_hidden_and_held():
    settings = Settings().put(SHOW, ("word",))
    assert hidden(settings) == held(settings) == {name for names in GROUPS.values() for name in names} - {"text"}
    assert hidden(Settings()) == held(Settings()) == set()


@pytest.mark.parametrize(
    "given, known", [("nonsense", None), ("heads-nonsense", ("heads",)), ("<b>", None), ("", None)]
)
def test_names_that_are_not_known_are_told(given, known):
    settings, notices = read_address({"lock": given})
    assert settings[LOCK] == known
    assert (notices == []) == (given == "")


def test_a_locked_control_is_seen_and_dead_and_nothing_else_changes_it():
    app = open_page(lock="heads-kv")
    assert app.segmented_control(key="dec_heads").disabled
    before = settings_of(app)
    app = checked(app.button(key="try_more").click().run())
    assert app.selectbox(key="kv").disabled
    assert all(row.disabled for row in app.pills if (row.key or "").startswith("situation_"))
    after = settings_of(app)
    assert all(after[name] == before[name] for name in (*GROUPS["heads"], *GROUPS["kv"]))
    app = checked(app.text_input(key="text").set_value("box").run())
    assert settings_of(app).text == "box"
    assert address_of(app)["lock"] == "heads-kv"


def test_what_is_hidden_is_not_drawn():
    app = open_page(show="word")
    keys = {widget.key for widget in (*app.segmented_control, *app.selectbox, *app.pills)}
    assert not keys & {"dec_heads", "enc_heads", "kv", "task", "keep", "situation"}
    assert app.text_input(key="text").value == settings_of(app).text


def test_locked_pages_are_seen_and_lead_nowhere():
    app = open_page("lesson", lesson=4, lock="pages")
    assert label("locked", "pages") in [caption.value for caption in app.sidebar.caption]
    app = go(app, "shapes")
    assert app.session_state["page"] == "lesson" and settings_of(app)[LESSON] == 4
    assert settings_of(app)[LOCK] == ("pages",)
    app = open_page("article", lock="pages")
    app = checked(app.button(key="playground_A5").click().run())
    assert app.session_state["page"] == "article" and label("locked", "stays") in texts(app)
    assert settings_of(app).kv == "reproject"
    assert open_page("shapes", present=1, lock="pages").selectbox(key="bar_page").disabled


def test_without_a_lock_the_other_pages_are_open():
    app = go(open_page("lesson", lock="heads"), "shapes")
    assert app.session_state["page"] == "shapes" and settings_of(app)[LOCK] == ("heads",)
    assert label("locked", "pages") not in texts(app)


def test_what_a_lecturer_chose_is_there_when_the_box_is_opened_again():
    app = open_page("lesson")
    for open_ in (True, False, True):
        app.session_state["boxes"] = {"lesson_lecturer": open_}
        app = checked(app.run())
        if open_ and not app.pills(key="lesson_lock").value:
            checked(app.pills(key="lesson_lock").set_value(["heads"]).run())
            checked(app.text_input(key="lesson_host").set_value("10.0.0.7:8501").run())
    assert app.pills(key="lesson_lock").value == ["heads"]
    assert app.text_input(key="lesson_host").value == "10.0.0.7:8501"


def test_the_links_of_a_lesson_carry_what_is_held():
    app = open_page("lesson", lesson=9, lock="heads", show="heads-word")
    app = checked(app.button(key="lesson_skip").click().run())
    (link,) = (element.proto.url for element in app.get("link_button"))
    query = parse_qs(urlsplit(link).query)
    assert (query["lock"], query["show"]) == (["heads"], ["heads-word"])


@pytest.mark.parametrize("given", [{"lock": "pages"}, {"show": "word"}, {"class": "abcdefghjk"}])
def test_a_page_opened_by_a_class_link_offers_no_plan(given):
    app = open_page("lesson")
    assert label("lecturer", "title") in [box.label for box in app.expander]
    app = open_page("lesson", **given)
    assert label("lecturer", "title") not in [box.label for box in app.expander]


def test_the_class_link_takes_another_host():
    link = urlsplit(class_link("http://localhost:8501/lesson", "192.168.0.7:8501", ["heads"], ["word", "heads"]))
    assert (link.netloc, link.path) == ("192.168.0.7:8501", "/lesson")
    assert parse_qs(link.query) == {"lesson": ["1"], "lock": ["heads"], "show": ["word-heads"]}
    assert is_own("http://localhost:8501/lesson") and not is_own("https://lecture.example/lesson")


def test_the_plan_in_the_docs_is_the_generated_one():
    assert DOCS.read_text(encoding="utf-8") == plan(), "python -m pages.lesson.plan > docs/lesson.md"


def test_students_see_no_expected_answers():
    app = open_page("lesson", lesson=5)
    assert STEPS[4].text("plan_expect") not in texts(app)
    assert label("plan", "right") not in texts(app)
