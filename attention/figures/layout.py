"""What all figures share: type sizes, margins, and axes that carry labels at whole positions."""

from collections.abc import Sequence

import numpy as np

from attention.figures.colors import rgb
from attention.figures.palette import CLEAR, Palette
from attention.figures.text import literal, shorten
from attention.figures.words import FigureWords

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif"
TEXT_SIZE, TITLE_SIZE = 14, 16  # px; nothing is smaller, and the numbers in cells are no larger than TEXT_SIZE
PHONE_MAP_WIDTH, CHARACTER_WIDTH = 300, 7.3  # px; what labels leave of 390, and an average letter


def base_layout(colors: Palette, *, title: str | None, height: int) -> dict:
    """Layout without axes: transparent, small margins, no dragging (a finger has to be able to scroll the page)."""
    layout = {
        # A template of one entry: without any, plotly fills in its own, 7 kB of colours that no figure here uses.
        "template": {"layout": {"hovermode": "closest"}},
        "paper_bgcolor": CLEAR,
        "plot_bgcolor": CLEAR,
        "font": {"family": FONT, "size": TEXT_SIZE, "color": colors.ink},
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
        "height": height,
        "dragmode": False,
        "showlegend": False,
        "hoverlabel": {
            "bgcolor": colors.panel,
            "bordercolor": colors.faint_ink,
            "font": {"family": FONT, "size": TEXT_SIZE, "color": colors.ink},
            "align": "left",
        },
    }
    if title:
        layout["title"] = {
            "text": literal(title),
            "font": {"size": TITLE_SIZE, "color": colors.ink},
            "x": 0,
            "xref": "container",
            "xanchor": "left",
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            "pad": {"l": 8, "t": 6},
            "automargin": True,
        }
    return layout


def row_axis(labels: Sequence[str], title: str, colors: Palette, *, most: int = 60) -> dict:
    """The vertical axis of a map: position 0 is at the top."""
    axis = _label_axis(labels, title, colors, most)
    axis["range"] = axis["range"][::-1]
    return axis


def column_axis(labels: Sequence[str], title: str, colors: Palette, *, most: int = 22) -> dict:
    """The horizontal axis of a map, above it, beside the first row; labels lie flat where they fit on a phone."""
    axis = _label_axis(labels, title, colors, most) | {"side": "top", "autotickangles": [0, -90]}
    lengths = [len(shorten(label)) for label in labels[:: -(-len(labels) // most)]]
    widest = max((first + second) / 2 for first, second in zip(lengths, [*lengths[1:], 0], strict=True))
    if widest * CHARACTER_WIDTH <= PHONE_MAP_WIDTH / len(lengths):
        axis["tickangle"] = 0
    return axis


def _label_axis(labels: Sequence[str], title: str, colors: Palette, most: int) -> dict:
    """An axis of whole positions 0, 1, 2, … with one label each.

    Positions are numbers, so equal labels stay apart and a label like "10" or "2024-01-01" is never read as a value.
    More than `most` labels are thinned evenly, beginning with the first.
    """
    step = -(-len(labels) // most)
    return {
        "type": "linear",
        "range": [-0.5, len(labels) - 0.5],
        "autorange": False,
        "fixedrange": True,
        "tickmode": "array",
        "tickvals": list(range(0, len(labels), step)),
        "ticktext": [literal(shorten(label)) for label in labels[::step]],
        "tickfont": {"size": TEXT_SIZE, "color": colors.ink},
        "title": {
            "text": literal(title) if title else "",
            "font": {"size": TEXT_SIZE, "color": colors.faint_ink},
            "standoff": 6,
        },
        "ticks": "",
        "ticklabelstandoff": 4,
        "showgrid": False,
        "zeroline": False,
        "showline": False,
        "automargin": True,
    }


def name_axis(names: Sequence[str], colors: Palette) -> dict:
    """A vertical axis with a name at each whole number, from the top down; long names break at a comma."""
    return {
        "range": [len(names) - 0.5, -0.5],
        "autorange": False,
        "fixedrange": True,
        "tickvals": list(range(len(names))),
        "ticktext": [literal(name).replace(", ", ",<br>") for name in names],
        "tickfont": {"size": TEXT_SIZE, "color": colors.ink},
        "gridcolor": colors.line,
        "zeroline": False,
        "ticks": "",
        "ticklabelstandoff": 6,
        "automargin": True,
    }


def number_axis(title: str, colors: Palette, **more) -> dict:
    """An axis of numbers that neither zooms nor pans; `more` is what is special about this one."""
    return {
        "type": "linear",
        "title": {
            "text": literal(title) if title else "",
            "font": {"size": TEXT_SIZE, "color": colors.faint_ink},
            "standoff": 6,
        },
        "gridcolor": colors.line,
        "zeroline": False,
        "ticks": "",
        "ticklabelstandoff": 4,
        "fixedrange": True,
        "automargin": True,
        **more,
    }


def legend_above(**more) -> dict:
    """Layout that names the lines of a chart above it."""
    return {
        "showlegend": True,
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "bgcolor": CLEAR, **more},
    }


def mark_at(position: float, text: str, colors: Palette) -> dict:
    """Layout with a dotted line from bottom to top, and what it means beside its foot, where the lines seldom are."""
    line = {"color": colors.faint_ink, "width": 1, "dash": "dot"}
    note = {"x": position, "y": 0.02, "yref": "paper", "yanchor": "bottom", "xanchor": "left", "xshift": 4}
    note |= {"text": literal(text), "showarrow": False, "font": {"size": TEXT_SIZE, "color": colors.faint_ink}}
    shape = {"type": "line", "x0": position, "x1": position, "yref": "paper", "y0": 0, "y1": 1, "line": line}
    return {"shapes": [shape], "annotations": [note]}


def band(x: np.ndarray, low: np.ndarray, high: np.ndarray, color: str) -> dict:
    """A trace between two lines of equal length: forth along `low`, back along `high`."""
    return {
        "type": "scatter",
        "x": np.concatenate([x, x[::-1]]),
        "y": np.concatenate([low, high[::-1]]),
        "fill": "toself",
        "fillcolor": color,
        "line": {"width": 0},
        "mode": "lines",
        "hoverinfo": "skip",
        "showlegend": False,
    }


def see_through(color: str, alpha: float) -> str:
    """A "#rrggbb" colour that lets the ground through."""
    red, green, blue = rgb(color)
    return f"rgba({red},{green},{blue},{alpha})"


def color_bar(colors: Palette, ticks: Sequence[float], words: FigureWords) -> dict:
    """A small colour bar below the map, where it costs no width."""
    return {
        "orientation": "h",
        "x": 0.5,
        "xanchor": "center",
        "y": 0,
        "yanchor": "top",
        "lenmode": "pixels",
        "len": 160,
        "thickness": 8,
        "outlinewidth": 0,
        "tickvals": list(ticks),
        "ticktext": [words.sign(f"{tick:g}") for tick in ticks],
        "tickfont": {"size": TEXT_SIZE, "color": colors.faint_ink},
        "ticks": "",
        "xpad": 0,
        "ypad": 8,
    }
