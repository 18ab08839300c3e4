"""The head-count sweep: measures against the number of decoder heads, a line for each way of choosing the heads."""

import numpy as np
import streamlit as st

from attention.experiments.comparison.arms import Arm
from attention.experiments.comparison.findings import SERIES
from attention.figures import seed_curves_chart
from pages.compare.arms import rows_of
from pages.compare.controls import ComparisonView
from pages.compare.taken import taken
from pages.shared.chart import draw_chart, look
from pages.shared.texts import label, paragraph, task_label

CHARTS = ("sequence_accuracy", "entropy", "distance", "effective_maps")


def draw_sweep(view: ComparisonView, theme: str) -> None:
    """A chart for each measure that the runs have."""
    heads = sorted({arm.config.decoder.num_heads for arm in view.arms})
    drawn = {measure: _lines(view, heads, measure) for measure in CHARTS}
    drawn = {measure: lines for measure, lines in drawn.items() if lines}
    columns = [column for _ in range(0, len(drawn), 2) for column in st.columns(2, gap="medium")]
    for column, (measure, lines) in zip(columns, drawn.items(), strict=False):
        title = task_label(view.comparison.task, "measure", measure)
        with column:
            st.markdown(f"**{title}**")
            chart = seed_curves_chart(
                heads,
                lines,
                name=title,
                x_title=label("compare", "heads_axis"),
                y_title="",
                height=330,
                categories=True,
                marked=view.comparison.enc_heads if view.comparison.enc_heads in heads else None,
                mark=label("compare", "encoder_mark", enc=view.comparison.enc_heads),
                share=measure == "sequence_accuracy",
                first=2,
                **look(theme),
            )
            draw_chart(chart, key=f"compare_sweep_{measure}", take=taken(view, measure))
    st.caption(paragraph("compare", "series", enc=view.comparison.enc_heads))


def _lines(view: ComparisonView, heads: list[int], measure: str) -> dict[str, np.ndarray]:
    """For each series that has the measure, (seeds, heads)."""
    lines = {}
    for series in SERIES:
        values = _over_heads(view, [arm for arm in view.arms if arm.name == series], heads, measure)
        if not np.isnan(values).all():
            lines[label("series", series)] = values
    return lines


def _over_heads(view: ComparisonView, arms: list[Arm], heads: list[int], measure: str) -> np.ndarray:
    """(seeds, heads): one measure, NaN where a run is missing."""
    values = np.full((view.comparison.num_seeds, len(heads)), np.nan)
    for arm in arms:
        for row in rows_of(view, arm):
            if row.seed < len(values):
                values[row.seed, heads.index(arm.config.decoder.num_heads)] = getattr(row.results, measure)
    return values
