"""Step 4: 8 decoder heads become 16, at one total width and at one head size."""

from dataclasses import dataclass

import streamlit as st

from attention.experiments.comparison import fixes, stored_runs
from attention.experiments.comparison.findings import ACCURACY, Finding
from attention.shapes import trace_shapes
from attention.shapes.ledger import LedgerStep
from pages.lesson.bars import Bars
from pages.lesson.step import START, Step, row_of
from pages.shared.answer import draw_answer, read_text
from pages.shared.findings import contrast_text, stored_findings
from pages.shared.ledger import dims_of, part_name, step_name, symbol_name
from pages.shared.models import lengths_of, record_of, word_view
from pages.shared.settings import Settings
from pages.shared.shape_picture import shape_flow
from pages.shared.situations import apply_situation
from pages.shared.style import draw_stylesheet
from pages.shared.table import Cell, draw_table
from pages.shared.texts import label, listed, whole
from pages.shared.widgets import put, taken

SITUATIONS = ("equal", "problem_1", "problem_2")


@dataclass(frozen=True)
class Sizes:
    """What one situation's cross-attention has: heads, head size, and what W_O takes and gives."""

    runs: bool
    heads: int
    head_dim: int
    takes: int
    gives: int


def situation(name: str) -> Settings:
    """The lesson's settings in one of the article's situations."""
    return apply_situation(START, name)


def cross_steps(settings: Settings) -> tuple[LedgerStep, ...]:
    """The shape ledger of cross-attention, with the lengths of the lesson's word."""
    trace = trace_shapes(settings.config, *lengths_of(settings, read_text(settings)[0]))
    return tuple(step for step in trace.steps if step.part == "cross")


def sizes_of(name: str) -> Sizes:
    """Read from the ledger: the last step of cross-attention is the product with W_O."""
    settings = situation(name)
    steps = cross_steps(settings)
    (given,) = (shape for shape in steps[-1].inputs if shape.symbol != "W_O")
    dims = (settings.dec_heads, settings.dec_dim)
    return Sizes(steps[-1].ok, *dims, given.sizes[-1], steps[-1].output.sizes[-1])


def draw_shapes(steps: tuple[LedgerStep, ...], current: int | None = None) -> None:
    """The shapes of cross-attention, as the page Shapes draws them."""
    draw_stylesheet("shapes")
    names = listed(map(step_name, steps))
    st.html(shape_flow(steps, current, description=label("shapes", "picture", part=part_name("cross"), steps=names)))


def draw_ledger(settings: Settings) -> None:
    """The same, to be walked through step by step; at first it is seen from its end."""
    steps = cross_steps(settings)
    kept, key = st.session_state.setdefault("lesson_rows", {}), "lesson_ledger"
    number = min(kept.get("ledger", len(steps)), len(steps))
    put(key, number, len(steps))
    look = {"on_change": taken, "args": (key, kept.__setitem__, "ledger")}
    st.slider(label("lesson_more", "ledger"), 1, len(steps), key=key, **look)
    step = steps[number - 1]
    said = label("shapes", "step_of", number=number, count=len(steps), step=step_name(step))
    st.markdown(f"**{said}**: {symbol_name(step.output.symbol)}, {dims_of(step.output)}")
    draw_shapes(steps, number - 1)


def stored_contrast() -> Finding | None:
    """16 heads of the textbook decoder against 8, over the seeds of the stored runs."""
    pair = ("reproject", "equal_reproject", ACCURACY)
    return next((each for each in stored_findings("fixes") if (each.what, each.base, each.measure) == pair), None)


def stored_head_dim() -> int:
    """The size of the 16 heads in these runs."""
    return next(arm.config.decoder.head_dim for arm in fixes(stored_runs.FIXES) if arm.name == "reproject")


class MoreHeads(Step):
    name, minutes = "more", 7
    codes = ("crash", "worse", "same", "better")

    def right(self) -> set[str]:
        if not all(sizes_of(name).runs for name in SITUATIONS):
            return {"crash"}
        contrast = stored_contrast()
        return {{"up": "better", "down": "worse"}.get(contrast.direction if contrast else "", "same")}

    def draw(self, theme: str, predicted: str | None) -> bool:
        shown = row_of("more", self.text("do"), SITUATIONS, lambda name: label("situation", name))
        settings = situation(shown)
        source, _ = read_text(settings)
        record = record_of(settings)
        draw_answer(record, word_view(record, source), broken=False)
        draw_ledger(settings)
        rows = []
        for name in SITUATIONS:
            sizes = sizes_of(name)
            numbers = (f"{sizes.heads} × {sizes.head_dim}", str(sizes.takes), f"{sizes.takes} → {sizes.gives}")
            rows.append((label("situation", name), *(Cell(each, "number") for each in numbers)))
        head = [self.text(column) for column in ("column_situation", "column_heads", "column_total", "column_w_o")]
        draw_table(self.text("table"), head, rows, look="lesson", caption=False, current=SITUATIONS.index(shown))
        return True

    def seen(self) -> str:
        found = [sizes_of(name) for name in SITUATIONS]
        runs = self.text("runs", count=sum(sizes.runs for sizes in found), all=len(found))
        heads = " → ".join(f"{sizes.heads} × {sizes.head_dim}" for sizes in found)
        last = {"takes": found[-1].takes, "gives": found[-1].gives}
        contrast = stored_contrast()
        if contrast:
            sizes = {"heads": stored_runs.FIXES.dec_heads, "dim": stored_head_dim()}
            seeds = f"{self.text('stored', **sizes)} {contrast_text(stored_runs.FIXES, contrast)}"
        else:
            seeds = self.text("no_runs")
        return " ".join((runs, self.text("seen", heads=heads, **last), seeds))

    def once(self) -> str:
        contrast = stored_contrast()
        return self.text("once", seeds=contrast.difference.num_seeds) if contrast else super().once()

    def bars(self) -> tuple[Bars, ...]:
        found = [sizes_of(name) for name in SITUATIONS]
        names = tuple(f"{sizes.heads} × {sizes.head_dim}" for sizes in found)
        return (Bars(self.text("bars"), tuple(sizes.takes for sizes in found), names, whole),)

    def explore(self) -> tuple[str, dict[str, str]]:
        return "shapes", situation("problem_2").to_address()
