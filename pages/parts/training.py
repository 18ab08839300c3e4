"""Training in the app: a button, its progress, a way to stop and to go on, and a slider over what was recorded.

The page stays free while workers train. Nothing here waits: each run asks the service how things stand, and while a
training is under way the page's main part is a fragment that runs again every now and then (`seconds_between`).
"""

from collections.abc import Callable

import streamlit as st

from attention.cross_attention import fits
from attention.figures import loss_alt, loss_curve
from attention.jobs import Progress
from attention.training import TrainingSettings
from attention.worker import recorded_steps
from pages.parts import sidebar
from pages.parts.chart import draw_chart
from pages.parts.models import LARGE, num_weights, training_service, training_settings
from pages.parts.settings import Settings
from pages.parts.starters import GONE_SECONDS, starters, visitor
from pages.parts.words import label, percent, task_label

FASTEST, SLOWEST = 0.5, 3.0  # seconds between two drawings of a page that watches a training


def progress_of(settings: Settings) -> Progress | None:
    """How the training of these settings stands; None where there never was one."""
    return training_service().progress(training_settings(settings))


def has_moments(settings: Settings) -> bool:
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

    Args:
        draw: is given the seconds until it is called again, or None.
    """
    progress = progress_of(settings) if fits(settings.config) else None
    seconds = seconds_between(progress) if progress is not None and progress.open else None

    def draw_again() -> None:
        now = progress_of(sidebar.current())
        if now is None or not now.open or seconds_between(now) != seconds:
            st.session_state["touched"] = True  # the address has nothing new to say
            st.rerun()
        draw(seconds)

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
    if (weights := num_weights(settings.config)) > LARGE:
        millions = {"weights": f"{weights / 1e6:.1f}", "limit": f"{LARGE / 1e6:.0f}"}
        st.caption(label("train", "too_large", **millions))
        return
    wanted = training_settings(settings)
    with_curve = progress is not None and progress.status != "done" and len(progress.history) > 1
    # Beside each other, so that the heads below stay in sight while they take shape; on a phone, one below the other.
    left, right = st.columns([3, 2], gap="large") if with_curve else (st.container(), None)
    with left:
        if progress is not None and progress.open:
            _draw_under_way(wanted, progress)
        elif progress is None or progress.status != "done":
            _draw_offer(wanted, progress)
        if progress is not None:
            _draw_moments(settings, wanted, progress)
    if with_curve:
        with right:
            steps = [moment.step for moment in progress.history]
            losses = [moment.loss for moment in progress.history]
            figure = loss_curve(steps, losses, num_steps=progress.num_steps, height=190, theme=theme)
            draw_chart(figure, key="loss", alt=loss_alt(steps, losses))


def _draw_offer(wanted: TrainingSettings, progress: Progress | None) -> None:
    """A button that starts a training, or lets one go on, and why there is none under way."""
    title = {None: "button", "stopped": "go_on", "failed": "again"}[progress and progress.status]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(label("train", title), key="train", on_click=_start, args=(wanted,))
        st.caption(_ended(progress) if progress else label("train", "estimate", steps=f"{wanted.num_steps:,}"))


def _draw_under_way(wanted: TrainingSettings, progress: Progress) -> None:
    st.progress(progress.step / progress.num_steps, text=_running(wanted.task, progress))
    with st.container(horizontal=True, vertical_alignment="center"):
        if starters().may_stop(wanted, visitor()):
            st.button(label("train", "stop"), key="stop", on_click=_stop, args=(wanted,))
        else:
            st.caption(label("train", "shared", seconds=GONE_SECONDS))
        st.caption(progress.message or label("train", "free"))


def _draw_moments(settings: Settings, wanted: TrainingSettings, progress: Progress) -> None:
    """The slider over the recorded moments. Its right end is the end of the training, or the newest state there is."""
    kept = training_service().snapshots(wanted)
    if not kept:
        return
    # All moments from the start, reached or not: a slider whose steps change while it is drawn would lose the thumb.
    steps = recorded_steps(wanted.num_steps, sum(weight.numel() for weight in kept[0].weights.values()))
    shown = wanted.num_steps if settings.moment is None else max(step for step in steps if step <= settings.moment)
    # It first appears in a fragment, and there the browser heeds `value` only; later the setting is put into it.
    if "moment" in st.session_state:
        sidebar.put("moment", shown)
    st.select_slider(
        label("train", "moment"),
        options=steps,
        value=shown,
        format_func=lambda step: _moment_name(step, wanted.num_steps, progress),
        key="moment",
        on_change=_choose_moment,
        args=(wanted.num_steps,),
        help=label("train", "moment_help"),
    )
    if settings.moment is not None and progress.step < shown < wanted.num_steps:
        st.caption(label("train", "not_reached", step=shown, now=progress.step))


def _moment_name(step: int, num_steps: int, progress: Progress) -> str:
    if step < num_steps:
        return label("train", "moment_step", step=step)
    return label("train", "moment_end" if progress.status == "done" else "moment_now")


def _choose_moment(num_steps: int) -> None:
    step = st.session_state["moment"]
    sidebar.change_moment(None if step == num_steps else step)


def _start(wanted: TrainingSettings) -> None:
    """Start a training, let it go on, or join one with the same settings."""
    progress = training_service().progress(wanted)
    if progress is None or not progress.open:
        starters().add(wanted, visitor())
    training_service().submit(wanted)
    sidebar.change_moment(None)


def _stop(wanted: TrainingSettings) -> None:
    training_service().stop(wanted)
    st.session_state["touched"] = True


def _running(task: str, progress: Progress) -> str:
    if progress.status == "waiting":
        return label("train", "waiting", place=progress.place, steps=progress.num_steps)
    if progress.status == "scoring":
        return task_label(task, "train", "scoring")
    if not progress.history:
        return label("train", "starting")
    last = progress.history[-1]
    numbers = {"loss": f"{last.loss:.2f}", "accuracy": percent(last.token_accuracy)}
    text = label("train", "running", step=progress.step, steps=progress.num_steps, **numbers)
    if progress.seconds_left is not None:
        text = f"{text} · {_left(progress.seconds_left)}"
    if progress.num_open > 1:
        text = f"{text} · {label('train', 'turns', count=progress.num_open)}"
    return text


def _left(seconds: float) -> str:
    if seconds > 90:
        return label("train", "left_minutes", minutes=round(seconds / 60))
    return label("train", "left", seconds=max(1, round(seconds)))


def _ended(progress: Progress) -> str:
    if progress.status == "failed":
        return label("train", "failed", message=progress.message)
    text = label("train", "stopped", step=progress.step, steps=progress.num_steps)
    return f"{text} {progress.message}" if progress.message else text
