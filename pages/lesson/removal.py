"""Step 8: all heads taken away, one by one, from a model of 48 heads and from one of 80."""

import streamlit as st

from attention.ablation.silence import ZERO
from attention.config import ATTENTION_KINDS
from attention.jobs.removal_service import Study
from pages.lesson.bars import Bars
from pages.lesson.more import situation
from pages.lesson.step import START, TASK, Step
from pages.shared.heads_away import could_go, draw_lines, removal_service, start_study
from pages.shared.models import ModelRecord, record_of
from pages.shared.texts import label, percent, say

QUARTERS = ("quarter", "half", "most", "nearly")


def models() -> dict[str, ModelRecord]:
    """Both models, by the name of their line."""
    records = (record_of(START), record_of(situation("problem_2")))
    return {_name(record): record for record in records}


def num_heads(record: ModelRecord) -> int:
    """Heads of all kinds and layers."""
    encoder, decoder = record.config.encoder, record.config.decoder
    return encoder.num_layers * encoder.num_heads + 2 * decoder.num_layers * decoder.num_heads


def studies() -> dict[str, Study | None]:
    """How far they are."""
    return {name: removal_service().study((record, ZERO)) for name, record in models().items()}


def missed_kind(study: Study) -> str:
    """The kind of attention whose heads are missed most when they are away alone: the largest mean rise of the loss."""
    rises: dict[str, list[float]] = {kind: [] for kind in ATTENTION_KINDS}
    for removal in study.alone:
        rises[removal.heads[0].kind].append(removal.score.loss - study.whole.loss)
    return max(rises, key=lambda kind: sum(rises[kind]) / len(rises[kind]))


class Removal(Step):
    name, minutes, trained = "removal", 5, 0  # by its own words, before those of published ones
    codes = QUARTERS

    def begin(self) -> None:
        for record in models().values():
            start_study(record, ZERO)

    def is_ready(self) -> bool:
        return all(study is not None and study.status != "running" for study in studies().values())

    def question(self) -> str:
        few, many = map(num_heads, models().values())
        return self.text("question", few=few, many=many)

    def right(self) -> set[str]:
        study = next(iter(studies().values()))
        if study is None or study.status != "done":
            return set()
        return {QUARTERS[min(4 * could_go(study) // study.num_heads, 3)]}

    def draw(self, theme: str, predicted: str | None) -> bool:
        if None in studies().values():  # nobody opened the step before, or it is forgotten
            self.begin()
        found = studies()
        if any(study is None or study.status == "failed" for study in found.values()):
            told = [say("jobs", study.message) for study in found.values() if study and study.message]
            st.caption(" ".join(told) or st.session_state.pop("study_refusal", ""))
            st.button(label("switches", "again"), key="lesson_study", on_click=self.begin)
            return False
        if not self.is_ready():
            self._watch(theme)
            return False
        gone = {name: could_go(study) for name, study in found.items()}
        draw_lines(found, TASK, theme, {name: (count, self.text("mark", count=count)) for name, count in gone.items()})
        st.caption(self.text("rings"))
        return True

    @st.fragment(run_every=0.5)
    def _watch(self, theme: str) -> None:
        """Redraws itself while workers take heads away, and the page once they have."""
        found = studies()
        if not any(study is not None and study.status == "running" for study in found.values()):
            st.rerun()
        found = {name: study for name, study in found.items() if study is not None}
        share = sum(study.share_done for study in found.values()) / len(found)
        st.progress(share, text=self.text("under_way", share=percent(share)))
        if begun := {name: study for name, study in found.items() if study.curve}:
            draw_lines(begun, TASK, theme)

    def seen(self) -> str:
        parts = [
            self.text(
                "could",
                name=name,
                count=could_go(study),
                heads=study.num_heads,
                share=percent(could_go(study) / study.num_heads),
                kind=missed_kind(study),
            )
            for name, study in studies().items()
        ]
        return " ".join((*parts, label("lesson", "once", count=len(parts)), self.text("published")))

    def bars(self) -> tuple[Bars, ...]:
        return tuple(
            Bars(
                self.text("bars", name=name, whole=percent(study.whole.token_accuracy)),
                (study.whole.token_accuracy, *(step.score.token_accuracy for step in study.curve)),
            )
            for name, study in studies().items()
            if study is not None and study.curve
        )

    def explore(self) -> tuple[str, dict[str, str]]:
        return "redundancy", {**START.to_address(), "part": "removal"}


def _name(record: ModelRecord) -> str:
    heads = {"enc": record.config.encoder.num_heads, "dec": record.config.decoder.num_heads}
    return label("lesson_removal", "line", count=num_heads(record), **heads)
