"""Training on the page, without a browser and without processes: a chunk runs when the test says so."""

import base64
import json
import re
import statistics
import time
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace

import app_test
import numpy as np
import pytest
from app_test import checked, read_address, settings_of
from app_test import texts as said
from by_hand import handle, service_by_hand
from grid_sent import expect_weights, grid_of
from streamlit.runtime import Runtime
from streamlit.testing.v1 import AppTest

from attention import EncoderDecoder
from attention.checkpoints import steps_of_shipped
from attention.experiments.comparison import stored_runs
from attention.inspection import inspect_word
from attention.jobs import training_service as jobs
from attention.tasks import get_task
from attention.tasks.reverse import Reverse
from attention.training import advance, start
from pages.redundancy import layers
from pages.shared import models, starters, training_panel

SMALL = {"task": "reverse", "text": "abc", "width": "16", "enc_heads": "2", "dec_heads": "4",
         "enc_layers": "1", "dec_layers": "1"}  # fmt: skip


@pytest.fixture
def by_hand(monkeypatch):
    """The service that the pages use, and the executor that the test works by hand."""
    service, executor = service_by_hand(monkeypatch)
    for module in (models, training_panel, layers):
        monkeypatch.setattr(module, "training_service", lambda: service)
    monkeypatch.setattr(Reverse, "num_steps", 50)
    monkeypatch.setattr(jobs, "NUM_EXAMPLES", 20)
    for made in (models.model_of, models.word_view, models.decoding_of):
        made.cache_clear()
    return service, executor


def open_page(**address) -> AppTest:
    return app_test.open_page(**{**SMALL, **address})


def run(app: AppTest) -> AppTest:
    return checked(app.run())


def press(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click()
    return run(app)


def maps(app: AppTest) -> np.ndarray:
    return grid_of(app)["weights"]


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
    assert "trained here 50" not in said(app) and "badge here" not in said(app) and "random weights" not in said(app)
    state = advance(start(wanted(app)), step)
    expect_weights(app, expected_maps(app.session_state["settings"], state.weights))
    assert "not in the address" in said(app)


def test_a_training_can_be_stopped_and_goes_on(by_hand):
    service, executor = by_hand
    app = press(open_page(), "train")
    for _ in range(2):
        executor.run(service)
    press(app, "stop")
    step = service.progress(wanted(app)).step
    assert f"half trained: stopped at step {step} of 50" in said(app)
    assert app.button(key="train").label.startswith("Continue (")
    press(app, "train")
    assert service.progress(wanted(app)).open and service.progress(wanted(app)).step == step
    train_to_the_end(service, executor, wanted(app))
    finished = service.finished(wanted(app))
    assert [moment.step for moment in finished.history] == list(range(50))
    right, shipped = round(100 * finished.scores.sequence_accuracy), steps_of_shipped("reverse")
    told = f"trained here 50 steps: {right}\u00a0% of 20 test words right; models that ship had {shipped:,}"
    assert told in said(run(app))


@pytest.mark.parametrize("page", ["", "anchors", "redundancy"])
def test_where_nothing_is_trained_two_buttons_lead_to_what_is(by_hand, page):
    service, _ = by_hand
    app = app_test.open_page(page, **SMALL)
    nearest = app.button(key="nearest")
    assert nearest.label == "Show the nearest trained model: encoder 4 × 16, decoder 4 × 16"
    nearest.click()
    app = run(app)
    settings = settings_of(app)
    assert (settings.enc_heads, settings.dec_heads, settings.enc_width, settings.text) == (4, 4, 64, "abc")
    assert "badge shipped" in said(app) and "Changed: " in said(app)
    assert not [button for button in app.button if button.key in ("nearest", "train", "train_on_playground")]

    app = app_test.open_page(page, **SMALL)
    press(app, "train_on_playground" if page else "train")
    assert service.progress(wanted(app)).open
    assert app.session_state["page"] == ""  # where its progress is shown


def test_the_time_that_a_training_takes_is_that_of_measured_ones(by_hand):
    """Its label against the seconds that the stored runs took, for a model like theirs."""
    rows = [row for row in stored_runs.all_stored("fixes") if row.arm == "equal_reproject"]
    per_step = statistics.mean(row.results.seconds / int(row.settings["num_steps"]) for row in rows)
    app = app_test.open_page(seed=1)
    expected = per_step * get_task("spelling").num_steps
    low, high, unit = re.search(r"about (\d+)–(\d+)\s(s|min)", app.button(key="train").label).groups()
    low, high = (int(told) * (1 if unit == "s" else 60) for told in (low, high))
    assert low <= expected <= high <= 4 * low
    assert f"{get_task('spelling').num_steps:,} steps" in said(app)


def test_head_counts_that_lead_to_a_model_trained_here_are_marked(by_hand):
    service, executor = by_hand
    app = press(open_page(), "train")
    assert "2" in app.segmented_control(key="enc_heads").options
    train_to_the_end(service, executor, wanted(app))
    run(app).select_slider[0].set_value(0)  # the end is what the mark is about, whatever snapshot is shown
    app = run(app)
    for key, heads in (("enc_heads", 2), ("dec_heads", 4)):
        options = app.segmented_control(key=key).options
        assert [name.split()[0] for name in options if "●" in name] == [str(heads)]


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
    slider = app.select_slider[0]
    assert len(snapshots) == len(slider.options) == 25 and slider.value == 50
    for snapshot in (snapshots[1], snapshots[20]):
        app.select_slider[0].set_value(snapshot.step)
        run(app)
        assert f"half trained: step {snapshot.step} of 50" in said(app)
        assert read_address(dict(app.query_params))[0].moment == snapshot.step
        expect_weights(app, expected_maps(app.session_state["settings"], snapshot.weights))
    app.select_slider[0].set_value(50)
    run(app)
    assert "trained here" in said(app) and "moment" not in app.query_params

    again = open_page(moment=str(snapshots[20].step))  # the address of a moment, opened by somebody else
    assert f"half trained: step {snapshots[20].step} of 50" in said(again)
    assert "random weights" in said(open_page(moment="0"))


def test_an_address_with_a_moment_of_no_training_says_so(by_hand):
    app = open_page(moment="20")
    assert "moment=20 asks for a snapshot of a training" in said(app)
    assert "random weights" in said(app)
    app.segmented_control(key="dec_heads").set_value(2)
    assert "moment=20" not in said(run(app))


def test_a_visitor_has_at_most_a_few_trainings_at_once_and_is_told_before_the_next(by_hand):
    service, _ = by_hand
    app = open_page()
    for seed in range(training_panel.MAX_OWN):
        app.session_state["settings"] = replace(settings_of(app), seed=seed)
        press(run(app), "train")
    app.session_state["settings"] = replace(settings_of(app), seed=99)
    assert not [button for button in run(app).button if button.key == "train"]
    assert f"{training_panel.MAX_OWN} trainings of yours wait or are under way" in said(app)
    other = open_page(seed="99")
    assert [button for button in other.button if button.key == "train"]  # somebody else has none
    service.stop(wanted(open_page(seed="0")))
    assert [button for button in run(app).button if button.key == "train"]


def test_where_no_further_training_can_begin_the_button_gives_way_to_a_sentence(by_hand, monkeypatch):
    service, _ = by_hand
    app = open_page()
    for seed in (1, 2):
        service.submit(replace(wanted(app), seed=seed))
    monkeypatch.setattr(jobs, "MAX_OPEN", 2)
    full = open_page(seed="99")
    assert not [button for button in full.button if button.key == "train"]
    assert "2 trainings are waiting or under way; try again when some are done." in said(full)
    service.stop(replace(wanted(app), seed=1))
    assert [button for button in run(full).button if button.key == "train"]


def test_those_who_wait_see_their_place(by_hand):
    service, executor = by_hand
    app = open_page()
    for seed in (1, 2, 3):
        service.submit(replace(wanted(app), seed=seed))
    executor.run(service)  # one of them has the worker, two are before us
    press(app, "train")
    place = service.progress(wanted(app)).place
    assert place == 2 and f"Waiting: {place} before this one" in said(app)
    assert re.search(r"steps to go · (less than \d+\ss|about \d+–\d+\s(s|min)) left", said(app))
    assert "4 other trainings take turns with it" in said(open_page(seed="99"))


def test_times_are_told_as_ranges():
    told = {
        (0.4, 1.1): "less than 5 s", (2.0, 5.1): "less than 10 s", (6.0, 13.0): "about 5–15 s",
        (38.0, 89.0): "about 35–90 s", (40.0, 95.0): "about 1–2 min", (100.0, 230.0): "about 2–4 min",
    }  # fmt: skip
    assert {seconds: training_panel._time(seconds).replace("\u00a0", " ") for seconds in told} == told


def test_a_training_pauses_while_nobody_who_asked_is_connected_and_goes_on_for_whoever_watches(by_hand, monkeypatch):
    service, executor = by_hand
    here = [True]
    monkeypatch.setattr(service, "_is_here", lambda who: here[0])
    app = press(open_page(), "train")
    executor.run(service)
    here[0] = False
    executor.run(service)
    paused = service.progress(wanted(app))
    assert paused.paused and not executor.jobs and 0 < paused.step < 50
    here[0] = True
    other = open_page()  # the same address, opened by somebody else
    assert f"Training, step {paused.step} of 50" in said(other)
    handle(service)
    assert not service.progress(wanted(app)).paused and executor.jobs


def test_a_session_is_there_as_long_as_its_browser_is_connected(monkeypatch):
    class Server:
        def is_active_session(self, session: str) -> bool:
            return session == "one"

    monkeypatch.setattr(Runtime, "_instance", Server())
    assert starters.is_connected("one/abc") and not starters.is_connected("two/abc")
    monkeypatch.setattr(Runtime, "_instance", None)
    assert starters.is_connected("two/abc")  # no server: nobody can have left


def test_a_dead_worker_is_told(by_hand):
    service, executor = by_hand
    app = press(open_page(), "train")
    executor.run(service)
    executor.run(service, BrokenProcessPool())
    step = service.progress(wanted(app)).step
    assert f"A worker process died and was replaced; the training went on from step {step}." in said(run(app))
    train_to_the_end(service, executor, wanted(app))
    assert "trained here" in said(run(app))


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
    record = models.record_of(first.session_state["settings"])
    model = models.model_of(record)
    assert model is models.model_of(replace(record, config=replace(record.config)))  # keyed by what it says

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


def test_weights_that_go_while_a_page_is_drawn_are_asked_for_anew(by_hand, monkeypatch):
    """The training is forgotten between the question whether there is one and that for its weights."""
    service, executor = by_hand
    app = press(open_page(), "train")
    train_to_the_end(service, executor, wanted(app))
    progress = service.progress

    def progress_and_gone(settings):
        found = progress(settings)
        if found is not None and found.status == "done":
            del service._trainings[settings]
        return found

    monkeypatch.setattr(service, "progress", progress_and_gone)
    app = run(app)
    assert "random weights" in said(app) and app.button(key="train").label.startswith("Train this one (")
    for page in ("anchors", "redundancy"):
        service.submit(wanted(app))
        train_to_the_end(service, executor, wanted(app))
        assert "random weights" in said(app_test.open_page(page, **SMALL))


def test_weights_that_a_training_has_left_behind_are_gone(by_hand):
    service, executor = by_hand
    app = press(open_page(), "train")
    executor.run(service)
    record = models.record_of(app.session_state["settings"])
    executor.run(service)
    with pytest.raises(models.WeightsGone, match=f"training weights at step {record.step} are not kept"):
        models.model_of(record)


@pytest.mark.parametrize("page", ["anchors", "redundancy"])
def test_every_page_shows_how_far_a_training_is(by_hand, page):
    service, executor = by_hand
    opened = app_test.open_page
    settings = wanted(press(open_page(), "train"))
    executor.run(service)
    step = service.progress(settings).step
    assert f"training, step {step} of 50" in said(opened(page, **SMALL))
    service.stop(settings)
    app = opened(page, **SMALL)
    assert f"half trained: stopped at step {step} of 50" in said(app)
    record = models.record_of(app.session_state["settings"])
    expected = inspect_word(EncoderDecoder.with_weights(settings.config, service.newest(settings).weights),
                            get_task("reverse"), tuple("abc"))  # fmt: skip
    shown = models.word_view(record, tuple("abc"))
    np.testing.assert_array_equal(shown.layers["cross"][0].weights, expected.layers["cross"][0].weights)
    service.submit(settings)
    train_to_the_end(service, executor, settings)
    assert "trained here" in said(opened(page, **SMALL))
    snapshot = service.finished(settings).snapshots[20]
    assert f"half trained: step {snapshot.step} of 50" in said(opened(page, **SMALL, moment=snapshot.step))


def test_where_a_training_was_stopped_is_the_last_point_of_how_heads_grew(by_hand, monkeypatch):
    monkeypatch.setattr(Reverse, "num_steps", 500)  # of which every twentieth or so is recorded
    service, executor = by_hand
    settings = wanted(press(open_page(), "train"))
    executor.run(service)
    service.stop(settings)
    step = service.progress(settings).step
    recorded = [snapshot.step for snapshot in service.snapshots(settings)]
    app = app_test.open_page("redundancy", **SMALL, part="layers")
    found = {element.proto.id.rsplit("-", 1)[-1]: json.loads(element.proto.spec) for element in app.get("plotly_chart")}
    chart = found["lines_growth"]
    x = chart["data"][2]["x"]
    assert recorded[-1] < step
    assert np.frombuffer(base64.b64decode(x["bdata"]), x["dtype"]).tolist() == [*recorded, step]
    assert chart["layout"]["xaxis"]["range"] == pytest.approx([-10, 510])  # the whole schedule, and a little beside it


def test_a_page_is_drawn_at_most_twice_a_second_and_less_often_in_a_crowd(by_hand):
    service, _ = by_hand
    app = press(open_page(), "train")
    progress = service.progress(wanted(app))
    times = [training_panel.seconds_between(replace(progress, num_open=count)) for count in range(1, 201)]
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
