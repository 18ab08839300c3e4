"""A class's show of hands: one vote for each browser and step, bounded, and open to all who have the word."""

import pytest
from app_test import address_of, checked, open_page, read_address, texts

from pages.lesson import show_of_hands
from pages.lesson.hands import IDLE_SECONDS, MOST_CLASSES, VOTES_A_MINUTE, WORD, Hands
from pages.lesson.show_of_hands import CLASS
from pages.lesson.steps import STEPS
from pages.shared.texts import label


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def hands(clock):
    return Hands(clock)


def test_the_word_of_a_class_is_random_and_fits_the_address(hands):
    words = {hands.begin() for _ in range(50)}
    assert len(words) == 50
    assert all(WORD.fullmatch(word) and len(word) >= 8 for word in words)


def test_the_last_vote_of_a_browser_counts(hands):
    word = hands.begin()
    for choice in ("a", "b", "b"):
        assert hands.vote(word, "session", "browser", "hide", choice)
    assert hands.vote(word, "other session", "other browser", "hide", "a")
    assert hands.vote(word, "session", "browser", "look", "none")
    assert hands.counts(word, "hide") == {"a": 1, "b": 1}
    assert hands.counts(word, "look") == {"none": 1}


def test_a_session_that_votes_too_often_is_not_counted_for_a_minute(hands, clock):
    word = hands.begin()
    assert all(hands.vote(word, "s", str(number), "hide", "1") for number in range(VOTES_A_MINUTE))
    assert not hands.vote(word, "s", "one more", "hide", "1")
    assert hands.vote(word, "another", "one more", "hide", "1")
    clock.now += 61
    assert hands.vote(word, "s", "later", "hide", "1")


def test_the_class_that_is_idle_longest_goes_first(hands, clock):
    words = []
    for _ in range(MOST_CLASSES):
        words.append(hands.begin())
        clock.now += 1
    assert hands.is_there(words[0])  # which uses it
    hands.begin()
    assert hands.is_there(words[0]) and not hands.is_there(words[1])


def test_a_class_is_forgotten_after_two_hours_without_use(hands, clock):
    word = hands.begin()
    clock.now += IDLE_SECONDS - 1
    assert hands.is_there(word)
    clock.now += IDLE_SECONDS
    assert not hands.is_there(word)
    assert hands.counts(word, "hide") is None
    assert not hands.vote(word, "s", "b", "hide", "1")


@pytest.mark.parametrize("word", ["<b>x</b>", "", "short", "UPPERCASE", "a" * 99, "../../etc"])
def test_an_odd_word_is_left_out_with_a_sentence(word):
    settings, notices = read_address({"class": word})
    assert settings[CLASS] is None
    assert len(notices) == 1


def test_three_students_and_everybody_sees_the_bars(monkeypatch):
    one = Hands()
    monkeypatch.setattr(show_of_hands, "hands", lambda: one)
    word = one.begin()
    for choice in ("silent", "refuses", "refuses"):
        app = open_page("lesson", lesson=5, **{"class": word})
        app = checked(app.pills(key="lesson_choice_reuse").set_value(choice).run())
    assert one.counts(word, "reuse") == {"silent": 1, "refuses": 2}
    assert 'class="hands"' in texts(app) and "<td>2</td>" in texts(app)
    assert address_of(app)["class"] == word


def test_a_result_is_held_back_from_a_class_until_who_leads_it_shows_it(monkeypatch):
    one = Hands()
    monkeypatch.setattr(show_of_hands, "hands", lambda: one)
    lecturer = open_page("lesson", lesson=5)
    lecturer.session_state["boxes"] = {"lesson_lecturer": True}
    lecturer = checked(lecturer.run())
    lecturer = checked(lecturer.button(key="lesson_class").click().run())
    word = address_of(lecturer)["class"]
    student = open_page("lesson", lesson=5, **{"class": word})
    assert not [one for one in student.button if one.key in ("lesson_hands", "lesson_happens")]
    student = checked(student.pills(key="lesson_choice_reuse").set_value("silent").run())
    learned, seen = STEPS[4].learned(), label("lesson", "seen")
    assert "<td>1</td>" in texts(student) and label("hands", "wait") in texts(student)

    lecturer = checked(lecturer.run())
    assert label("hands", "number", count=1) in texts(lecturer) and 'class="hands"' not in texts(lecturer)
    lecturer = checked(lecturer.button(key="lesson_hands").click().run())
    assert 'class="hands"' in texts(lecturer)
    for app in (lecturer, checked(student.run())):
        assert learned not in texts(app) and seen not in texts(app)
    lecturer = checked(lecturer.button(key="lesson_happens").click().run())
    for app in (lecturer, checked(student.run())):
        assert learned in texts(app) and seen in texts(app)
    assert one.holds(word, "hide")


def test_only_who_began_a_class_shows_its_results(hands):
    word, open_word = hands.begin("lecturer"), hands.begin()
    hands.show(word, "student", ["hide"])
    hands.show(word, "", ["hide"])
    assert hands.holds(word, "hide") and not hands.leads(word, "student")
    hands.rename(word, "lecturer", "known before")  # whose browser turns out to be one that is known
    hands.show(word, "lecturer", ["hide"])
    assert hands.holds(word, "hide")
    hands.show(word, "known before", ["hide"])
    assert not hands.holds(word, "hide") and hands.holds(word, "look")
    assert not hands.holds(open_word, "hide") and not hands.leads(open_word, "")
    assert not hands.holds("nowhereatall", "hide")


def test_a_class_that_is_gone_says_so_and_loses_nothing(monkeypatch):
    monkeypatch.setattr(show_of_hands, "hands", Hands)
    app = open_page("lesson", lesson=5, **{"class": "abcdefghjk"})
    said = show_of_hands.label("hands", "gone", word="abcdefghjk")
    assert said in texts(app)
    app = checked(app.pills(key="lesson_choice_reuse").set_value("silent").run())
    assert said in texts(app)
    assert app.session_state["lesson_answers"]["reuse"].choice == "silent"


def test_markup_for_a_word_says_that_nobody_is_counted():
    assert "nobody is counted" in texts(open_page("lesson", lesson=9, **{"class": "<b>abcdefgh</b>"}))


def test_a_browser_that_turns_out_to_be_known_has_one_vote_all_the_same(hands):
    word = hands.begin()
    hands.vote(word, "session", "known", "hide", "1")
    hands.vote(word, "session after a reload", "new", "hide", "2")
    hands.vote(word, "another", "somebody else", "hide", "1")
    hands.rename(word, "new", "known")
    assert hands.counts(word, "hide") == {"2": 1, "1": 1}
    hands.rename("nowhereatall", "a", "b")


@pytest.mark.parametrize("name", [None, 3, "", "x" * 32, "A" * 32, "0" * 33, "<b>"])
def test_what_is_no_name_of_a_browser_is_left_out(monkeypatch, name):
    monkeypatch.setattr(show_of_hands.st, "session_state", {"lesson_browser_name": "mine"})
    show_of_hands.name_browser(name)
    assert show_of_hands.browser_name() == "mine"


def test_handing_in_says_what_a_class_keeps_and_only_in_a_class():
    for given, refused in (({}, False), ({"class": "abcdefghjk"}, False), ({"class": "abcdefghjk"}, True)):
        app = open_page("lesson", lesson=5, **given)
        app.session_state["boxes"] = {"lesson_hand_in": True}
        app.session_state["lesson_refused"] = refused
        said = texts(checked(app.run()))
        for kept in ("yes", "no"):
            there = bool(given) and refused == (kept == "no")
            assert (show_of_hands.label("hands", "kept", kept=kept) in said) == there
