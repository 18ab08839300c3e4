"""The comparison page without a browser: opens on the stored result, costs before training, trains and stops."""

import re
import statistics
import time
from dataclasses import replace

import pytest
from app_test import checked, open_page, settings_of, texts
from streamlit.testing.v1 import AppTest

from attention.comparison import Comparison, fixes, stored
from attention.comparison.costs import costs
from attention.comparison.findings import fixes_findings
from attention.comparison.verdict import verdict
from attention.tasks import TASKS
from pages.parts.compare_address import from_word, to_word
from pages.parts.words import catalogue, label, verbatim


@pytest.fixture
def page() -> AppTest:
    return open_page("compare")


def press(app: AppTest, key: str, value) -> AppTest:
    return checked(app.segmented_control(key=f"compare_{key}").set_value(value).run())


def test_it_opens_on_the_stored_result(page):
    said = texts(page)
    assert "Stored result" in said
    assert len(page.get("plotly_chart")) == 3
    for arm in fixes(stored.FIXES):
        assert label("arm", arm.name, enc=8, dec=16) in said
        if not arm.error:
            assert f"{costs(arm.config).parameters:,}" in said
    assert "does not run: The decoder asks with 16 heads, but the encoder&#x27;s keys have 8" in said
    assert "--enc-heads 8 --dec-heads 16 --keep size --seeds 5 --steps 600" in said


def test_the_verdict_is_that_of_the_stored_rows(page):
    said = texts(page)
    rows = stored.stored_for(stored.FIXES, fixes(stored.FIXES), "fixes")
    assert rows
    for difference in verdict(rows).values():
        assert f"{abs(100 * difference.mean):.1f}" in said
        if difference.interval and not difference.seen:
            assert f"no difference seen with {difference.num_seeds} seeds" in said
    for finding in fixes_findings(rows, "size"):
        assert f"**{finding.claim}** · {label('claim', finding.claim)}" in said


def test_what_was_never_trained_shows_its_costs_and_a_button(page):
    page = press(page, "enc_heads", 32)
    said = texts(page)
    assert "Nothing has been trained with these settings yet" in said
    assert "hands over 32 K/V heads and the decoder has only 16" in said  # `extra`
    assert page.number_input(key="compare_num_seeds").value == 3
    assert page.button(key="compare_run").label == "Train and compare"
    assert "15 trainings of 600 steps" in said
    assert not page.get("plotly_chart")


def test_at_the_same_total_width_the_reusing_fixes_are_errors(page):
    said = texts(press(page, "keep", "width"))
    assert said.count("class='broken'") == 3
    assert "query has 4 numbers and a key of the encoder 8" in said


@pytest.mark.parametrize("task", TASKS)
def test_every_task_can_be_chosen(page, task):
    for chosen in ("reverse" if task == "spelling" else "spelling", task):  # the stored comparison has steps of its own
        page = press(page, "task", chosen)
    assert page.number_input(key="compare_num_steps").value == TASKS[task].num_steps


def test_the_sweep_has_a_chart_for_each_measure(page):
    page = press(page, "experiment", "sweep")
    said = texts(page)
    rows = stored.stored("sweep")
    assert len(page.get("plotly_chart")) == (4 if rows else 0)
    assert "From 8 heads on these two are the same model" in said
    assert "--sweep --seeds 3" in said


def test_a_comparison_is_trained_step_by_step_and_stopped(page):
    page = press(press(page, "task", "reverse"), "enc_heads", 1)
    page = checked(page.number_input(key="compare_num_steps").set_value(20).run())
    page = checked(page.number_input(key="compare_num_seeds").set_value(2).run())
    page = checked(page.button(key="compare_run").click().run())
    end = time.monotonic() + 120
    while "Result" not in texts(page):
        assert time.monotonic() < end
        time.sleep(0.3)
        page = checked(page.run())
    page = checked(page.button(key="compare_stop").click().run())
    assert page.button(key="compare_run").label == "Go on"


@pytest.mark.parametrize(
    ("experiment", "comparison", "word"),
    [
        ("fixes", stored.FIXES, None),
        ("fixes", Comparison("dates", 2, 32, "width", 1, 20), "fixes-dates-2-32-width-1-20"),
        ("sweep", Comparison("pinyin", 4, num_seeds=10, num_steps=5000), "sweep-pinyin-4-10-5000"),
    ],
)
def test_a_comparison_is_one_word_of_the_address(experiment, comparison, word):
    assert to_word(experiment, comparison) == word
    assert from_word(word) == (experiment, comparison)


@pytest.mark.parametrize(
    ("word", "named"),
    [
        ("", "has the form fixes-task-enc_heads-dec_heads-keep-num_seeds-num_steps or sweep-"),
        ("fixes-reverse-2-4", "has the form"),
        ("fixes-reverse-3-4-size-3-250", "cannot have '3' as enc_heads: 1, 2, 4, 8, 16, 32 are allowed"),
        ("fixes-reverse-2-4-size-0-250", "cannot have '0' as num_seeds: 1 to 10 are allowed"),
        ("fixes-reverse-2-4-size-3-999999", "as num_steps: 20 to 5000 are allowed"),
        ("fixes-reverse-2-4-size-3-²", "as num_steps"),
        ("sweep-nothing-2-3-250", "cannot have 'nothing' as task: spelling"),
    ],
)
def test_a_word_that_names_no_comparison_is_refused_in_a_sentence(word, named):
    with pytest.raises(ValueError, match=re.escape(named)):
        from_word(word)
    said = texts(open_page("compare", compare=word))
    assert "Stored result" in said and verbatim(f"{named.split(' or ')[0]}") in said


def test_a_link_opens_a_comparison_and_a_choice_changes_the_address(page):
    linked = open_page("compare", compare="fixes-reverse-2-4-width-2-40")
    assert "--task reverse --enc-heads 2 --dec-heads 4 --keep width --seeds 2 --steps 40" in texts(linked)
    assert settings_of(press(page, "task", "dates")).compare == "fixes-dates-8-16-size-3-600"
    page = press(press(page, "experiment", "sweep"), "enc_heads", 4)
    assert page.query_params["compare"] == "sweep-reverse-4-3-250"
    page = press(page, "experiment", "fixes")  # as it was left
    assert page.query_params["compare"] == "fixes-dates-8-16-size-3-600"


def test_the_work_of_a_comparison_is_told_before_it_begins(page):
    for kind, comparison in (("fixes", stored.FIXES), ("sweep", stored.SWEEP)):
        arm = fixes(comparison)[0]  # with equal heads it is a part of both
        seconds = [row.results.seconds for row in stored.stored_for(comparison, [arm], kind)]
        settings = comparison.settings(arm, 0)
        assert stored.expected_seconds(settings) == pytest.approx(statistics.mean(seconds), rel=0.3)
        few = stored.expected_seconds(replace(settings, num_steps=settings.num_steps // 10))
        assert few == pytest.approx(stored.expected_seconds(settings) / 10)
    said = texts(press(press(page, "task", "reverse"), "enc_heads", 4))
    assert re.search(r"18 trainings of 250 steps, about \d+ minutes? of work for one processor core", said)
    page = checked(page.number_input(key="compare_num_seeds").set_value(1).run())
    assert "6 trainings of 250 steps" in texts(page)


def test_every_sentence_has_its_words():
    """What findings can say is in the catalogue: no claim, contrast or measure without a name."""
    words = catalogue()
    assert set(words["column"]) - {"arm"} == set(words["about"])
    assert {"A3", "A6", "A7", "A8", "A9", "A10", "A11", "A12", "A13", "A14", "A15"} == set(words["claim"])
