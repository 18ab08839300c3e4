"""What a comparison found: every run as a dot, the learning curves, the table, the differences; or the sweep."""

import numpy as np
import streamlit as st

from attention.comparison import Row
from attention.comparison.arms import Arm
from attention.comparison.costs import LENGTH, costs
from attention.comparison.findings import SERIES, heads_of
from attention.comparison.verdict import CONFIDENCE, CONTRASTS, Difference, spread, verdict
from attention.figures.seeds import interval_chart, seed_curves, seed_dots
from attention.tasks import get_task
from attention.trace import trace_shapes
from pages.parts.chart import draw_chart
from pages.parts.compare_controls import Chosen
from pages.parts.words import label, number, percent, prose, verbatim

# Column, and how its mean and its spread are written.
MEASURES = {
    "token_accuracy": (100, 1),
    "sequence_accuracy": (100, 1),
    "alignment_best": (100, 0),
    "alignment_mean": (100, 0),
    "same_pattern": (1, 2),
    "same_contribution": (1, 2),
    "entropy": (1, 2),
    "distance": (1, 2),
}
COSTS = ("parameters", "kv_bytes", "source_madds", "target_madds", "seconds")  # the last one is measured
CONTRAST_ARMS = {name: (arm, base) for name, arm, base in CONTRASTS}
SWEEP_CHARTS = ("sequence_accuracy", "entropy", "distance", "same_pattern")


def why_not(arm: Arm) -> str:
    """Why an arm cannot run, in plain words."""
    return trace_shapes(arm.config).failure.note.removesuffix(".")


def arm_name(chosen: Chosen, name: str) -> str:
    """What an arm is called on the page."""
    comparison = chosen.comparison
    return label("arm", name, enc=comparison.enc_heads, dec=comparison.dec_heads)


def rows_of(chosen: Chosen, arm: Arm) -> list[Row]:
    """The runs of one arm, by seed."""
    heads = arm.config.decoder.num_heads
    return sorted((row for row in chosen.rows if row.arm == arm.name and heads_of(row) == heads), key=lambda r: r.seed)


def draw_fixes(chosen: Chosen, theme: str) -> None:
    """The verdict with what it rests on, then the table."""
    if chosen.rows:
        st.header(label("compare", "verdict"), anchor=False)
        _draw_pictures(chosen, theme)
        _draw_words(chosen, theme)
    draw_table(chosen)


def _draw_pictures(chosen: Chosen, theme: str) -> None:
    """Every run as a dot, and the paired differences with their intervals."""
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown(f"**{label('compare', 'dots')}**")
        groups = {arm_name(chosen, arm.name): _values(chosen, arm, "sequence_accuracy") for arm in chosen.arms}
        title = label("compare", "sequence_axis", targets=get_task(chosen.comparison.task).target_words)
        draw_chart(seed_dots(groups, x_title=title, theme=theme), key="compare_dots", alt=_dots_alt(groups, title))
    if found := verdict(chosen.rows):
        with right:
            st.markdown(f"**{label('compare', 'differences')}**")
            drawn = {label("contrast", name): _in_points(difference) for name, difference in found.items()}
            figure = interval_chart(drawn, x_title=label("compare", "points_axis"), theme=theme, height=398)
            alt = " ".join(sentence(chosen, *CONTRAST_ARMS[name], found[name]).replace("**", "") for name in found)
            draw_chart(figure, key="compare_intervals", alt=alt)


def _draw_words(chosen: Chosen, theme: str) -> None:
    """The differences in words, beside the learning curves."""
    left, right = st.columns(2, gap="medium")
    if found := verdict(chosen.rows):
        with left:
            st.markdown("\n".join(f"- {sentence(chosen, *CONTRAST_ARMS[name], found[name])}" for name in found))
            chance = percent(1 - CONFIDENCE ** len(found))
            st.caption(prose("compare")["multiplicity"].format(count=len(found), chance=chance))
    with right:
        st.markdown(f"**{label('compare', 'curves')}**")
        curves = {arm_name(chosen, arm.name): _curves(chosen, arm) for arm in chosen.arms if rows_of(chosen, arm)}
        points = next(iter(curves.values())).shape[1]
        steps = (np.arange(points) + 0.5) * chosen.comparison.num_steps / points
        titles = {"x_title": label("compare", "steps_axis"), "y_title": label("compare", "token_axis")}
        figure = seed_curves(steps, curves, **titles, theme=theme, height=400, share=True)
        draw_chart(figure, key="compare_curves", alt=_curves_alt(curves))


def draw_table(chosen: Chosen) -> None:
    """A column per arm; what an arm costs is known before anything is trained."""
    task = get_task(chosen.comparison.task)
    has_gold = any(row.results.num_aligned for row in chosen.rows)
    names = [name for name in (*COSTS, *MEASURES) if has_gold or not name.startswith("alignment")]
    columns = {arm: _column(chosen, arm, names) for arm in chosen.arms}
    head = "".join(f"<th scope='col'>{verbatim(arm_name(chosen, arm.name))}</th>" for arm in chosen.arms)
    diagonal = np.nanmean([row.results.diagonal for row in chosen.rows]) if has_gold else np.nan
    values = {
        "length": LENGTH,
        "targets": task.target_words,
        "source": task.source_words,
        "diagonal": percent(diagonal),
    }
    body = ""
    for place, name in enumerate(names):
        about = f"{verbatim(label('column', name, **values))}<small>{verbatim(label('about', name, **values))}</small>"
        cells = (_cell(arm, column, place) for arm, column in columns.items())
        body += f"<tr><th scope='row'>{about}</th>{''.join(cells)}</tr>"
    title = label("compare", "table")
    st.header(title, anchor=False)
    st.html(
        f'<div class="wide" tabindex="0" role="region" aria-label="{verbatim(title)}"><table>'
        f"<thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(arm: Arm, column: list[str], place: int) -> str:
    """One cell; an arm that cannot be built has a single one, with the reason, over all lines."""
    if not arm.error:
        return f"<td>{column[place]}</td>"
    text = verbatim(label("compare", "does_not_run", error=why_not(arm)))
    return f"<td class='broken' rowspan='{len(column)}'>{text}</td>" if place == 0 else ""


def _column(chosen: Chosen, arm: Arm, names: list[str]) -> list[str]:
    """What one arm costs and reaches, as HTML."""
    if arm.error:
        return [""] * len(names)
    rows, known = rows_of(chosen, arm), costs(arm.config)
    cells = []
    for name in names:
        if name in COSTS[:-1]:
            cells.append(f"{getattr(known, name):,.0f}")
            continue
        times, digits = MEASURES.get(name, (1, 0))
        mean, around = spread(rows, lambda row, name=name: getattr(row.results, name))
        plus_minus = "" if around != around else f"<small>± {number(times * around, max(digits, 1))}</small>"
        cells.append(number(times * mean, digits) + plus_minus)
    return cells


def sentence(chosen: Chosen, arm: str, base: str, difference: Difference) -> str:
    """One difference in words, in points of accuracy."""
    mean, interval, _ = _in_points(difference)
    values = {"what": arm_name(chosen, arm), "base": arm_name(chosen, base), "n": difference.num_seeds}
    values |= {"mean": signed(mean, 1), "size": number(abs(mean), 1)}
    if interval is None:
        return label("verdict", "single", **values)
    values |= {"low": signed(interval[0], 1), "high": signed(interval[1], 1)}
    if not difference.seen:
        return label("verdict", "none", **values)
    text = label("verdict", "better" if mean > 0 else "worse", **values)
    return text + ("" if difference.sure else " " + label("verdict", "unsure"))


def signed(value: float, digits: int) -> str:
    """A number that always has its sign, "+0.3" or "−0.3"; "0.0" has none."""
    text = number(value, digits)
    return text if text.startswith("−") or not float(text) else f"+{text}"


def draw_sweep(chosen: Chosen, theme: str) -> None:
    """Four measures against the number of decoder heads, a line for each way of choosing the heads."""
    task, heads = get_task(chosen.comparison.task), sorted({arm.config.decoder.num_heads for arm in chosen.arms})
    columns = (*st.columns(2, gap="medium"), *st.columns(2, gap="medium"))
    for column, measure in zip(columns, SWEEP_CHARTS, strict=True):
        groups = {}
        for series in SERIES:
            found = [arm for arm in chosen.arms if arm.name == series]
            if any(rows_of(chosen, arm) for arm in found):
                groups[label("series", series)] = _over_heads(chosen, found, heads, measure)
        title = label("measure", measure, targets=task.target_words)
        with column:
            st.markdown(f"**{title}**")
            if not groups:
                st.caption(label("compare", "nothing_yet"))
                continue
            figure = seed_curves(
                heads,
                groups,
                x_title=label("compare", "heads_axis"),
                y_title="",
                theme=theme,
                height=330,
                categories=True,
                marked=chosen.comparison.enc_heads if chosen.comparison.enc_heads in heads else None,
                mark=label("compare", "encoder_mark", enc=chosen.comparison.enc_heads),
                share=measure == "sequence_accuracy",
                first=2,
            )
            draw_chart(figure, key=f"compare_sweep_{measure}", alt=_sweep_alt(title, heads, groups))
    st.caption(prose("compare")["series"].format(enc=chosen.comparison.enc_heads))


def _values(chosen: Chosen, arm: Arm, measure: str) -> list[float]:
    return [getattr(row.results, measure) for row in rows_of(chosen, arm)]


def _curves(chosen: Chosen, arm: Arm) -> np.ndarray:
    return np.array([row.results.accuracy_curve for row in rows_of(chosen, arm)])


def _over_heads(chosen: Chosen, arms: list[Arm], heads: list[int], measure: str) -> np.ndarray:
    """(seeds, heads): one measure, NaN where a run is missing."""
    values = np.full((chosen.comparison.num_seeds, len(heads)), np.nan)
    for arm in arms:
        for row in rows_of(chosen, arm):
            if row.seed < len(values):
                values[row.seed, heads.index(arm.config.decoder.num_heads)] = getattr(row.results, measure)
    return values


def _in_points(difference: Difference) -> tuple:
    """A difference of shares in percentage points: mean, interval, wider interval."""
    ends = (difference.interval, difference.strict)
    return 100 * difference.mean, *(None if end is None else (100 * end[0], 100 * end[1]) for end in ends)


def _dots_alt(groups: dict[str, list[float]], title: str) -> str:
    said = (f"{name}: {', '.join(percent(value) for value in values) or '–'}" for name, values in groups.items())
    return f"{title}. {'; '.join(said)}."


def _curves_alt(curves: dict[str, np.ndarray]) -> str:
    ends = (f"{name}: {percent(runs[:, 0].mean())} → {percent(runs[:, -1].mean())}" for name, runs in curves.items())
    return f"{label('compare', 'curves')}. {'; '.join(ends)}."


def _sweep_alt(title: str, heads: list[int], groups: dict[str, np.ndarray]) -> str:
    def line(runs: np.ndarray) -> str:
        means = [column[~np.isnan(column)].mean() if not np.isnan(column).all() else np.nan for column in runs.T]
        return ", ".join(f"{count}: {number(mean)}" for count, mean in zip(heads, means, strict=True))

    return f"{title}. " + "; ".join(f"{name}: {line(runs)}" for name, runs in groups.items()) + "."
