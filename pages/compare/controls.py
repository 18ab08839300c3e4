"""What is compared, chosen by the visitor; and starting, watching and stopping it."""

import statistics
import time
from dataclasses import dataclass, replace

import streamlit as st

from attention.experiments.comparison import Arm, Comparison, FinishedRun, fixes, stored_runs, sweep
from attention.experiments.comparison.arms import KEEPS, planned
from attention.jobs.comparison_service import SharedComparisons, Standing
from attention.shapes.costs import num_parameters
from attention.tasks import TASKS
from pages.compare.address import COMPARED, FIELDS, HEADS, MAX_SEEDS, OPENING, STEPS, from_word, to_word
from pages.shared import session
from pages.shared.caching import made_once
from pages.shared.models import LARGE, training_service
from pages.shared.starters import visitor
from pages.shared.texts import counted, label, number, say
from pages.shared.widgets import offers_of, put, taken

ARMS = {"fixes": fixes, "sweep": sweep}


@dataclass(frozen=True)
class ComparisonView:
    """An experiment, what it is made of, its runs so far, and how it stands.

    `from_store` says that the rows are those that ship with the app.
    """

    experiment: str
    comparison: Comparison
    arms: tuple[Arm, ...]
    rows: tuple[FinishedRun, ...]
    standing: Standing
    from_store: bool

    def key(self) -> tuple[Comparison, tuple[Arm, ...], str]:
        """What the shared comparisons are asked with."""
        return self.comparison, self.arms, visitor()


@made_once()
def shared() -> SharedComparisons:
    """The comparisons of everybody; runs that ship with the app need not be made again."""
    known = (*stored_runs.all_stored("fixes"), *stored_runs.all_stored("sweep"))
    return SharedComparisons(training_service(), known)


def current_comparison() -> ComparisonView:
    """What this visitor looks at."""
    experiment, comparison = from_word(session.current()[COMPARED])
    arms = ARMS[experiment](comparison)
    standing = shared().ask(comparison, arms, visitor())
    rows = standing.rows
    if not rows and not standing.wanted:  # the recipe has changed since, or nothing was stored of this
        rows = tuple(stored_runs.stored_for(comparison, arms, experiment))
    return ComparisonView(
        experiment, comparison, arms, rows, standing, bool(rows) and comparison == OPENING[experiment]
    )


def draw_controls() -> None:
    """The experiment, and what it is made of."""
    experiment, now = from_word(session.current()[COMPARED])
    with st.container(horizontal=True, vertical_alignment="bottom", key="compare_controls"):
        _segments("experiment", tuple(FIELDS), lambda name: label("compare", name), experiment)
        _segments("task", tuple(TASKS), lambda name: label(name, "title"), now.task)
        _segments("enc_heads", HEADS, str, now.enc_heads)
        if experiment == "fixes":
            _segments("dec_heads", HEADS, str, now.dec_heads)
            _segments("keep", KEEPS, lambda name: label("keep", name), now.keep)
        _number("num_seeds", now.num_seeds, 1, MAX_SEEDS, 1)
        _number("num_steps", now.num_steps, *STEPS, 50)


def draw_run(view: ComparisonView) -> None:
    """A button, or the progress of what runs and a way to stop it."""
    if view.standing.wanted:
        _watch(view)
        return
    if (largest := max(num_parameters(arm.config) for arm in view.arms if not arm.error)) > LARGE:
        st.caption(label("compare", "too_large", weights=number(largest / 1e6, 1), limit=number(LARGE / 1e6, 0)))
        return
    for failure in view.standing.failures:
        st.caption(label("compare", "run_failed", message=say("jobs", failure)))
    missing = view.standing.total - view.standing.finished
    if not missing:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        name = "go_on" if view.standing.finished or view.standing.share > 0 else "run"
        st.button(label("compare", name), key="compare_run", on_click=_start, args=(view,), type="primary")
        work = missing * _mean_minutes(view)
        values = {"runs": counted(missing, "training"), "steps": view.comparison.num_steps}
        st.caption(label("compare", "runs", minutes=counted(max(round(work), 1), "minute"), **values))


@st.fragment(run_every=1.0)
def _watch(view: ComparisonView) -> None:
    """Keeps the comparison going while somebody looks, and redraws the page when another run is finished."""
    standing = shared().ask(*view.key())
    if standing.finished != view.standing.finished or not standing.wanted or standing.done:
        session.touch()  # the address has nothing new to say
        st.rerun()
    name = "waiting" if standing.place else "running"
    text = label("compare", name, finished=standing.finished, total=standing.total, place=standing.place)
    st.progress(min(standing.share, 1.0), text=text + _time_left(standing.share))
    st.button(label("train", "stop"), key="compare_stop", on_click=shared().stop, args=view.key())


def _mean_minutes(view: ComparisonView) -> float:
    """Minutes of one processor core that one of its trainings takes."""
    runs = planned(replace(view.comparison, num_seeds=1), view.arms)
    return statistics.mean(stored_runs.expected_seconds(settings) for _, settings in runs) / 60


def _start(view: ComparisonView) -> None:
    st.session_state["compare_began"] = time.monotonic(), view.standing.share
    shared().start(*view.key())


def _time_left(share: float) -> str:
    """At the speed since the button was pressed; nothing before there is a speed."""
    began, before = st.session_state.get("compare_began", (None, 0.0))
    if began is None or share - before < 0.01:
        return ""
    seconds = (time.monotonic() - began) * (1 - share) / (share - before)
    return ", " + label("compare", "left", minutes=max(round(seconds / 60), 1))


def _segments(field: str, options: tuple, show, value) -> None:
    put(f"compare_{field}", value, offers_of(options, show))
    st.segmented_control(
        label("compare", field),
        options,
        format_func=show,
        key=f"compare_{field}",
        required=True,
        wrap=True,
        on_change=taken,
        args=(f"compare_{field}", _choose, field),
    )


def _number(field: str, value: int, low: int, high: int, step: int) -> None:
    put(f"compare_{field}", value)
    st.number_input(
        label("compare", field),
        min_value=low,
        max_value=high,
        step=step,
        key=f"compare_{field}",
        width=130,
        on_change=taken,
        args=(f"compare_{field}", _choose, field),
    )


def _choose(field: str, value) -> None:
    """A widget was touched."""
    experiment, now = from_word(session.current()[COMPARED])
    left = st.session_state.setdefault("compare_left", {})  # what each experiment was when the visitor left it
    if field == "experiment":
        left[experiment] = now
        experiment, now = value, left.get(value, OPENING[value])
    else:
        changes = {field: value}
        if field == "task":
            changes["num_steps"] = None  # what this task usually takes
        now = replace(now, **changes)
    before = from_word(session.current()[COMPARED])[1]
    session.change(session.current().put(COMPARED, to_word(experiment, now)))
    if field == "task" and now.num_steps != before.num_steps:
        session.tell(label("compare", "other_steps", steps=now.num_steps, before=before.num_steps))
    elif field != "task" and now.task != before.task:
        tasks = {"before": label(before.task, "title"), "task": label(now.task, "title")}
        session.tell(label("compare", "other_task", experiment=label("compare", experiment), **tasks))
