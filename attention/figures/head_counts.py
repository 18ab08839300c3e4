"""How many heads the two sides of a model have: a point per pair of counts, the diagonal where they are equal."""

from collections.abc import Mapping, Sequence
from math import log2

import numpy as np

from attention.figures.chart import Chart, chart
from attention.figures.layout import TEXT_SIZE, base_layout, number_axis
from attention.figures.palette import Palette, palette
from attention.figures.text import literal
from attention.figures.words import ENGLISH, FigureWords

TICKS = (6, 8, 12, 16, 24, 32)
LONGEST_LINE = 18  # characters of a label
LOW, HIGH = 5, 42  # the ends of both axes; what lies beyond is named in the corner

Pair = tuple[int, int]


def head_counts_chart(
    models: Sequence[tuple[str, int, int]],
    *,
    theme: str = "light",
    height: int = 460,
    label_places: Mapping[Pair, str] | None = None,
    words: FigureWords = ENGLISH,
) -> Chart:
    """Decoder heads against encoder heads, both on logarithmic axes from 5 to 42.

    Above the diagonal the decoder has more heads (triangle up), below it fewer (triangle down), on it as many
    (circle). Models with the same pair share a point. A pair beyond the axes is written at the end of the diagonal.
    The words name every pair with its models.

    Args:
        models: name, encoder heads, decoder heads.
        label_places: plotly's `textposition` for the label of a pair; "middle right" where none is given.
    """
    pairs, colors = by_pair(models), palette(theme)
    shown = [pair for pair in pairs if max(pair) <= HIGH]
    places = label_places or {}
    ends = [log2(LOW), log2(HIGH)]
    traces = [
        {
            "type": "scatter", "x": ends, "y": ends, "mode": "lines", "hoverinfo": "skip",
            "line": {"color": colors.faint_ink, "width": 1, "dash": "dot"},
        },
        {
            "type": "scatter",
            # Logarithms on plain axes: plotly's own logarithmic axes know no base but 10 for their ends.
            "x": [log2(enc) for enc, _ in shown],
            "y": [log2(dec) for _, dec in shown],
            "mode": "markers+text",
            "text": [_label(pairs[pair]) for pair in shown],
            "textposition": [places.get(pair, "middle right") for pair in shown],
            "textfont": {"size": TEXT_SIZE, "color": colors.ink},
            "cliponaxis": False,
            "marker": {
                "size": 11,
                "symbol": [("circle", "triangle-up", "triangle-down")[_side(pair)] for pair in shown],
                "color": [_marks(colors)[_side(pair)] for pair in shown],
            },
            "hovertext": [f"{_label(pairs[pair])}<br>{pair[0]} → {pair[1]}" for pair in shown],
            "hovertemplate": "%{hovertext}<extra></extra>",
        },
    ]  # fmt: skip
    layout = base_layout(colors, title=None, height=height)
    layout["margin"] |= {"r": 20}
    ticks = {"tickmode": "array", "tickvals": [log2(tick) for tick in TICKS], "ticktext": [str(tick) for tick in TICKS]}
    layout["xaxis"] = number_axis(words.encoder_heads, colors, range=ends, autorange=False, **ticks)
    layout["yaxis"] = number_axis(words.decoder_heads, colors, range=ends, autorange=False, tickangle=0, **ticks)
    layout["annotations"] = [
        _note(words.more_decoder_heads, _marks(colors)[1], x=0.01, y=0.99, xanchor="left", yanchor="top"),
        _note(words.fewer_decoder_heads, _marks(colors)[2], x=0.99, y=0.01, xanchor="right", yanchor="bottom"),
    ]
    beyond = [
        f"{', '.join(map(literal, names))} {enc} → {dec}" for (enc, dec), names in pairs.items() if max(enc, dec) > HIGH
    ]
    if beyond:
        text = "<br>".join(f"{line} ↗" for line in beyond)
        layout["annotations"].append(_note(text, colors.ink, x=1, y=1, xanchor="right", yanchor="bottom"))
        layout["margin"]["t"] = 30
    points = "; ".join(
        words.head_counts_point.format(names=", ".join(names), encoder=enc, decoder=dec)
        for (enc, dec), names in sorted(pairs.items())
    )
    columns = ("model", "encoder_heads", "decoder_heads")
    return chart(
        traces,
        layout,
        words.head_counts_alt.format(points=points),
        lambda: {name: np.array(values) for name, values in zip(columns, zip(*models, strict=True), strict=True)},
    )


def by_pair(models: Sequence[tuple[str, int, int]]) -> dict[Pair, list[str]]:
    """Names by their (encoder heads, decoder heads), in the order given."""
    pairs: dict[Pair, list[str]] = {}
    for name, enc, dec in models:
        pairs.setdefault((enc, dec), []).append(name)
    return pairs


def _side(pair: Pair) -> int:
    """0 on the diagonal, 1 above it, 2 below it."""
    enc, dec = pair
    return 0 if enc == dec else 1 if dec > enc else 2


def _marks(colors: Palette) -> tuple[str, str, str]:
    """Of points on, above and below the diagonal; shapes differ too."""
    return colors.faint_ink, colors.blue, colors.rose


def _label(names: Sequence[str]) -> str:
    """The names of one point, in lines short enough to stand beside their neighbours on a phone."""
    lines = [literal(names[0])]
    for name in map(literal, names[1:]):
        if len(lines[-1]) + len(name) + 2 <= LONGEST_LINE:
            lines[-1] += f", {name}"
        else:
            lines[-1] += ","
            lines.append(name)
    return "<br>".join(lines)


def _note(text: str, color: str, **where) -> dict:
    return {
        "text": text, "showarrow": False, "xref": "paper", "yref": "paper", "align": where["xanchor"],
        "font": {"size": TEXT_SIZE, "color": color}, **where,
    }  # fmt: skip
