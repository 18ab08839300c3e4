"""A presentation: begun beside the title, kept through changes and from page to page, ended; larger type in figures."""

import numpy as np
import pytest
from app_test import address_of, checked, open_page, settings_of, texts

from attention.figures import attention_chart
from attention.figures.layout import TEXT_SIZE
from pages.shared.every_page import PAGES
from pages.shared.presenting import LARGER, enlarged


def test_it_begins_beside_the_title_and_ends_in_its_row():
    app = open_page(text="cat")
    checked(app.button(key="present").click().run())
    assert address_of(app)["present"] == "1" and not len(app.sidebar)
    assert "present" not in [button.key for button in app.button]
    checked(app.button(key="present_end").click().run())
    assert "present" not in address_of(app) and len(app.sidebar) and settings_of(app).text == "cat"


def test_what_one_changes_stands_in_one_row_and_goes_along_to_other_pages():
    app = open_page(present=1)
    checked(app.selectbox(key="bar_dec_heads").set_value(16).run())
    checked(app.text_input(key="bar_text").set_value("cat").run())
    checked(app.button(key="try_more").click().run())  # as from a first visit, but for what an audience needs
    assert settings_of(app).dec_heads == 16 and address_of(app)["present"] == "1"
    checked(app.selectbox(key="bar_page").set_value("redundancy").run())
    assert "redundancy" in texts(app).lower() and address_of(app)["present"] == "1"
    checked(app.selectbox(key="bar_kv").set_value("grouped").run())
    assert settings_of(app).kv == "grouped" and settings_of(app).text == "cat"


@pytest.mark.parametrize("page", list(PAGES)[1:])
def test_every_page_can_be_presented(page):
    app = open_page(page, present=1)
    assert app.selectbox(key="bar_page").value == page and app.button(key="present_end")


def test_another_value_is_refused_with_a_sentence():
    assert "present=yes is not known" in texts(open_page(present="yes"))


def test_all_type_of_a_figure_grows_and_nothing_else():
    before = attention_chart(np.full((2, 2), 0.5), ["a", "b"], ["c", "d"]).figure.to_dict()
    after = enlarged(before)
    assert after["layout"]["font"]["size"] == LARGER * TEXT_SIZE
    assert after["layout"]["xaxis"]["tickfont"]["size"] == LARGER * TEXT_SIZE
    assert after["layout"]["xaxis"]["title"]["font"]["size"] == LARGER * TEXT_SIZE
    assert after["data"][0]["colorbar"]["tickfont"]["size"] == LARGER * TEXT_SIZE
    assert after["layout"]["height"] == before["layout"]["height"]
    np.testing.assert_array_equal(after["data"][0]["z"], before["data"][0]["z"])
