"""Training in the app: a button, its progress, a way to stop. The page stays free while workers train."""

import streamlit as st

from attention.figures import loss_alt, loss_curve
from attention.jobs import Progress
from attention.training import TrainingSettings
from pages.parts.chart import draw_chart
from pages.parts.models import LARGE, num_weights, training_service, training_settings
from pages.parts.settings import Settings
from pages.parts.words import label, task_label


def draw_training(settings: Settings, theme: str) -> None:
    """The panel for a model without trained weights."""
    st.markdown(label("model", "random_long"))
    if (weights := num_weights(settings.config)) > LARGE:
        millions = {"weights": f"{weights / 1e6:.1f}", "limit": f"{LARGE / 1e6:.0f}"}
        st.caption(label("train", "too_large", **millions))
        return
    wanted = training_settings(settings)
    progress = training_service().progress(wanted)
    if progress is not None and progress.open:
        _watch(settings, theme)
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        title = label("train", "button" if progress is None else "again")
        st.button(title, key="train", on_click=_start, args=(wanted,))
        st.caption(_ended(progress) if progress else label("train", "estimate", steps=f"{wanted.num_steps:,}"))


@st.fragment(run_every=0.5)
def _watch(settings: Settings, theme: str) -> None:
    """Redraws itself while the training runs, and the whole page once it has ended."""
    wanted = training_settings(settings)
    progress = training_service().progress(wanted)
    if progress is None or not progress.open:
        st.session_state["touched"] = True  # the address has nothing new to say
        st.rerun()
    done = progress.step / max(progress.num_steps, 1)
    st.progress(done, text=_running(wanted.task, progress))
    if wanted in st.session_state.get("started", ()):
        st.button(label("train", "stop"), key="stop", on_click=training_service().stop, args=(wanted,))
    else:
        st.caption(label("train", "shared"))
    if len(progress.history) > 1:
        steps = [moment.step for moment in progress.history]
        losses = [moment.loss for moment in progress.history]
        figure = loss_curve(steps, losses, num_steps=progress.num_steps, theme=theme)
        draw_chart(figure, key="loss", alt=loss_alt(steps, losses))


def _start(wanted: TrainingSettings) -> None:
    """Start a training, or join one with the same settings; only who started it may stop it."""
    progress = training_service().progress(wanted)
    if progress is None or not progress.open:
        st.session_state["started"] = {*st.session_state.get("started", ()), wanted}
    training_service().submit(wanted)


def _running(task: str, progress: Progress) -> str:
    if progress.status == "waiting":
        return label("train", "waiting", place=progress.place)
    if progress.status == "scoring":
        return task_label(task, "train", "scoring")
    if not progress.history:
        return label("train", "starting")
    loss = f"{progress.history[-1].loss:.2f}"
    text = label("train", "running", step=progress.step, steps=progress.num_steps, loss=loss)
    if progress.seconds_left is None:
        return text
    return f"{text}, {label('train', 'left', seconds=round(progress.seconds_left))}"


def _ended(progress: Progress) -> str:
    if progress.status == "failed":
        return label("train", "failed", message=progress.message)
    return label("train", "stopped", step=progress.step, steps=progress.num_steps)
