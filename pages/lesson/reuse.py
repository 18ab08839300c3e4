"""Step 5: the encoder's keys and values reused as they are, and what each way of mending it costs."""

import streamlit as st

from attention import ModelConfig
from attention.cache import kept_kv
from attention.cross_attention import fits
from attention.shapes.costs import num_kv_parameters
from attention.shapes.ledger import LedgerStep
from pages.lesson.bars import Bars
from pages.lesson.more import cross_steps, draw_shapes, situation
from pages.lesson.step import Step
from pages.shared.failure import draw_failed_step
from pages.shared.ledger import dim_name, step_name
from pages.shared.session import changes_between
from pages.shared.settings import Settings
from pages.shared.table import Cell, draw_table
from pages.shared.texts import label, listed, say, whole

MENDED = "lesson_mended"  # in the session: the settings of the suggestion that was pressed


def mismatch() -> Settings:
    return situation("mismatch")


def failing_step() -> LedgerStep:
    """The step of cross-attention that fails, from really running it; it has to be there."""
    return next(step for step in cross_steps(mismatch()) if not step.ok)


def suggested() -> dict[str, ModelConfig]:
    """The suggestions, in words."""
    return {say("ledger_suggestion", each.message): each.config for each in failing_step().suggestions}


class Reuse(Step):
    name, minutes, trained = "reuse", 6, 0
    codes = ("shared", "refuses", "silent")

    def right(self) -> set[str]:
        return {"silent" if fits(mismatch().config) else "refuses"}

    def draw(self, theme: str, predicted: str | None) -> bool:
        mended: Settings | None = st.session_state.get(MENDED)
        if mended is None:
            draw_failed_step(mismatch(), failing_step(), follow=_mend)
        else:
            changes = listed(changes_between(mismatch(), mended))
            st.markdown(label("failure", "changed", changes=changes))
            draw_shapes(cross_steps(mended))
            st.button(self.text("again"), on_click=_mend, args=(None,))
        rows = [
            (name, Cell(whole(num_kv_parameters(config)), "number"), Cell(whole(kept_kv(config)), "number"))
            for name, config in suggested().items()
        ]
        head = (self.text("column_suggestion"), *(label("shapes", f"costs_{name}") for name in ("weights", "kept")))
        draw_table(self.text("table"), head, rows, look="lesson")
        return True

    def seen(self) -> str:
        step, costs = failing_step(), [num_kv_parameters(config) for config in suggested().values()]
        clashes = listed(
            f"{dim_name(clash.dim)} {clash.sizes[0]} ≠ {clash.sizes[1]}" for clash in step.clashes
        )  # as the two shapes say
        values = {"weights": min(costs), "most": max(costs)}
        return self.text("seen", step=step_name(step), clashes=clashes, **values)

    def bars(self) -> tuple[Bars, ...]:
        found = suggested()
        names = tuple(str(number) for number in range(1, len(found) + 1))
        said = listed(f"({number}) {suggestion}" for number, suggestion in zip(names, found, strict=True))
        return (Bars(self.text("bars", suggestions=said), tuple(map(num_kv_parameters, found.values())), names, whole),)

    def explore(self) -> tuple[str, dict[str, str]]:
        return "", mismatch().to_address()


def _mend(settings: Settings | None) -> None:
    st.session_state[MENDED] = settings
