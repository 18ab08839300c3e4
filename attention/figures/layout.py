"""What all figures share: ink, type sizes, margins, and axes that carry labels at whole positions."""

from collections.abc import Sequence
from contextlib import suppress

import plotly.graph_objects as go

from attention.figures.text import literal, shorten

CLEAR = "rgba(0,0,0,0)"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif"
TEXT_SIZE, TITLE_SIZE = 13, 15  # px; TEXT_SIZE is also the largest size of the numbers in cells
PHONE_MAP_WIDTH, CHARACTER_WIDTH = 300, 6.8  # px; what labels leave of 390, and an average letter

_INK = {"light": "#1b2330", "dark": "#e7ebf2"}
_FAINT_INK = {"light": "#5a6170", "dark": "#a6adba"}
_PANEL = {"light": "#ffffff", "dark": "#1a212d"}
_LINE = {"light": "rgba(90,97,112,0.25)", "dark": "rgba(166,173,186,0.25)"}
GROUND = "rgba(128,134,145,0.14)"  # behind the cells: shows which are blank, in both themes


def is_dark(theme: str) -> bool:
    """Whether the theme is the dark one; ValueError for a theme that is neither."""
    if theme not in _INK:
        raise ValueError(f"theme is 'light' or 'dark', got {theme!r}")
    return theme == "dark"


def ink(theme: str, *, faint: bool = False) -> str:
    """The colour of text on the page itself."""
    return (_FAINT_INK if faint else _INK)[theme]


def line_color(theme: str) -> str:
    """The colour of grid lines."""
    return _LINE[theme]


def base_layout(theme: str, *, title: str | None, height: int) -> dict:
    """Layout without axes: transparent, small margins, no dragging (a finger has to be able to scroll the page)."""
    layout = {
        # A template of one entry: without any, plotly fills in its own, 7 kB of colours that no figure here uses.
        "template": {"layout": {"hovermode": "closest"}},
        "paper_bgcolor": CLEAR,
        "plot_bgcolor": CLEAR,
        "font": {"family": FONT, "size": TEXT_SIZE, "color": ink(theme)},
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
        "height": height,
        "dragmode": False,
        "showlegend": False,
        "hoverlabel": {
            "bgcolor": _PANEL[theme],
            "bordercolor": ink(theme, faint=True),
            "font": {"family": FONT, "size": TEXT_SIZE, "color": ink(theme)},
            "align": "left",
        },
    }
    if title:
        layout["title"] = {
            "text": literal(title),
            "font": {"size": TITLE_SIZE, "color": ink(theme)},
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


def figure(traces: list[dict], layout: dict) -> go.Figure:
    """The figure made of these parts.

    plotly's check of every property takes three quarters of the time it needs for a figure, and these dictionaries
    are ours, not a visitor's. The tests run the check on each kind of figure instead.
    """
    # plotly takes pandas as it finds it among the loaded modules, also half loaded by another thread. Here rather than
    # at the top: charts come after the grid of heads, which need not wait for it.
    with suppress(ImportError):
        import pandas  # noqa: F401
    return go.Figure({"data": traces, "layout": layout}, _validate=False)


def row_axis(labels: Sequence[str], title: str, theme: str, *, most: int = 60) -> dict:
    """The vertical axis of a map: position 0 is at the top."""
    axis = _label_axis(labels, title, theme, most)
    axis["range"] = axis["range"][::-1]
    return axis


def column_axis(labels: Sequence[str], title: str, theme: str, *, most: int = 22) -> dict:
    """The horizontal axis of a map, above it, beside the first row; labels lie flat where they fit on a phone."""
    axis = _label_axis(labels, title, theme, most) | {"side": "top", "autotickangles": [0, -90]}
    lengths = [len(shorten(label)) for label in labels[:: -(-len(labels) // most)]]
    widest = max((first + second) / 2 for first, second in zip(lengths, [*lengths[1:], 0], strict=True))
    if widest * CHARACTER_WIDTH <= PHONE_MAP_WIDTH / len(lengths):
        axis["tickangle"] = 0
    return axis


def _label_axis(labels: Sequence[str], title: str, theme: str, most: int) -> dict:
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
        "tickfont": {"size": TEXT_SIZE, "color": ink(theme)},
        "title": {
            "text": literal(title),
            "font": {"size": TEXT_SIZE, "color": ink(theme, faint=True)},
            "standoff": 6,
        },
        "ticks": "",
        "ticklabelstandoff": 4,
        "showgrid": False,
        "zeroline": False,
        "showline": False,
        "automargin": True,
    }


def number_axis(title: str, theme: str, **more) -> dict:
    """An axis of numbers that neither zooms nor pans; `more` is what is special about this one."""
    return {
        "type": "linear",
        "title": {"text": literal(title), "font": {"size": TEXT_SIZE, "color": ink(theme, faint=True)}, "standoff": 6},
        "gridcolor": line_color(theme),
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


def mark_at(position: float, text: str, theme: str) -> dict:
    """Layout with a dotted line from bottom to top, and what it means beside its foot, where the lines seldom are."""
    line = {"color": ink(theme, faint=True), "width": 1, "dash": "dot"}
    note = {"x": position, "y": 0.02, "yref": "paper", "yanchor": "bottom", "xanchor": "left", "xshift": 4}
    note |= {"text": literal(text), "showarrow": False, "font": {"size": TEXT_SIZE, "color": ink(theme, faint=True)}}
    shape = {"type": "line", "x0": position, "x1": position, "yref": "paper", "y0": 0, "y1": 1, "line": line}
    return {"shapes": [shape], "annotations": [note]}


def see_through(color: str, alpha: float) -> str:
    """A "#rrggbb" colour that lets the ground through."""
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha})"


def color_bar(theme: str, ticks: Sequence[float]) -> dict:
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
        "ticktext": [f"{tick:g}".replace("-", "−") for tick in ticks],
        "tickfont": {"size": 12, "color": ink(theme, faint=True)},
        "ticks": "",
        "xpad": 0,
        "ypad": 8,
    }
