"""The link holds what the picture needs, on a first visit too; a text that is too long for its task stays out of it."""

import json
from urllib.parse import parse_qsl, urlsplit

import pytest
from app_test import address_of, checked, open_page, settings_of, texts
from streamlit.testing.v1 import AppTest

from attention.tasks import TASKS, get_task
from pages.shared.every_page import PAGES
from pages.shared.settings import LONGEST_TEXT, Settings


def sent(app: AppTest, key: str) -> dict:
    ((data,),) = (json.loads(one.proto.json) for one in app.get("bidi_component") if one.key == key)
    return data


def link(app: AppTest) -> dict[str, str]:
    """The settings in the link that is copied."""
    return dict(parse_qsl(urlsplit(sent(app, "copy_page")["link"]).query, keep_blank_values=True))


def test_a_first_visit_has_a_link_that_says_what_is_shown():
    app = open_page()
    assert address_of(app) == {}
    assert settings_of(open_page(**link(app))) == settings_of(app) != settings_of(open_page(text="box"))
    assert link(app)["enc_heads"] == str(Settings.enc_heads) and link(app)["text"] == "knight"


@pytest.mark.parametrize("page", PAGES)
def test_every_page_has_a_link_that_opens_what_it_shows(page):
    first = next(iter(PAGES))
    app = open_page("" if page == first else page, text="box", enc_heads=4, dec_heads=8)
    assert settings_of(open_page("" if page == first else page, **link(app))) == settings_of(app)


@pytest.mark.parametrize("task", TASKS)
def test_a_text_over_the_limit_of_its_task_is_refused_as_when_typed_and_left_out(task):
    known = get_task(task)
    text = (known.examples[0] * 100)[: known.max_src_len + 20]
    opened, typed = open_page(task=task, text=text), open_page(task=task)
    checked(typed.text_input(key="text").set_value(text).run())
    refused = [line for line in texts(opened).splitlines() if "too long" in line or "Shown instead" in line]
    assert refused and all(line in texts(typed) for line in refused)
    for app in (opened, typed):
        assert "text" not in link(app) and link(app)["task"] == task
    assert "text" not in address_of(typed)
    checked(typed.run())
    assert "text" not in address_of(typed)


def test_a_text_within_the_limit_stays_in_the_link_even_if_it_is_refused():
    assert link(open_page(text="no way 3"))["text"] == "no way 3"
    longer_as_typed = "the 3rd of   November       1994"
    read = get_task("dates").is_too_long(longer_as_typed)
    assert read == (link(open_page(task="dates", text=longer_as_typed)).get("text") is None)


def test_a_very_long_text_is_cut_with_a_sentence():
    app = open_page()
    checked(app.text_input(key="text").set_value("a" * 1_000_000).run())
    assert len(settings_of(app).text) == LONGEST_TEXT
    assert f"The text was cut after {LONGEST_TEXT} characters." in texts(app)


def test_the_page_around_hears_of_settings_only():
    app = open_page(text="box", nonsense="1", embed="true")
    told = dict(parse_qsl(sent(app, "outer_address_page")["query"]))
    assert told == link(app) and "nonsense" not in told
    assert sent(app, "outer_address_page")["outside"] == "https://huggingface.co"
    assert sent(open_page(), "outer_address_page")["query"] == ""


def test_the_code_is_that_of_the_link():
    app = open_page(text="box")
    app.session_state["qr"] = True
    checked(app.run())
    (shown,) = (code.value for code in app.code)
    assert shown == sent(app, "copy_page")["link"]


def test_the_class_has_a_link_of_its_own():
    app = open_page("lesson")
    app.session_state["boxes"] = {"lesson_lecturer": True}
    checked(app.run())
    assert "lesson=1" in sent(app, "copy_class")["link"]
