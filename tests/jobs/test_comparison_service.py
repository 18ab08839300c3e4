"""Comparisons that people share, with a real training service and tiny trainings."""

import time
from dataclasses import replace

import pytest
from told import told

from attention.experiments.comparison import Comparison, FinishedRun, fixes, settings_columns
from attention.experiments.comparison.run import run
from attention.jobs import comparison_service
from attention.jobs.comparison_service import SharedComparisons
from attention.jobs.training_service import NUM_EXAMPLES, TrainingService

TINY = Comparison("reverse", 2, 4, num_seeds=1, num_steps=2, width=16, num_layers=1)
ARMS = fixes(TINY)[:2]


@pytest.fixture(scope="module")
def service():
    service = TrainingService(num_workers=1, chunk_seconds=0.1)
    yield service
    service.close()


def ask_until(shared, comparison, arms, who, until, seconds=120):
    end = time.monotonic() + seconds
    while not until(standing := shared.ask(comparison, arms, who)):
        assert time.monotonic() < end, standing
        time.sleep(0.02)
    return standing


def count(service, monkeypatch) -> list:
    """Grows by the settings of each training that is begun."""
    begun, submit = [], service.submit

    def counting(settings, who):
        begun.append(settings)
        return submit(settings, who)

    monkeypatch.setattr(service, "submit", counting)
    return begun


@pytest.mark.slow
def test_two_people_cause_one_comparison_and_it_finds_what_the_command_finds(service, monkeypatch):
    begun, shared = count(service, monkeypatch), SharedComparisons(service)
    for who in ("ann", "ben"):
        shared.start(TINY, ARMS, who)
    seen = ask_until(shared, TINY, ARMS, "ann", lambda standing: shared.ask(TINY, ARMS, "ben").done and standing.done)
    assert len(begun) == len(ARMS)
    assert (seen.finished, seen.total, seen.share, seen.failures) == (2, 2, 1, ())
    assert not shared.ask(TINY, ARMS, "ann").wanted
    found = {row.arm: row for row in seen.rows}
    for arm in ARMS:
        alone = run(TINY.settings(arm, 0), NUM_EXAMPLES)
        assert replace(found[arm.name].results, seconds=alone.seconds) == alone
        assert found[arm.name].settings == settings_columns(TINY.settings(arm, 0), NUM_EXAMPLES)


class AllFinished:
    """A service that has trained everything already."""

    def progress(self, settings):
        return None

    def finished(self, settings):
        return settings


def test_a_finished_model_that_cannot_be_measured_is_told(monkeypatch):
    def measured(finished):
        raise ValueError("no heads")

    monkeypatch.setattr(comparison_service, "measured", measured)
    shared = SharedComparisons(AllFinished())
    shared.start(TINY, ARMS, "ann")
    seen = ask_until(shared, TINY, ARMS, "ann", lambda standing: standing.done)
    assert [told("jobs", failure) for failure in seen.failures] == [
        "The finished model could not be measured: no heads."
    ] * 2


def test_nothing_runs_for_somebody_who_only_looks(service, monkeypatch):
    begun, shared = count(service, monkeypatch), SharedComparisons(service)
    standing = shared.ask(replace(TINY, num_steps=3), ARMS, "ann")
    assert not standing.wanted and standing.rows == () and begun == []


@pytest.mark.slow
def test_stopped_and_gone_on(service, monkeypatch):
    long = replace(TINY, num_steps=3000)
    begun, shared = count(service, monkeypatch), SharedComparisons(service)
    shared.start(long, ARMS, "ann")
    ask_until(shared, long, ARMS, "ann", lambda standing: standing.share > 0)
    shared.stop(long, ARMS, "ann")
    assert service.progress(begun[0]).status == "stopped"
    assert not shared.ask(long, ARMS, "ann").wanted
    shared.start(long, ARMS, "ann")
    ask_until(shared, long, ARMS, "ann", lambda standing: service.progress(begun[0]).status == "running")
    shared.stop(long, ARMS, "ann")


@pytest.mark.slow
def test_stopping_does_not_take_it_from_others(service, monkeypatch):
    long = replace(TINY, num_steps=2000)
    begun, shared = count(service, monkeypatch), SharedComparisons(service)
    for who in ("ann", "ben"):
        shared.start(long, ARMS, who)
        shared.ask(long, ARMS, who)
    shared.stop(long, ARMS, "ann")
    assert shared.ask(long, ARMS, "ben").wanted
    assert service.progress(begun[0]).open
    shared.stop(long, ARMS, "ben")
    assert not service.progress(begun[0]).open


@pytest.mark.slow
def test_what_was_made_before_is_not_made_again(service, monkeypatch):
    begun = count(service, monkeypatch)
    shorter = replace(TINY, num_steps=1)
    known = [
        FinishedRun(arm.name, settings_columns(settings, NUM_EXAMPLES), run(settings, 3))
        for arm, settings in ((arm, shorter.settings(arm, 0)) for arm in ARMS)
    ]
    shared = SharedComparisons(service, known=known)
    assert shared.ask(shorter, ARMS, "ann").finished == 2
    two_seeds = replace(shorter, num_seeds=2)
    shared.start(two_seeds, ARMS, "ann")
    seen = ask_until(shared, two_seeds, ARMS, "ann", lambda standing: standing.done)
    assert {settings.seed for settings in begun} == {1}
    assert len(seen.rows) == 4
