"""The comparison page without a browser: opens on the stored result, costs before training, trains and stops."""

import re
import statistics
import time
from dataclasses import replace

import pytest
from app_test import checked, open_page, settings_of, texts
from made_up_rows import row
from streamlit.testing.v1 import AppTest

from attention.experiments.comparison import Comparison, fixes, stored_runs
from attention.experiments.comparison.findings import fixes_findings
from attention.jobs.comparison_service import SharedComparisons, Standing
from attention.shapes.costs import costs
from attention.tasks import TASKS
from pages.compare.address import COMPARED, from_word, to_word
from pages.shared.texts import catalogue, label, verbatim


@pytest.fixture
def page() -> AppTest:
    return open_page("compare")


def press(app: AppTest, key: str, value) -> AppTest:
    return checked(app.segmented_control(key=f"compare_{key}").set_value(value).run())


def test_it_opens_on_the_stored_result(page):
    said = texts(page)
    assert "Stored result" in said
    assert len(page.get("plotly_chart")) == 3
    for arm in fixes(stored_runs.FIXES):
        assert label("arm", arm.name, enc=8, dec=16) in said
        if not arm.error:
            assert f"{costs(arm.config).parameters:,}" in said
    assert "does not run: The decoder asks with 16 heads, but the encoder&#x27;s keys have 8" in said
    assert "--enc-heads 8 --dec-heads 16 --keep size --seeds 5 --steps 700" in said


def test_the_verdict_is_that_of_the_stored_rows(page):
    said = texts(page)
    rows = stored_runs.stored_for(stored_runs.FIXES, fixes(stored_runs.FIXES), "fixes")
    assert rows
    findings = fixes_findings(rows, stored_runs.FIXES)
    assert len(findings) == 9
    for finding in findings:
        mean = abs(finding.difference.mean)
        assert (f"{100 * mean:.1f}" if finding.measure == "sequence_accuracy" else f"{mean:.3f}") in said
        for claim in finding.claims:
            assert f"**{claim}** · {label('claim', claim)}" in said


def made_up(monkeypatch, **found) -> None:
    """Every comparison has been run, with made-up results; `found` are functions of an arm's place and the seed."""

    def ask(service, comparison, arms, who):
        rows = [
            row(comparison, arm, seed, **{name: value(place, seed) for name, value in found.items()})
            for place, arm in enumerate(arms)
            for seed in range(comparison.num_seeds)
            if not arm.error
        ]
        return Standing(tuple(rows), len(rows), len(rows), share=1.0, failures=(), place=0, wanted=False)

    monkeypatch.setattr(SharedComparisons, "ask", ask)


def test_claims_about_more_heads_are_not_answered_by_fewer(monkeypatch):
    made_up(monkeypatch, sequence_accuracy=lambda place, _: 0.1 * place, effective_maps=lambda place, _: 2 + place)
    said = texts(open_page("compare", compare="fixes-reverse-8-4-width-3-250"))
    assert "**4 heads, textbook** is better than 8 heads, textbook by 20.0 points" in said
    assert "No decoder here has more than 8, so these runs say nothing about them" in said
    assert not re.search(r"\*\*A\d+\*\*", said)
    said = texts(open_page("compare", compare="fixes-reverse-8-16-size-3-250"))
    assert (
        "**A8**" in said
        and "More different maps where heads and layers share keys than where each has its own: 16" in said
    )
    assert "No decoder here" not in said


def test_one_rule_for_all_intervals_is_said_once(page, monkeypatch):
    said = texts(page)
    assert said.count("One rule for every interval on this page") == 1
    assert "Intervals shown here: 9" in said and "at most 45\u00a0% of such pages (9 × 5\u00a0%)" in said
    assert "other seeds, not of other words, tasks or sizes" in said
    sweep_page = texts(press(page, "experiment", "sweep"))
    assert sweep_page.count("One rule for every interval on this page") == 1
    assert "Intervals shown here: 10" in sweep_page  # four of A3, one each of A6 and A7, two of A9, two of A10
    # −1.0, −1.1, −1.9 points: seen by itself, and not among all of them
    worse = {0: -0.010, 1: -0.011, 2: -0.019}
    made_up(monkeypatch, sequence_accuracy=lambda place, seed: 0.5 + worse[seed] * (place == 1))
    said = texts(open_page("compare", compare="fixes-reverse-8-16-size-3-250"))
    assert "is worse than 8 heads, textbook by 1.3 points (−2.6 to −0.1, 3 seeds, by itself only)" in said


def test_a_wide_interval_is_too_few_seeds_to_tell(monkeypatch):
    made_up(monkeypatch, sequence_accuracy=lambda place, seed: 0.9 - (0.4 - 0.26 * seed) * (place == 2))
    said = texts(open_page("compare", compare="fixes-reverse-8-16-size-2-250"))
    assert "**16 heads, textbook** against 8 heads, textbook: too few seeds to tell (−27.0 points, −192.2 to" in said
    assert "Too few seeds to tell: 16 heads, textbook against 8 heads, textbook" in said


def test_a15_has_the_textbook_and_each_fix_beside_it(page):
    said = texts(page)
    answers = said[said.index("**A15**") :]
    for sentence in (
        "16 heads, textbook against 8 heads, textbook, points of accuracy +0.6 (−1.3 to +2.5, 5 seeds)",
        "16 heads, projection against 16 heads, textbook, points of accuracy +0.1 (−1.7 to +2.0, 5 seeds)",
        "16 heads, grouped against 16 heads, textbook, points of accuracy −0.2 (−2.9 to +2.5, 5 seeds)",
        "16 heads, extra K/V against 16 heads, textbook, points of accuracy −0.6 (−2.0 to +0.9, 5 seeds)",
    ):
        assert f"No difference seen with 5 seeds: {sentence}" in answers


def test_a3_is_told_for_each_head_count(page):
    said = texts(press(page, "experiment", "sweep"))
    assert "No difference seen with 5 seeds: mean over these head counts, points of accuracy +0.8 (−0.2 to +1.7" in said
    assert "No difference seen with 5 seeds: 1 of 8 K/V heads kept, points of accuracy −0.4" in said
    assert "less harm than fewer heads do anyway: 2 of 8 K/V heads kept, points of accuracy +1.4 (+0.2 to +2.5" in said
    assert "helped" not in said


def test_a_mean_over_pairs_of_heads_is_compared_nowhere(page, monkeypatch):
    stored = texts(page)
    assert not re.search("same map|same effect|likeness", stored, re.IGNORECASE)
    assert "different maps in effect" in texts(press(page, "experiment", "sweep"))  # what A9 is answered by instead
    made_up(monkeypatch, effective_maps=lambda _, seed: 2.0 + seed / 4)
    said = texts(open_page("compare", compare="fixes-reverse-8-16-size-3-250"))
    assert "2.25" in said and "1.0 of 32" in said
    assert len(press(open_page("compare"), "experiment", "sweep").get("plotly_chart")) == 4


def test_whether_attention_gets_more_local_is_one_finding_on_both_pages(page):
    finding = (
        "Attention got broader, not more local: each doubling of the heads from 8 up (total width kept), entropy +0.094"
    )
    assert finding in texts(press(page, "experiment", "sweep"))
    shapes = texts(open_page("shapes", enc_heads="8", dec_heads="16", keep="width"))
    assert finding in shapes


def test_a_reversed_answer_is_measured_along_its_anti_diagonal(monkeypatch):
    made_up(monkeypatch)
    assert "tokens from the anti-diagonal" in texts(open_page("compare", compare="fixes-reverse-8-16-width-3-250"))
    assert "tokens from the diagonal" in texts(open_page("compare", compare="fixes-dates-8-16-width-3-250"))


def test_what_was_never_trained_shows_its_costs_and_a_button(page):
    page = press(page, "enc_heads", 32)
    said = texts(page)
    assert "Nothing has been trained with these settings yet" in said
    assert "hands over 32 K/V heads and the decoder has only 16" in said  # `extra`
    assert page.number_input(key="compare_num_seeds").value == 5  # as before
    assert page.button(key="compare_run").label == "Train and compare"
    assert "25 trainings of 700 steps" in said
    assert not page.get("plotly_chart")


def test_at_the_same_total_width_the_reusing_fixes_are_errors(page):
    said = texts(press(page, "keep", "width"))
    assert said.count('class="broken"') == 3
    assert "query has 4 numbers and a key of the encoder 8" in said


@pytest.mark.sample(2)
@pytest.mark.parametrize("task", list(TASKS))
def test_every_task_can_be_chosen(page, task):
    for chosen in ("reverse" if task == "spelling" else "spelling", task):  # the stored comparison has steps of its own
        page = press(page, "task", chosen)
    assert page.number_input(key="compare_num_steps").value == TASKS[task].num_steps


def test_the_sweep_has_a_chart_for_each_measure(page):
    page = press(page, "experiment", "sweep")
    said = texts(page)
    rows = stored_runs.all_stored("sweep")
    assert rows and len(page.get("plotly_chart")) == 4
    assert "From 8 heads on these two are the same model" in said
    assert "--sweep --seeds 5" in said


@pytest.mark.slow
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
        ("fixes", stored_runs.FIXES, None),
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
    assert settings_of(press(page, "task", "dates"))[COMPARED] == "fixes-dates-8-16-size-5-400"
    page = press(press(page, "experiment", "sweep"), "enc_heads", 4)
    assert page.query_params["compare"] == "sweep-reverse-4-5-200"
    page = press(page, "experiment", "fixes")  # as it was left
    assert page.query_params["compare"] == "fixes-dates-8-16-size-5-400"


def test_the_work_of_a_comparison_is_told_before_it_begins(page):
    for kind, comparison in (("fixes", stored_runs.FIXES), ("sweep", stored_runs.SWEEP)):
        arm = fixes(comparison)[0]  # with equal heads it is a part of both
        seconds = [row.results.seconds for row in stored_runs.stored_for(comparison, [arm], kind)]
        settings = comparison.settings(arm, 0)
        assert stored_runs.expected_seconds(settings) == pytest.approx(statistics.mean(seconds), rel=0.3)
        few = stored_runs.expected_seconds(replace(settings, num_steps=settings.num_steps // 10))
        assert few == pytest.approx(stored_runs.expected_seconds(settings) / 10)
    said = texts(press(press(page, "task", "reverse"), "enc_heads", 4))
    assert re.search(r"30 trainings of 200 steps, about \d+ minutes? of work for one processor core", said)
    page = checked(page.number_input(key="compare_num_seeds").set_value(1).run())
    assert "6 trainings of 200 steps" in texts(page)


def test_every_sentence_has_its_words():
    """What findings can say is in the catalogue: no claim, contrast or measure without a name."""
    words = catalogue()
    assert set(words["column"]) - {"arm"} == set(words["about"])
    assert {"A3", "A6", "A7", "A8", "A9", "A10", "A11", "A12", "A13", "A14", "A15"} <= set(words["claim"])
