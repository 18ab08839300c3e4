"""What a figure shows, in a sentence or two for somebody who cannot see it. Plain text, not escaped."""

from collections.abc import Mapping, Sequence

import numpy as np

from attention.figures.text import number, shorten
from attention.figures.words import ENGLISH, FigureWords

MAX_ROWS = 12  # a listener will not sit through more


def attention_alt(
    weights: np.ndarray,
    row_labels: Sequence[str],
    col_labels: Sequence[str],
    *,
    row_title: str = "query (decoder)",
    col_title: str = "key (encoder)",
    allowed: np.ndarray | None = None,
    words: FigureWords = ENGLISH,
) -> str:
    """Size, axes, and the strongest cell of each row (of the first 12); arguments as for `attention_heatmap`."""
    weights = np.asarray(weights, dtype=np.float64)
    allowed = np.broadcast_to(weights.any(axis=1, keepdims=True), weights.shape) if allowed is None else allowed
    rows, cols = weights.shape
    cells = []
    for label, row, may in zip(row_labels[:MAX_ROWS], weights, np.asarray(allowed), strict=False):
        cells.append(f"{shorten(label)} → {_strongest(row, may, col_labels, words)}")
    if rows > MAX_ROWS:
        cells.append(words.more_rows_alt.format(count=rows - MAX_ROWS))
    size = words.map_alt.format(rows=rows, cols=cols, row_title=row_title, col_title=col_title)
    return f"{size} {words.strongest_alt.format(cells='; '.join(cells))}"


def _strongest(row: np.ndarray, allowed: np.ndarray, labels: Sequence[str], words: FigureWords) -> str:
    if not allowed.any():
        return words.no_keys
    row = np.where(allowed, row, -np.inf)
    if np.isnan(row).any():
        return words.undefined
    best = int(row.argmax())
    # What reads alike is not "the strongest": rounding must not choose among equal weights.
    if (row >= row[best] - 1e-6).sum() > 1:
        return f"{words.no_single_key} {number(row[best])}"
    return f"{shorten(labels[best])} ({best + 1}) {number(row[best])}"


def similarity_alt(matrix: np.ndarray, *, words: FigureWords = ENGLISH) -> str:
    """Number of heads, the most and the least alike pair, and which heads are undefined."""
    matrix = np.asarray(matrix, dtype=np.float64)
    heads = len(matrix)
    if heads == 1:
        return words.one_head_alt
    parts = [words.similarity_alt.format(heads=heads)]
    first, second = np.triu_indices(heads, k=1)
    values = matrix[first, second]
    defined = np.flatnonzero(~np.isnan(values))
    if len(defined) == 0:
        return f"{parts[0]} {words.no_pairs_alt}"
    most, least = defined[values[defined].argmax()], defined[values[defined].argmin()]

    def pair(at: int) -> str:
        return f"{first[at] + 1} {words.and_word} {second[at] + 1}"

    named = {"most": pair(most), "most_value": number(values[most])}
    if len(defined) == 1:
        parts.append(words.pair_alt.format(**named))
    else:
        parts.append(words.pairs_alt.format(**named, least=pair(least), least_value=number(values[least])))
    unknown = [str(head + 1) for head in np.flatnonzero(np.isnan(np.diag(matrix)))]
    if unknown:
        parts.append(words.undefined_alt.format(heads=", ".join(unknown)))
    return " ".join(parts)


def loss_alt(
    steps: Sequence[int] | np.ndarray, losses: Sequence[float] | np.ndarray, *, words: FigureWords = ENGLISH
) -> str:
    """Where the curve begins, where it ends, and its lowest point; losses that are not finite are left out."""
    steps, losses = np.asarray(steps), np.asarray(losses, dtype=np.float64)
    finite = np.isfinite(losses)
    steps, losses = steps[finite], losses[finite]
    names = {"loss": words.loss.capitalize(), "step": words.step}
    if len(losses) == 0:
        return words.empty_curve_alt.format(**names)
    names |= {"first": f"{losses[0]:.3g}", "first_step": steps[0]}
    if len(losses) == 1:
        return words.one_point_alt.format(**names)
    low = int(losses.argmin())
    return words.curve_alt.format(
        **names, last=f"{losses[-1]:.3g}", last_step=steps[-1], low=f"{losses[low]:.3g}", low_step=steps[low]
    )


def comparison_alt(
    x: Sequence[int],
    lines: Mapping[str, Sequence[float] | np.ndarray],
    *,
    x_title: str,
    y_title: str,
    marked: int | None = None,
    mark: str = "",
    words: FigureWords = ENGLISH,
) -> str:
    """Both axes, and each line point by point; arguments as for `comparison_chart`."""
    parts = [words.comparison_alt.format(y=y_title, x=x_title)]
    for name, values in lines.items():
        points = ", ".join(
            f"{at} → {words.undefined if value != value else number(value)}"
            for at, value in zip(x, np.asarray(values, dtype=np.float64).tolist(), strict=True)
        )
        parts.append(words.points_alt.format(line=name, points=points))
    if marked is not None:
        parts.append(words.marked_alt.format(x=x_title, at=marked, mark=mark))
    return " ".join(parts)
