"""The lesson: a step hides its result until there is a prediction, and leaves the visitor's settings alone."""

import re
from math import ceil

import pytest
from app_test import address_of, checked, open_page, settings_of, texts

from pages.lesson.answers import LONGEST
from pages.lesson.steps import STEPS
from pages.shared.texts import label

NUMBERS = range(1, len(STEPS) + 1)
HEAVY = ("removal",)  # computed by workers


def opened(number: int, **address):
    return open_page("lesson", lesson=number, **address)


def skip(app):
    return checked(app.button(key="lesson_skip").click().run())


def button(app, key: str):
    return next((button for button in app.button if button.key == key), None)


@pytest.mark.sample(3)
@pytest.mark.parametrize("number", NUMBERS)
def test_a_step_hides_its_result_until_there_is_a_prediction(number):
    step = STEPS[number - 1]
    app = opened(number)
    assert label("lesson", "seen") not in texts(app)
    assert step.learned() not in texts(app)
    assert button(app, "lesson_skip") is not None
    if step.name in HEAVY:
        return
    app = skip(app)
    assert label("lesson", "seen") in texts(app)
    assert step.learned() in texts(app)
    assert button(app, "lesson_skip") is None


def test_what_is_predicted_stands_above_what_is_seen():
    app = opened(5)
    app = checked(app.pills(key="lesson_choice_reuse").set_value("silent").run())
    assert label("lesson", "predicted", choice=STEPS[4].choices()["silent"]) in texts(app)


def test_a_sentence_is_kept_on_one_line_and_up_to_a_limit():
    app = skip(opened(9))
    app = checked(app.text_input(key="lesson_sentence_pairs").set_value("<b>all\n run</b> " + "a" * 10_000).run())
    kept = app.session_state["lesson_answers"]["pairs"].sentence
    assert kept.startswith("<b>all run</b> a") and 0 < LONGEST - len(kept) < 9
    app = checked(app.button(key="lesson_back").click().run())
    app = checked(app.button(key="lesson_next").click().run())
    assert app.text_input(key="lesson_sentence_pairs").value == kept


def test_files_are_offered_once_they_have_the_name_and_name_it():
    app = skip(opened(9))
    app.session_state["boxes"] = {"lesson_hand_in": True}
    app = checked(app.run())
    assert not app.get("download_button")
    app.text_input(key="lesson_name").set_value("Ada <b>")
    app = checked(button(app, "lesson_make").click().run())
    assert len(app.get("download_button")) == 2
    assert "Ada &lt;b&gt;" in texts(app) and "Ada <b>" not in texts(app)
    app = checked(button(app, "lesson_clear").click().run())
    assert not app.get("download_button") and app.text_input(key="lesson_name").value == ""


def test_every_suggestion_can_be_pressed_and_says_what_it_changes():
    app = skip(opened(5))
    keys = [button.key for button in app.button if (button.key or "").startswith("suggestion_")]
    assert len(keys) > 3
    for key in keys:
        app = checked(button(app, key).click().run())
        assert "→" in texts(app) and button(app, key) is None
        app = checked(next(one for one in app.button if one.label == STEPS[4].text("again")).click().run())


def test_the_visitors_settings_stay_as_they_are():
    app = opened(4, text="box", enc_heads=4, enc_dim=16, dec_heads=8)
    before = settings_of(app)
    app = skip(app)
    app = checked(app.segmented_control(key="lesson_more").set_value("problem_2").run())
    app = checked(app.button(key="lesson_next").click().run())
    after = settings_of(app)
    assert after.same_model(before) and (after.text, after.head, after.off) == (before.text, before.head, before.off)
    assert address_of(app)["lesson"] == "5" and address_of(app)["text"] == "box"


@pytest.mark.parametrize("given, shown", [("99", 9), ("0", 1), ("x", 1)])
def test_a_step_that_is_not_there_gives_the_nearest(given, shown):
    app = opened(given)
    assert app.segmented_control(key="lesson_step").value == shown
    assert given in texts(app)


def test_the_steps_take_45_minutes():
    assert sum(step.minutes for step in STEPS) == 45


def of_step(app) -> list:
    """What the page has from the step's heading to the button that leads back."""
    elements = list(app.main)
    keys = [getattr(element, "key", None) for element in elements]
    begin = next(place for place, element in enumerate(elements) if element.type == "header")
    return elements[begin : keys.index("lesson_back")]


def says(element) -> list[str]:
    """What is there to be read of an element; of a table what stands above its rows, of a picture nothing."""
    body = getattr(element.proto, "body", "")
    if element.type in ("markdown", "caption", "header", "subheader"):
        return [re.sub(r":[a-z-]+\[", "", element.value)]  # without the marks of colours
    if element.type == "code":
        return []
    if element.type == "html":
        return [] if 'class="flow"' in body else [re.sub(r"<style>.*?</style>|<tbody>.*?</tbody>|<[^>]*>", " ", body)]
    return [getattr(element, "label", "") or getattr(element.proto, "label", ""), *getattr(element, "options", ())]


# What stands on every step.
ALWAYS = [label("lesson", name) for name in ("predict", "skip", "skipped", "seen", "learned", "sentence", "explore")]
ALWAYS += [label("lesson", "once", count=1)]


def num_words(said: set[str]) -> int:
    for text in ALWAYS:
        said = {one.replace(text, "") for one in said}
    return sum(len(re.findall(r"[^\W\d_][\w’'.-]+", text)) for text in said)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_step_has_at_most_120_words_for_every_five_minutes(number):
    """Of what its page says before the prediction and after it, with its labels and choices."""
    step = STEPS[number - 1]
    app = opened(number)
    said = {text for element in of_step(app) for text in says(element)}
    if step.name not in HEAVY:
        said |= {text for element in of_step(skip(app)) for text in says(element)}
    assert 20 < num_words(said) <= 24 * step.minutes, sorted(said)


# What a student clicks where it is not every button: any one letter, and two of the suggestions.
CLICKS = {"hide": 1, "reuse": 2}


@pytest.mark.parametrize("number", [n for n in NUMBERS if STEPS[n - 1].name not in HEAVY])
def test_a_step_asks_for_at_most_six_actions_for_every_five_minutes(number):
    """To predict, what the experiment has to be clicked and moved, to write a sentence, and to go on."""
    step = STEPS[number - 1]
    elements = of_step(skip(opened(number)))
    buttons = sum(len(one.options) - 1 for one in elements if one.type == "button_group")
    buttons += sum(one.type == "button" for one in elements)
    others = sum(one.type in ("slider", "bidi_component") for one in elements)
    assert 3 + CLICKS.get(step.name, buttons) + others <= ceil(6 * step.minutes / 5)


@pytest.mark.parametrize("code, begins", [("1", "Not this one"), ("2", "Right"), ("4", "Right")])
def test_any_right_choice_of_real_models_counts_and_is_told(code, begins):
    app = checked(opened(9).pills(key="lesson_choice_pairs").set_value(code).run())
    (said,) = (one.value for one in app.markdown if STEPS[8].choices()[code] in one.value and "heads" in one.value)
    assert said.startswith(begins)
