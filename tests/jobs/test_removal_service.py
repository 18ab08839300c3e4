"""Heads taken away in the background: the same scores as one after the other, and nothing kept for ever."""

import time

import pytest
from all_ways import random_batch, random_model
from told import told

from attention.ablation.removal import by_loss, cumulative, leave_one_out, score, singles
from attention.ablation.silence import mean_contributions
from attention.jobs import removal_service as removal_jobs
from attention.jobs.removal_service import RemovalService


@pytest.fixture(scope="module")
def service():
    return RemovalService(num_workers=1)


def ended(service, key):
    deadline = time.monotonic() + 120
    while (study := service.study(key)).status == "running":
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return study


def test_a_study_gives_the_scores_of_the_plain_plans(service):
    model, batch = random_model("reproject"), random_batch()
    begun = service.submit("a model", model, batch)
    assert begun.share_done == 0 and begun.num_heads == len(singles(model.config))
    study = ended(service, "a model")
    assert (study.status, study.share_done) == ("done", 1.0)
    assert study.whole == pytest.approx(score(model, batch), abs=1e-12)
    alone = tuple(leave_one_out(model, batch, singles(model.config)))
    curve = tuple(cumulative(model, batch, by_loss(alone)))
    for found, expected in ((study.alone, alone), (study.curve, curve)):
        assert [step.heads for step in found] == [step.heads for step in expected]
        for one, other in zip(found, expected, strict=True):
            assert one.score == pytest.approx(other.score, abs=1e-12)
    assert service.submit("a model", model, batch) == study  # once is enough


def test_a_study_by_the_mean(service):
    model, batch = random_model("reproject"), random_batch()
    means = mean_contributions(model, batch)
    service.submit("by the mean", model, batch, means)
    found = ended(service, "by the mean")
    alone = tuple(leave_one_out(model, batch, singles(model.config), (), means))
    for steps, expected in ((found.alone, alone), (found.curve, cumulative(model, batch, by_loss(alone), (), means))):
        for one, other in zip(steps, expected, strict=True):
            assert one.heads == other.heads and one.score == pytest.approx(other.score, abs=1e-12)


def test_what_goes_wrong_is_said_in_a_sentence_and_can_be_tried_again(service):
    model = random_model("reproject")
    service.submit("no batch", model, None)
    study = ended(service, "no batch")
    assert study.status == "failed" and told("jobs", study.message).startswith("Taking heads away failed: ")
    service.submit("no batch", model, random_batch())
    assert ended(service, "no batch").status == "done"


def test_what_was_asked_for_longest_ago_is_forgotten(service, monkeypatch):
    monkeypatch.setattr(removal_jobs, "MAX_STUDIES", 2)
    model, batch = random_model("reproject"), random_batch()
    for key in ("first", "second", "third"):
        service.submit(key, model, batch)
        ended(service, key)
    assert service.study("first") is None
    assert service.study("third").status == "done"


def test_too_many_at_once_are_refused(service, monkeypatch):
    monkeypatch.setattr(removal_jobs, "MAX_OPEN", 0)
    refused = service.submit("one too many", random_model("reproject"), random_batch())
    assert refused.status == "failed" and "try again" in told("jobs", refused.message)
    assert service.study("one too many") is None
