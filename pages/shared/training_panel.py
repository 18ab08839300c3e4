"""Training in the app: a button, its progress, a way to stop and to go on, and a slider over what was recorded.

The page stays free while workers train. Nothing here waits: each run asks the service how things stand, and while a
training is under way the page's main part is a fragment that runs again every now and then (`seconds_between`).
"""

import math
from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from attention.cross_attention import fits
from attention.figures import loss_chart
from attention.jobs.time_left import Range
from attention.jobs.training_service import Progress
from attention.jobs.worker import recorded_steps
from attention.shapes.costs import num_parameters
from attention.training import TrainingSettings
from pages.shared.chart import draw_chart, look
from pages.shared.models import LARGE, anew, training_service, training_settings
from pages.shared.session import change, current, follow_suggestion, open_page, page_is_drawn, touch
from pages.shared.settings import Settings
from pages.shared.starters import GONE_SECONDS, starters, visitor
from pages.shared.texts import label, number, percent, say, task_label
from pages.shared.trained import nearest_trained, with_model_of
from pages.shared.ways import model_name
from pages.shared.widgets import taken

MAX_OWN = 4  # trainings of one visitor that wait or are under way
FASTEST, SLOWEST = 0.5, 3.0  # seconds between two drawings of a page that watches a training
SECONDS_TOLD = 90  # up to which a time is told in seconds, by fives


def progress_of(settings: Settings) -> Progress | None:
    """How the training of these settings stands; None where there never was one."""
    return training_service().progress(training_settings(settings))


def has_snapshots(settings: Settings) -> bool:
    """Whether weights were recorded while these settings were trained here."""
    return bool(training_service().snapshots(training_settings(settings)))


def seconds_between(progress: Progress) -> float:
    """How often a page is drawn that watches: twice a second, or less often where many trainings take turns.

    With thirty at once each of them moves on about every fifteen seconds, and thirty pages drawn twice a second
    would take the processor from the workers.
    """
    wait = FASTEST
    while wait < progress.num_open / 8 and wait < SLOWEST:
        wait *= 2
    return min(wait, SLOWEST)


def watch(settings: Settings, draw: Callable[[float | None], None]) -> None:
    """Draw a page: once, or again and again while the training of the present settings is under way.

    Who watches a training wants it: where it was paused, as all had gone who did, it goes on.

    Args:
        draw: is given the seconds until it is called again, or None.
    """
    progress = progress_of(settings) if fits(settings.config) else None
    seconds = seconds_between(progress) if progress is not None and progress.open else None
    if seconds is not None:
        training_service().join(training_settings(settings), visitor())

    def draw_again() -> None:
        now = progress_of(current())
        if now is None or not now.open or seconds_between(now) != seconds:
            touch()  # the address has nothing new to say
            st.rerun()
        with anew():
            draw(seconds)
        page_is_drawn()

    if seconds is None:
        with st.container():  # as a fragment has one: what is drawn keeps its place when a training starts or ends
            draw(None)
    else:
        st.fragment(draw_again, run_every=seconds)()


def draw_training(settings: Settings, theme: str) -> None:
    """The panel of a model that did not come with the app."""
    progress = progress_of(settings)
    if progress is None or not progress.step:
        st.markdown(label("model", "random_long"))
    if (weights := num_parameters(settings.config)) > LARGE:
        millions = {"weights": number(weights / 1e6, 1), "limit": number(LARGE / 1e6, 0)}
        st.caption(label("train", "too_large", **millions))
        _draw_nearest(settings)
        return
    wanted = training_settings(settings)
    with_curve = progress is not None and progress.status != "done" and len(progress.history) > 1
    # Beside each other, so that the heads below stay in sight while they take shape; on a phone, one below the other.
    left, right = st.columns([3, 2], gap="large") if with_curve else (st.container(), None)
    with left:
        if progress is not None and progress.open:
            _draw_under_way(wanted, progress)
        elif progress is None or progress.status != "done":
            _draw_offer(settings, wanted, progress)
        if progress is not None:
            _draw_snapshots(settings, wanted, progress)
    if with_curve:
        with right:
            steps = [moment.step for moment in progress.history]
            losses = [moment.loss for moment in progress.history]
            draw_chart(loss_chart(steps, losses, num_steps=progress.num_steps, height=190, **look(theme)), key="loss")


def draw_ways_to_trained(settings: Settings) -> None:
    """On a page that shows no trainings, where weights are not trained: two buttons that lead to some that are."""
    with st.container(horizontal=True, vertical_alignment="center", key="ways_to_trained"):
        _draw_nearest(settings)
        progress = progress_of(settings)
        if num_parameters(settings.config) <= LARGE and not (progress and (progress.open or progress.status == "done")):
            wanted = training_settings(settings)
            title = label("train", "on_playground", title=_offer(wanted, progress))
            _draw_start(title, key="train_on_playground", on_click=_start_on_playground, args=(wanted,))


def _draw_nearest(settings: Settings) -> None:
    """A button that shows the nearest model that came trained with the app."""
    card = nearest_trained(settings)
    if card is None:
        return
    name = model_name(card.config, with_way=card.config.kv != settings.kv)
    st.button(label("train", "nearest", name=name), key="nearest", on_click=_show_nearest, type="primary")


def _show_nearest() -> None:
    settings = current()
    follow_suggestion(with_model_of(nearest_trained(settings), settings))


def _draw_offer(settings: Settings, wanted: TrainingSettings, progress: Progress | None) -> None:
    """The nearest trained model; a button that starts a training, or lets one go on; why there is none under way."""
    with st.container(horizontal=True, vertical_alignment="center"):
        _draw_nearest(settings)
        _draw_start(_offer(wanted, progress), key="train", on_click=_start, args=(wanted,))
        st.caption(_ended(progress) if progress else _estimate(wanted))


def _draw_start(title: str, **button: object) -> None:
    """The button that starts a training, or why this visitor has to wait with it."""
    mine = (training_service().progress(settings) for settings in starters().of(visitor()))
    if sum(progress is not None and progress.open for progress in mine) >= MAX_OWN:
        st.caption(label("train", "enough", count=MAX_OWN))
    elif refusal := training_service().refusal():
        st.caption(say("jobs", refusal))
    else:
        st.button(title, **button)


def _offer(wanted: TrainingSettings, progress: Progress | None) -> str:
    """What the button does, and how long that takes among the trainings that are under way."""
    title = {None: "button", "stopped": "go_on", "failed": "again"}[progress and progress.status]
    return label("train", title, time=_time(training_service().outlook(wanted)))


def _estimate(wanted: TrainingSettings) -> str:
    """What the time on the button holds."""
    others = training_service().num_under_way()
    text = label("train", "estimate", steps=wanted.num_steps)
    return f"{text} {label('train', 'estimate_turns', count=others)}" if others else text


def _start_on_playground(wanted: TrainingSettings) -> None:
    _start(wanted)
    open_page(current(), "playground")


def _draw_under_way(wanted: TrainingSettings, progress: Progress) -> None:
    st.progress(progress.step / progress.num_steps, text=_running(wanted.task, progress))
    with st.container(horizontal=True, vertical_alignment="center"):
        if starters().may_stop(wanted, visitor()):
            st.button(label("train", "stop"), key="stop", on_click=_stop, args=(wanted,))
        else:
            st.caption(label("train", "shared", seconds=GONE_SECONDS))
        st.caption(say("jobs", progress.message) if progress.message else label("train", "free"))


def _draw_snapshots(settings: Settings, wanted: TrainingSettings, progress: Progress) -> None:
    """The slider over what was recorded. Its right end is the end of the training, or the newest state there is."""
    kept = training_service().snapshots(wanted)
    if not kept:
        return
    # All of them from the start, reached or not: a slider whose steps change while it is drawn would lose the thumb.
    steps = recorded_steps(wanted.num_steps, sum(weight.numel() for weight in kept[0].weights.values()))
    shown = wanted.num_steps if settings.moment is None else max(step for step in steps if step <= settings.moment)
    key = _slider_key(shown)
    st.select_slider(
        label("train", "moment"),
        options=steps,
        value=shown,
        format_func=lambda step: _snapshot_name(step, wanted.num_steps, progress),
        key=key,
        on_change=taken,
        args=(key, _choose_snapshot, wanted.num_steps),
        help=label("train", "moment_help"),
    )
    if settings.moment is not None and progress.step < shown < wanted.num_steps:
        st.caption(label("train", "not_reached", step=shown, now=progress.step))


def _slider_key(shown: int) -> str:
    """The key of the slider, a new one where another snapshot is shown than the visitor has moved it to.

    It first appears in a fragment. There a browser heeds the value that a slider is made with, and none that the
    session gives it; one that missed the first drawing came to stand at step 0, and told so as if it had been moved.
    """
    number = st.session_state.get("moment_number", 0)
    if st.session_state.get(f"moment_{number}", shown) != shown:
        number += 1
        st.session_state["moment_number"] = number
    return f"moment_{number}"


def _snapshot_name(step: int, num_steps: int, progress: Progress) -> str:
    if step < num_steps:
        return label("train", "moment_step", step=step)
    return label("train", "moment_end" if progress.status == "done" else "moment_now")


def _choose_snapshot(num_steps: int, step: int) -> None:
    change(replace(current(), moment=None if step == num_steps else step))


def _start(wanted: TrainingSettings) -> None:
    """Start a training, let it go on, or join one with the same settings."""
    progress = training_service().progress(wanted)
    if progress is None or not progress.open:
        starters().add(wanted, visitor())
    training_service().submit(wanted, visitor())
    change(replace(current(), moment=None))  # its end, or what there is so far


def _stop(wanted: TrainingSettings) -> None:
    training_service().stop(wanted)
    touch()


def _running(task: str, progress: Progress) -> str:
    if progress.status == "waiting":
        name = "waiting" if progress.place else "next"
        text = label("train", name, place=progress.place, steps=progress.num_steps)
        return f"{text} · {_left(progress.seconds_left)}" if progress.seconds_left else text
    if progress.status == "scoring":
        return task_label(task, "train", "scoring")
    if not progress.history:
        return label("train", "starting")
    last = progress.history[-1]
    numbers = {"loss": number(last.loss), "accuracy": percent(last.token_accuracy)}
    text = label("train", "running", step=progress.step, steps=progress.num_steps, **numbers)
    if progress.seconds_left is not None:
        text = f"{text} · {_left(progress.seconds_left)}"
    if progress.num_open > 1:
        text = f"{text} · {label('train', 'turns', count=progress.num_open)}"
    return text


def _left(seconds: Range) -> str:
    return label("train", "left", time=_time(seconds))


def _time(seconds: Range) -> str:
    """A range in words, by fives of seconds or in minutes."""
    low, high = seconds
    if high > SECONDS_TOLD:
        return label("train", "minutes", low=max(1, round(low / 60)), high=max(2, math.ceil(high / 60)))
    low, high = 5 * math.floor(low / 5), 5 * max(1, math.ceil(high / 5))
    return label("train", "seconds", low=low, high=high) if low else label("train", "soon", high=high)


def _ended(progress: Progress) -> str:
    if progress.status == "failed":
        return label("train", "failed", message=say("jobs", progress.message))
    text = label("train", "stopped", step=progress.step, steps=progress.num_steps)
    return f"{text} {say('jobs', progress.message)}" if progress.message else text
