"""The quiz on a page: every question has its words, an answer is told right or wrong, and what was answered is kept."""

import pytest
from app_test import address_of, checked, open_page, settings_of, texts

from attention.quiz import KINDS, make_question, make_quiz
from pages.lesson.address import QUIZ
from pages.shared.texts import catalogue, label, say


@pytest.mark.parametrize("kind", KINDS)
def test_every_question_has_its_words(kind):
    for seed in range(6):
        question = make_question(kind, seed)
        said = [say("quiz_choice", choice.said) for choice in question.choices]
        assert len(set(said)) == len(said)
        for text in (say("quiz_question", question.asked), say("quiz_why", question.why), *said):
            assert text and "{" not in text


def test_there_are_no_words_left_over():
    assert set(catalogue()["quiz_question"]) == set(catalogue()["quiz_why"]) == set(KINDS)


def test_an_answer_is_told_right_or_wrong_and_kept():
    app, questions = open_page("lesson", quiz=5), make_quiz(5)
    assert len(app.radio) == 10 and all(radio.value is None for radio in app.radio)
    assert label("quiz", "score", right=0, count=10) not in texts(app)
    first, second = questions[:2]
    wrong = (second.right + 1) % len(second.choices)
    checked(app.radio[0].set_value(first.right).run())
    checked(app.radio[1].set_value(wrong).run())
    text = [markdown.value for markdown in app.markdown]
    assert label("quiz", "right", why=say("quiz_why", first.why)) in text
    right = say("quiz_choice", second.choices[second.right].said)
    assert label("quiz", "wrong", right=right, why=say("quiz_why", second.why)) in text
    assert f"**{label('quiz', 'score', right=1, count=10)}**" in text
    checked(app.run())
    assert [radio.value for radio in app.radio][:3] == [first.right, wrong, None]


def test_others_are_another_number_and_what_was_answered_comes_back():
    app = open_page("lesson", quiz=9999)
    checked(app.radio[0].set_value(0).run())
    checked(app.button(key="quiz_again").click().run())
    assert settings_of(app)[QUIZ] == 0 and all(radio.value is None for radio in app.radio)
    assert app.session_state["quiz_answers"] == {9999: {0: 0}, 0: {}}


def test_nothing_is_asked_before_the_quiz_is_begun():
    app = open_page("lesson")
    assert not app.radio
    checked(app.button(key="quiz_start").click().run())
    assert len(app.radio) == 10
    seed = settings_of(app)[QUIZ]
    assert address_of(app)["quiz"] == str(seed)
    assert [radio.label for radio in open_page("lesson", quiz=seed).radio] == [radio.label for radio in app.radio]


def test_a_number_that_is_none_is_told():
    app = open_page("lesson", quiz=12345)
    assert settings_of(app)[QUIZ] == 9999 and len(app.radio) == 10
