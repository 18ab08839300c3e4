"""Step 6: the three fixes, judged from the runs that ship; and the heads of a trained model of the third one."""

from itertools import combinations

import streamlit as st

from attention.experiments.comparison import stored_runs
from attention.experiments.comparison.differences import by_seed, paired
from attention.experiments.comparison.findings import ACCURACY, Finding
from attention.figures import interval_chart
from pages.lesson.bars import Bars
from pages.lesson.heads import draw_heads
from pages.lesson.more import situation
from pages.lesson.step import Step
from pages.shared.answer import read_text
from pages.shared.chart import draw_chart, look
from pages.shared.findings import FIXES, arm_name, contrast_text, in_points, pair_name, signed, stored_rows
from pages.shared.models import record_of, word_view
from pages.shared.texts import label, listed, percent

SMALL = 0.01  # of the largest contribution in the layer


def contrasts() -> list[Finding]:
    """Each fix against each other one, seed by seed, as one family; none without runs."""
    rows = stored_rows("fixes")
    accuracy = {fix: by_seed(rows, fix, ACCURACY) for fix in FIXES}
    pairs = list(combinations(FIXES, 2))
    found = [
        Finding(one, other, ACCURACY, paired(accuracy[one], accuracy[other]).among(len(pairs))) for one, other in pairs
    ]
    return [each for each in found if each.difference.num_seeds]


def best_fix() -> str | None:
    """The fix that is better than both others, all pairs allowed for; None where no such difference is seen."""
    better = set()
    for each in contrasts():
        if each.difference.sure:
            better.add((each.what, each.base) if each.difference.mean > 0 else (each.base, each.what))
    return next((fix for fix in FIXES if all((fix, other) in better for other in FIXES if other != fix)), None)


def third_fix_view():
    """The lesson's word through the model of fix 3."""
    settings = situation("fix_3")
    return word_view(record_of(settings), read_text(settings)[0])


def small_heads() -> tuple[int, int]:
    """How many cross-attention heads of that model add less than 1 % of the largest in their layer, of how many."""
    sizes = [size for layer in third_fix_view().layers["cross"] for size in layer.size]
    return sum(size < SMALL for size in sizes), len(sizes)


class Fixes(Step):
    name, minutes, trained = "fixes", 5, 0  # by its own words
    codes = (*FIXES, "none")

    def choices(self) -> dict[str, str]:
        names = {fix: arm_name(stored_runs.FIXES, fix) for fix in FIXES}
        return {**names, "none": self.text("none")}

    def right(self) -> set[str]:
        return {best_fix() or "none"}

    def draw(self, theme: str, predicted: str | None) -> bool:
        found, comparison = contrasts(), stored_runs.FIXES
        if found:
            drawn = {pair_name(comparison, each): in_points(each.difference) for each in found}
            sentences = [contrast_text(comparison, each).replace("**", "") for each in found]
            title = label("compare", "points_axis")
            chart = interval_chart(drawn, sentences=sentences, x_title=title, **look(theme))
            draw_chart(chart, key="lesson_intervals")
        layers = third_fix_view().layers["cross"]
        number = len(layers) - 1
        layer = layers[number]
        st.markdown(f"**{self.text('grid', layer=number + 1)}**")
        draw_heads(layer, number, label("head", "size"), layer.size, key="lesson_fix_3")
        return True

    def seen(self) -> str:
        found = " ".join(contrast_text(stored_runs.FIXES, each) for each in contrasts()) or self.text("no_runs")
        small, heads = small_heads()
        return f"{found} {self.text('seen', count=small, heads=heads, limit=percent(SMALL))}"

    def bars(self) -> tuple[Bars, ...]:
        found = contrasts()
        if not found:
            return ()
        names = tuple(str(number) for number in range(1, len(found) + 1))
        pairs = (pair_name(stored_runs.FIXES, each) for each in found)
        said = listed(f"({number}) {pair}" for number, pair in zip(names, pairs, strict=True))
        values = tuple(100 * each.difference.mean for each in found)
        return (Bars(self.text("bars", pairs=said), values, names, lambda value: signed(value, 1)),)

    def explore(self) -> tuple[str, dict[str, str]]:
        return "compare", {}
