"""What is compared, chosen by the visitor; and starting, watching and stopping it."""

import statistics
import time
from dataclasses import dataclass, replace

import streamlit as st

from attention.comparison import Arm, Comparison, Row, fixes, sweep
from attention.comparison import stored as shipped
from attention.comparison.arms import KEEPS, planned
from attention.comparison.costs import num_parameters
from attention.comparison.service import SharedComparisons, Standing
from attention.tasks import TASKS
from pages.parts import sidebar
from pages.parts.compare_address import FIELDS, HEADS, MAX_SEEDS, OPENING, STEPS, from_word, to_word
from pages.parts.models import LARGE, training_service
from pages.parts.starters import visitor
from pages.parts.words import counted, label

ARMS = {"fixes": fixes, "sweep": sweep}
SEEDS = 3  # for a comparison that is not the stored one, unless more are asked for


@dataclass(frozen=True)
class Chosen:
    """An experiment, what it is made of, its runs so far, and how it stands.

    `from_store` says that the rows are those that ship with the app.
    """

    experiment: str
    comparison: Comparison
    arms: tuple[Arm, ...]
    rows: tuple[Row, ...]
    standing: Standing
    from_store: bool

    def key(self) -> tuple[Comparison, tuple[Arm, ...], str]:
        """What the shared comparisons are asked with."""
        return self.comparison, self.arms, visitor()


@st.cache_resource(show_spinner=False)
def shared() -> SharedComparisons:
    """The comparisons of everybody; runs that ship with the app need not be made again."""
    return SharedComparisons(training_service(), known=(*shipped.stored("fixes"), *shipped.stored("sweep")))


def chosen() -> Chosen:
    """What this visitor looks at."""
    experiment, comparison = from_word(sidebar.current().compare)
    arms = ARMS[experiment](comparison)
    standing = shared().ask(comparison, arms, visitor())
    rows = standing.rows
    if not rows and not standing.wanted:  # the recipe has changed since, or nothing was stored of this
        rows = tuple(shipped.stored_for(comparison, arms, experiment))
    return Chosen(experiment, comparison, arms, rows, standing, bool(rows) and comparison == OPENING[experiment])


def draw_controls() -> None:
    """The experiment, and what it is made of."""
    experiment, now = from_word(sidebar.current().compare)
    with st.container(horizontal=True, vertical_alignment="bottom", key="compare_controls"):
        _segments("experiment", tuple(FIELDS), lambda name: label("compare", name), experiment)
        _segments("task", tuple(TASKS), lambda name: label(name, "title"), now.task)
        _segments("enc_heads", HEADS, str, now.enc_heads)
        if experiment == "fixes":
            _segments("dec_heads", HEADS, str, now.dec_heads)
            _segments("keep", KEEPS, lambda name: label("keep", name), now.keep)
        _number("num_seeds", now.num_seeds, 1, MAX_SEEDS, 1)
        _number("num_steps", now.num_steps, *STEPS, 50)


def draw_run(chosen: Chosen) -> None:
    """A button, or the progress of what runs and a way to stop it."""
    if chosen.standing.wanted:
        _watch(chosen)
        return
    if (largest := max(num_parameters(arm.config) for arm in chosen.arms if not arm.error)) > LARGE:
        st.caption(label("compare", "too_large", weights=f"{largest / 1e6:.1f}", limit=f"{LARGE / 1e6:.0f}"))
        return
    for failure in chosen.standing.failures:
        st.caption(label("compare", "run_failed", message=failure))
    missing = chosen.standing.total - chosen.standing.finished
    if not missing:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        name = "go_on" if chosen.standing.finished or chosen.standing.share > 0 else "run"
        st.button(label("compare", name), key="compare_run", on_click=_start, args=(chosen,), type="primary")
        work = missing * _mean_minutes(chosen)
        values = {"runs": counted(missing, "training"), "steps": f"{chosen.comparison.num_steps:,}"}
        st.caption(label("compare", "runs", minutes=counted(max(round(work), 1), "minute"), **values))


@st.fragment(run_every=1.0)
def _watch(chosen: Chosen) -> None:
    """Keeps the comparison going while somebody looks, and redraws the page when another run is finished."""
    standing = shared().ask(*chosen.key())
    if standing.finished != chosen.standing.finished or not standing.wanted or standing.done:
        st.session_state["touched"] = True  # the address has nothing new to say
        st.rerun()
    name = "waiting" if standing.place else "running"
    text = label("compare", name, finished=standing.finished, total=standing.total, place=standing.place)
    st.progress(min(standing.share, 1.0), text=text + _time_left(standing.share))
    st.button(label("train", "stop"), key="compare_stop", on_click=shared().stop, args=chosen.key())


def _mean_minutes(chosen: Chosen) -> float:
    """Minutes of one processor core that one of its trainings takes."""
    runs = planned(replace(chosen.comparison, num_seeds=1), chosen.arms)
    return statistics.mean(shipped.expected_seconds(settings) for _, settings in runs) / 60


def _start(chosen: Chosen) -> None:
    st.session_state["compare_began"] = time.monotonic(), chosen.standing.share
    shared().start(*chosen.key())


def _time_left(share: float) -> str:
    """At the speed since the button was pressed; nothing before there is a speed."""
    began, before = st.session_state.get("compare_began", (None, 0.0))
    if began is None or share - before < 0.01:
        return ""
    seconds = (time.monotonic() - began) * (1 - share) / (share - before)
    return ", " + label("compare", "left", minutes=f"{max(seconds / 60, 0.1):.0f}" if seconds > 90 else "1")


def _segments(field: str, options: tuple, show, value) -> None:
    sidebar.put(f"compare_{field}", value)
    st.segmented_control(
        label("compare", field),
        options,
        format_func=show,
        key=f"compare_{field}",
        required=True,
        wrap=True,
        on_change=sidebar.taken,
        args=(f"compare_{field}", _choose, field),
    )


def _number(field: str, value: int, low: int, high: int, step: int) -> None:
    sidebar.put(f"compare_{field}", value)
    st.number_input(
        label("compare", field),
        min_value=low,
        max_value=high,
        step=step,
        key=f"compare_{field}",
        width=130,
        on_change=sidebar.taken,
        args=(f"compare_{field}", _choose, field),
    )


def _choose(field: str, value) -> None:
    """A widget was touched."""
    experiment, now = from_word(sidebar.current().compare)
    left = st.session_state.setdefault("compare_left", {})  # what each experiment was when the visitor left it
    if field == "experiment":
        left[experiment] = now
        experiment, now = value, left.get(value, OPENING[value])
    else:
        changes = {field: value}
        if field == "task":
            changes["num_steps"] = None  # what this task usually takes
        if now == OPENING[experiment] and field != "num_seeds":
            changes["num_seeds"] = SEEDS
        now = replace(now, **changes)
    sidebar.change(replace(sidebar.current(), compare=to_word(experiment, now)))
