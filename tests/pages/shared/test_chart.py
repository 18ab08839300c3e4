"""Charts speak the language of the pages, and are redrawn as a whole."""

from collections import Counter
from dataclasses import MISSING, fields

from app_test import checked
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.testing.v1 import AppTest, local_script_runner

from attention.figures import FigureWords
from pages.shared.chart import figure_words


def test_the_catalogue_says_in_english_what_figures_say_by_themselves():
    """A figure in a notebook and on a page reads alike, and no text of either is missing in the other."""
    words = figure_words()
    for field in fields(FigureWords):
        if field.name != "form":
            default = field.default if field.default is not MISSING else field.default_factory()
            assert getattr(words, field.name) == default, field.name
    assert [words.form(count) for count in (0, 1, 2)] == ["other", "one", "other"]


def redrawn_page():
    import streamlit as st

    from attention.figures import loss_chart
    from pages.shared import session
    from pages.shared.chart import draw_chart
    from pages.shared.every_page import all_declared, declared

    def draw(key):
        draw_chart(loss_chart([1, 2], [0.5, 0.25], num_steps=2), key=key)
        st.text(key)

    session.settings_from_address("", all_declared(), declared("playground"))
    draw("alone")
    st.fragment(draw, run_every=3600)("inside")


def test_what_is_redrawn_is_sent_as_a_whole_whatever_was_not_sent_before(monkeypatch):
    """A fragment that begins anew throws away what it drew and was not sent, and no part of it may stay in the queue:
    the browser would look for it in a container that it never got, and show a white page."""
    sent, parse = [], local_script_runner.parse_tree_from_messages

    def keep_and_parse(messages):
        sent.extend(messages)
        return parse(messages)

    monkeypatch.setattr(local_script_runner, "parse_tree_from_messages", keep_and_parse)
    app = checked(AppTest.from_function(redrawn_page).run())
    assert len(app.get("plotly_chart")) == 2
    (redrawn,) = (message.auto_rerun.fragment_id for message in sent if message.HasField("auto_rerun"))
    queue = ForwardMsgQueue()
    for message in sent:
        queue.enqueue(message)
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=[redrawn])
    deltas = [message for message in queue.flush() if message.HasField("delta")]
    children = Counter()
    for message in deltas:
        *parent, place = message.metadata.delta_path
        assert place <= children[tuple(parent)], message
        children[tuple(parent)] = max(children[tuple(parent)], place + 1)
    assert sum(message.delta.new_element.HasField("plotly_chart") for message in deltas) == 1
