"""The three things to try: each sets its whole situation, says what is to be seen, and is taken back by one press."""

from dataclasses import replace

import pytest
from app_test import open_page, texts
from grid_sent import grid_of
from streamlit.testing.v1 import AppTest

from attention.tasks import get_task
from pages.shared.models import record_of, word_view
from pages.shared.settings import Settings
from pages.shared.texts import catalogue


def press(app: AppTest, name: str) -> AppTest:
    return app.button(key=f"try_{name}").click().run()


def settings_of(app: AppTest) -> Settings:
    return app.session_state["settings"]


def answer(settings: Settings) -> tuple[str, ...]:
    return word_view(record_of(settings), get_task(settings.task).read(settings.text)).answer


@pytest.mark.parametrize(("name", "heads", "says"), [("more", 16, "It runs."), ("reuse", 16, "It does not run.")])
def test_a_situation_is_set_from_the_default_and_taken_back(name, heads, says):
    app = open_page(enc_heads=2, dec_heads=4, text="box", kind="encoder")
    before = settings_of(app)
    press(app, name)
    after = settings_of(app)
    assert (after.enc_heads, after.dec_heads, after.text, after.kind) == (8, heads, "box", "cross")
    assert says in texts(app)
    press(app, name)
    assert settings_of(app) == before
    assert says not in texts(app)


@pytest.mark.parametrize("text", ["knight", "box", "through"])
def test_a_needed_head_is_found_and_brought_into_view(text):
    """Of this word, or where it hangs on none, of an example, which is said."""
    app = press(open_page(text=text), "needed")
    settings = settings_of(app)
    (head,) = settings.off
    assert (head.kind, head.layer + 1, head.number + 1) == (settings.kind, settings.layer, settings.head)
    tiles = [tile for section in grid_of(app)["sections"] for tile in section["tiles"]]
    assert [tile["head"] for tile in tiles if tile.get("away")] == [head.number]  # and is drawn so
    whole = replace(settings, off=())
    assert answer(settings) != answer(whole)
    assert " ".join(answer(whole)) in texts(app)
    assert (f"No single head changes “{text}”. In “{settings.text}”:" in texts(app)) == (settings.text != text)
    assert settings_of(press(app, "needed")) == Settings(text=text, of_pages=settings.of_pages)


def test_where_no_head_changes_the_word_that_is_said(monkeypatch):
    monkeypatch.setattr("pages.playground.tries.needed_heads", lambda *_: ())
    app = press(open_page(task="reverse", text="zzz"), "needed")
    assert settings_of(app).off == ()
    assert "No single head changes this word" in texts(app)


def test_another_word_may_be_typed_meanwhile():
    """It is said anew of that word, and stays when the situation is taken back."""
    app = press(open_page(text="knight"), "needed")
    off = settings_of(app).off
    app.text_input(key="text").set_value("phone").run()
    settings = settings_of(app)
    assert settings.off == off
    changed = answer(settings) != answer(replace(settings, off=()))
    assert ("becomes" in texts(app)) == changed
    assert settings_of(press(app, "needed")) == Settings(text="phone", of_pages=settings.of_pages)


def test_what_was_tried_is_over_with_another_model():
    app = press(open_page(), "more")
    app.segmented_control(key="enc_heads").set_value(4).run()
    assert app.button(key="try_more").label == catalogue()["tries"]["more"]
    assert catalogue()["tries"]["more_outcome"] not in texts(app)
