"""What the runs that ship with the app say, drawn."""

import math

import numpy as np
import streamlit as st

from attention.experiments.comparison.differences import heads_of
from attention.experiments.comparison.findings import ACCURACY, intervals_of
from attention.figures import interval_chart, seed_curves_chart
from pages.shared.chart import draw_chart, look
from pages.shared.findings import STORED, contrast_text, in_points, pair_name, stored_findings, stored_rows
from pages.shared.texts import label


def draw_entropy(theme: str) -> None:
    """Entropy of cross-attention over decoder heads, from the encoder's number up."""
    sweep, rows = STORED["sweep"], stored_rows("sweep")
    heads = sorted({heads_of(row) for row in rows if heads_of(row) >= sweep.enc_heads})
    lines = {}
    for series in ("width", "size"):
        values = np.full((sweep.num_seeds, len(heads)), math.nan)
        for row in rows:
            if row.arm == series and heads_of(row) in heads and row.seed < len(values):
                values[row.seed, heads.index(heads_of(row))] = row.results.entropy
        lines[label("series", series)] = values
    title = label("claim_run", "sweep_chart")
    axes = {"x_title": label("compare", "heads_axis"), "y_title": ""}
    st.markdown(f"**{title}**")
    chart = seed_curves_chart(heads, lines, name=title, categories=True, first=2, **axes, **look(theme))
    draw_chart(chart, key="article_entropy")
    st.caption(label("article", "small"))


def draw_differences(theme: str) -> None:
    """Every contrast of the stored comparison of the fixes."""
    comparison, findings = STORED["fixes"], stored_findings("fixes")
    contrasts = [finding for finding in findings if finding.measure == ACCURACY]
    st.markdown(f"**{label('compare', 'differences')}**")
    chart = interval_chart(
        {pair_name(comparison, each): in_points(each.difference) for each in contrasts},
        sentences=[contrast_text(comparison, each).replace("**", "") for each in contrasts],
        x_title=label("compare", "points_axis"),
        **look(theme),
    )
    draw_chart(chart, key="article_differences")
    st.caption(label("claim_run", "intervals", count=intervals_of(findings)))
    st.caption(label("article", "small"))
