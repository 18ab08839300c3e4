"""What a comparison of the fixes found: every run as a dot, the differences, the learning curves."""

import numpy as np
import streamlit as st

from attention.experiments.comparison.arms import Arm
from attention.experiments.comparison.findings import ACCURACY, Finding, intervals_of
from attention.figures import interval_chart, seed_curves_chart, seed_dots_chart
from pages.compare.arms import draw_all_arms, rows_of
from pages.compare.claims import draw_multiplicity
from pages.compare.controls import ComparisonView
from pages.compare.taken import taken
from pages.shared.chart import draw_chart, look
from pages.shared.findings import arm_name, contrast_text, in_points, pair_name
from pages.shared.texts import label, task_label


def draw_fixes(view: ComparisonView, findings: list[Finding], theme: str) -> None:
    """The verdict with what it rests on, then the table."""
    if view.rows:
        contrasts = [finding for finding in findings if finding.measure == ACCURACY]
        st.header(label("compare", "verdict"), anchor=False)
        _draw_pictures(view, contrasts, theme)
        _draw_words(view, contrasts, findings, theme)
    draw_all_arms(view)


def _draw_pictures(view: ComparisonView, contrasts: list[Finding], theme: str) -> None:
    """Every run as a dot, and the paired differences with their intervals."""
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown(f"**{label('compare', 'dots')}**")
        groups = {arm_name(view.comparison, arm.name): _accuracies(view, arm) for arm in view.arms}
        title = task_label(view.comparison.task, "compare", "sequence_axis")
        draw_chart(seed_dots_chart(groups, x_title=title, **look(theme)), key="compare_dots", take=taken(view, "dots"))
    if contrasts:
        with right:
            st.markdown(f"**{label('compare', 'differences')}**")
            drawn = {pair_name(view.comparison, each): in_points(each.difference) for each in contrasts}
            sentences = [contrast_text(view.comparison, each).replace("**", "") for each in contrasts]
            title = label("compare", "points_axis")
            chart = interval_chart(drawn, sentences=sentences, x_title=title, **look(theme))
            draw_chart(chart, key="compare_intervals", take=taken(view, "differences"))
            if intervals_of(contrasts):
                st.caption(label("compare", "lines"))


def _draw_words(view: ComparisonView, contrasts: list[Finding], findings: list[Finding], theme: str) -> None:
    """The differences in words, beside the learning curves."""
    left, right = st.columns(2, gap="medium")
    if contrasts:
        with left:
            st.markdown("\n".join(f"- {contrast_text(view.comparison, each)}" for each in contrasts))
            draw_multiplicity(findings)
    with right:
        st.markdown(f"**{label('compare', 'curves')}**")
        arms = [arm for arm in view.arms if rows_of(view, arm)]
        curves = {arm_name(view.comparison, arm.name): _curves(view, arm) for arm in arms}
        points = next(iter(curves.values())).shape[1]
        steps = (np.arange(points) + 0.5) * view.comparison.num_steps / points
        titles = {f"{axis}_title": label("compare", name) for axis, name in (("x", "steps_axis"), ("y", "token_axis"))}
        titles["name"] = label("compare", "curves")
        chart = seed_curves_chart(steps, curves, **titles, height=400, share=True, **look(theme))
        draw_chart(chart, key="compare_curves", take=taken(view, "curves"))


def _accuracies(view: ComparisonView, arm: Arm) -> list[float]:
    return [row.results.sequence_accuracy for row in rows_of(view, arm)]


def _curves(view: ComparisonView, arm: Arm) -> np.ndarray:
    return np.array([row.results.accuracy_curve for row in rows_of(view, arm)])
