"""Heads taken away: what all heads of a model do, the score of what is left, and the study of all of them."""

from collections.abc import Mapping

import streamlit as st

from attention.ablation.partial_pass import Score
from attention.ablation.removal import score
from attention.ablation.silence import MEAN, mean_contributions
from attention.figures import lines_chart
from attention.inspection.heads import Head
from attention.jobs.removal_service import RemovalService, Study
from attention.shapes.costs import num_parameters
from pages.shared.caching import made_once
from pages.shared.chart import draw_chart, look
from pages.shared.models import LARGE, ModelRecord, WeightsGone, held_out, model_of
from pages.shared.texts import label, number, say, task_label

MAX_OWN = 4  # studies of one visitor that are under way
LOST = 0.01  # how much of the accuracy may go before heads count as missed


@made_once()
def scored(record: ModelRecord) -> Score:
    return score(model_of(record), held_out(record.task).batch)


@made_once()
def removal_service() -> RemovalService:
    """The one service that takes heads away for everybody."""
    return RemovalService()


def start_study(record: ModelRecord, off_by: str) -> None:
    """Take all heads away, one by one, unless that is under way or done; a refusal is told where the study is drawn."""
    try:
        model = model_of(record)
    except WeightsGone:
        return  # the page that follows is drawn from what there is now
    batch = held_out(record.task).batch
    means = mean_contributions(model, batch) if off_by == MEAN else None
    study = removal_service().submit((record, off_by), model, batch, means)
    if study.status == "failed":
        st.session_state["study_refusal"] = say("jobs", study.message)
    else:
        st.session_state["own_studies"] = {*_own_under_way(), (record, off_by)}


def why_not_now(record: ModelRecord) -> str:
    """Why a study of this model cannot begin just now; "" where it can."""
    if (weights := num_parameters(record.config)) > LARGE:
        return label("switches", "too_large", weights=number(weights / 1e6, 1), limit=number(LARGE / 1e6, 0))
    if len(_own_under_way()) >= MAX_OWN:
        return label("switches", "enough", count=MAX_OWN)
    refusal = removal_service().refusal()
    return say("jobs", refusal) if refusal else ""


def _own_under_way() -> set[tuple[ModelRecord, str]]:
    """Those that this visitor started."""
    studies = {key: removal_service().study(key) for key in st.session_state.get("own_studies", ())}
    return {key for key, study in studies.items() if study is not None and study.status == "running"}


def head_name(head: Head) -> str:
    """A head in words."""
    return label("switches", "head", kind=label("kind", head.kind), layer=head.layer + 1, head=head.number + 1)


def could_go(study: Study) -> int:
    """How many heads went, in the study's order, before more of the accuracy was lost than `LOST`."""
    least = study.whole.token_accuracy - LOST
    stayed = [step.score.token_accuracy >= least for step in study.curve]
    return stayed.index(False) if False in stayed else len(stayed)


def draw_lines(
    studies: Mapping[str, Study], task: str, theme: str, marks: Mapping[str, tuple[int, str]] | None = None
) -> None:
    """The accuracy after each removal, a line for each study, by name; `marks`: how many are gone where it is marked,
    and what is said of it."""
    x, y, notes = {}, {}, {}
    for name, study in studies.items():
        x[name] = list(range(len(study.curve) + 1))
        y[name] = [study.whole.token_accuracy, *(step.score.token_accuracy for step in study.curve)]
        gone = [label("switches", "note_gone", head=head_name(step.heads[0])) for step in study.curve]
        notes[name] = [label("switches", "nothing_gone"), *gone]
    titles = {"x_title": label("switches", "removed"), "y_title": task_label(task, "switches", "accuracy")}
    last = max(study.num_heads for study in studies.values())
    chart = lines_chart(x, y, top=1.0, last=last, notes=notes, marks=marks, **titles, **look(theme))
    draw_chart(chart, key="removal_curve")
