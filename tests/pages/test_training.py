"""Training on the page, without a browser and without processes: a chunk runs when the test says so."""

import gc
import json
import time
import weakref
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace

import app_test
import numpy as np
import pytest
from app_test import checked
from app_test import texts as said
from by_hand import service_by_hand
from streamlit.testing.v1 import AppTest

from attention import EncoderDecoder, jobs
from attention.inspection import inspect_word
from attention.tasks import get_task
from attention.tasks.reverse import Reverse
from attention.training import advance, start
from pages.parts import heads, models, starters, training
from pages.parts.head_grid import unpack
from pages.parts.settings import read_address

SMALL = {"task": "reverse", "text": "abc", "width": "16", "enc_heads": "2", "dec_heads": "4",
         "enc_layers": "1", "dec_layers": "1"}  # fmt: skip


@pytest.fixture
def by_hand(monkeypatch):
    """The service that the pages use, and the executor that the test works by hand."""
    service, executor = service_by_hand(monkeypatch)
    for module in (models, training):
        monkeypatch.setattr(module, "training_service", lambda: service)
    monkeypatch.setattr(heads, "SECONDS_TO_PAINT", 0)
    monkeypatch.setattr(Reverse, "num_steps", 50)
    monkeypatch.setattr(jobs, "NUM_EXAMPLES", 20)
    for cached in (models.trained_model, models._view, models._newest, models._view_on_the_way):
        cached.clear()
    return service, executor


def open_page(**address) -> AppTest:
    return app_test.open_page(**{**SMALL, **address})


def run(app: AppTest) -> AppTest:
    return checked(app.run())


def press(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click()
    return run(app)


def maps(app: AppTest) -> np.ndarray:
    (component,) = app.get("bidi_component")
    data = json.loads(component.proto.json)
    tiles = sum(len(section["tiles"]) for section in data["sections"])
    return unpack(data["weights"], (tiles, len(data["rows"]), len(data["cols"])))


def expected_maps(settings, weights) -> np.ndarray:
    model = EncoderDecoder(settings.config, settings.seed)
    model.load_state_dict(weights)
    return inspect_word(model.eval(), get_task("reverse"), tuple("abc")).layers["cross"][0].weights


def wanted(app: AppTest):
    return models.training_settings(app.session_state["settings"])


def train_to_the_end(service, executor, settings) -> None:
    while service.progress(settings).open:
        executor.run(service)


def test_half_trained_is_shown_live_and_never_as_trained(by_hand):
    service, executor = by_hand
    app = open_page()
    assert "random weights" in said(app)
    press(app, "train")
    executor.run(service)
    step = service.progress(wanted(app)).step
    run(app)
    assert 0 < step < 50
    assert f"training, step {step} of 50" in said(app)
    assert f"Training, step {step} of 50 · loss " in said(app) and "of tokens right" in said(app)
    assert "trained here:" not in said(app) and "random weights" not in said(app)
    state = advance(start(wanted(app)), step)
    np.testing.assert_array_equal(maps(app), expected_maps(app.session_state["settings"], state.weights))
    assert "not in the address" in said(app)


def test_a_training_can_be_stopped_and_goes_on(by_hand):
    service, executor = by_hand
    app = press(open_page(), "train")
    for _ in range(2):
        executor.run(service)
    press(app, "stop")
    step = service.progress(wanted(app)).step
    assert f"half trained: stopped at step {step} of 50" in said(app)
    assert app.button(key="train").label == "Continue"
    press(app, "train")
    assert service.progress(wanted(app)).open and service.progress(wanted(app)).step == step
    train_to_the_end(service, executor, wanted(app))
    assert [moment.step for moment in service.finished(wanted(app)).history] == list(range(50))
    assert "trained here:" in said(run(app))


def test_touching_a_control_loses_nothing(by_hand):
    """Other controls stay usable; another model's page is another page, and this training goes on."""
    service, executor = by_hand
    app = press(open_page(), "train")
    ours = wanted(app)
    executor.run(service)
    before = service.progress(ours).step
    app.segmented_control(key="kind").set_value("encoder")
    run(app)
    app.segmented_control(key="dec_heads").set_value(2)
    run(app)
    assert "random weights" in said(app) and "Training, step" not in said(app)
    executor.run(service)
    assert service.progress(ours).step > before
    app.segmented_control(key="dec_heads").set_value(4)
    run(app)
    assert f"Training, step {service.progress(ours).step} of 50" in said(app)


def test_the_slider_replays_how_the_heads_formed(by_hand):
    service, executor = by_hand
    app = press(open_page(), "train")
    train_to_the_end(service, executor, wanted(app))
    snapshots = service.finished(wanted(app)).snapshots
    run(app)
    slider = app.select_slider(key="moment")
    assert len(snapshots) == len(slider.options) == 25 and slider.value == 50
    for snapshot in (snapshots[1], snapshots[20]):
        app.select_slider(key="moment").set_value(snapshot.step)
        run(app)
        assert f"half trained: step {snapshot.step} of 50" in said(app)
        assert read_address(dict(app.query_params))[0].moment == snapshot.step
        np.testing.assert_array_equal(maps(app), expected_maps(app.session_state["settings"], snapshot.weights))
    app.select_slider(key="moment").set_value(50)
    run(app)
    assert "trained here:" in said(app) and "moment" not in app.query_params

    again = open_page(moment=str(snapshots[20].step))  # the address of a moment, opened by somebody else
    assert f"half trained: step {snapshots[20].step} of 50" in said(again)
    assert "random weights" in said(open_page(moment="0"))


def test_an_address_with_a_moment_of_no_training_says_so(by_hand):
    app = open_page(moment="20")
    assert "moment=20 asks for a moment of a training" in said(app)
    assert "random weights" in said(app)
    app.segmented_control(key="dec_heads").set_value(2)
    assert "moment=20" not in said(run(app))


def test_those_who_wait_see_their_place(by_hand):
    service, executor = by_hand
    app = open_page()
    for seed in (1, 2, 3):
        service.submit(replace(wanted(app), seed=seed))
    executor.run(service)  # one of them has the worker, two are before us
    press(app, "train")
    place = service.progress(wanted(app)).place
    assert place == 2 and f"Waiting: {place} before this one" in said(app)


def test_a_dead_worker_is_told(by_hand):
    service, executor = by_hand
    app = press(open_page(), "train")
    executor.run(service)
    executor.run(service, BrokenProcessPool())
    step = service.progress(wanted(app)).step
    assert f"A worker process died and was replaced; the training went on from step {step}." in said(run(app))
    train_to_the_end(service, executor, wanted(app))
    assert "trained here:" in said(run(app))


def test_two_who_press_share_one_training_and_one_model(by_hand):
    service, executor = by_hand
    first, second = open_page(), open_page()
    for app in (first, second):
        press(app, "train")
    executor.run(service)
    assert len(executor.jobs) == 1
    assert "you see it too" in said(run(second))
    assert not [button for button in second.button if button.key == "stop"]
    train_to_the_end(service, executor, wanted(first))
    weights = {name: weight.clone() for name, weight in service.finished(wanted(first)).weights.items()}
    np.testing.assert_array_equal(maps(run(first)), maps(run(second)))
    settings = first.session_state["settings"]
    model = models.trained_model(settings.task, settings.config, settings.seed, "here")
    assert model is models.trained_model(settings.task, replace(settings.config), 0, "here")  # keyed by plain settings

    third = press(open_page(seed="1"), "train")  # what is cached is not what is trained
    train_to_the_end(service, executor, wanted(third))
    for name, weight in model.state_dict().items():
        assert weight.equal(weights[name]) and weight.equal(service.finished(wanted(first)).weights[name])


def test_only_pages_talk_to_streamlit(by_hand, caplog):
    service, executor = by_hand
    app = press(open_page(), "train")
    train_to_the_end(service, executor, wanted(app))
    run(app)
    assert not [record for record in caplog.records if "ScriptRunContext" in record.message
                and "MainThread" not in record.message]  # fmt: skip


def test_five_hundred_moments_leave_a_bounded_number_of_views(by_hand):
    app = open_page()
    settings, state = app.session_state["settings"], start(wanted(app))
    views = []
    for step in range(1, 501):
        trained = models.Trained("training", None, step, 600, state.weights)
        views.append(weakref.ref(models.view_word(settings, tuple("abc"), trained)))
    gc.collect()
    assert sum(view() is not None for view in views) <= 64


def test_a_page_is_drawn_at_most_twice_a_second_and_less_often_in_a_crowd(by_hand):
    service, _ = by_hand
    app = press(open_page(), "train")
    progress = service.progress(wanted(app))
    times = [training.seconds_between(replace(progress, num_open=count)) for count in range(1, 201)]
    assert min(times) == times[0] == 0.5
    assert times == sorted(times)
    assert times[29] >= 2


def test_who_started_a_training_may_stop_it_and_when_they_have_gone_whoever_watches(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(starters, "monotonic", lambda: clock[0])
    known = starters.Starters()
    known.add("training", "starter")
    for clock[0] in (0.0, 10.0, 20.0, 30.0):
        assert known.may_stop("training", "starter")
        assert not known.may_stop("training", "watcher")
    clock[0] = 44.0
    assert not known.may_stop("training", "watcher")
    clock[0] = 46.0  # the starter has not looked for more than 15 seconds
    assert known.may_stop("training", "watcher")
    assert not known.may_stop("training", "another")
    assert known.may_stop("training", "starter")  # back again
    assert not known.may_stop("nobody's", "watcher")  # a comparison trains it
    clock[0] = 62.0
    assert known.may_stop("nobody's", "watcher")
    for number in range(2 * starters.MAX_KEPT):
        known.add(number, "starter")
    assert len(known._seen) == starters.MAX_KEPT


def test_a_page_loaded_anew_may_stop_its_training_after_a_while(by_hand, monkeypatch):
    service, _ = by_hand
    page = press(open_page(seed=7), "train")
    assert page.button(key="stop")
    anew = open_page(seed=7)
    assert "or by you before the page was loaded anew" in said(anew)
    monkeypatch.setattr(starters, "monotonic", lambda: time.monotonic() + starters.GONE_SECONDS)
    anew = press(run(anew), "stop")
    assert service.progress(wanted(anew)).status == "stopped"
