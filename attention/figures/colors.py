"""Colour scales for maps of numbers, one pair for a light page and one for a dark page.

A scale is a few anchor colours, evenly spaced from its low end to its high end. Between anchors it is
interpolated in OKLab, where equal steps look equally large, so that the eye reads the number and not the mixture.

`SEQUENTIAL_*` is for 0…1: 0 is (nearly) the page background, and brightness changes in one direction only, so the
scale survives colour blindness and a black-and-white print. `DIVERGING_*` is for −1…1: 0 is the background,
orange is negative and blue is positive, the pair that all common kinds of colour blindness keep apart.

The head grid and every plotly figure take their colours from here:

    table(SEQUENTIAL_LIGHT)                -> (256, 3) uint8, for drawing pixels
    plotly_colorscale(SEQUENTIAL_LIGHT)    -> [[0.0, "rgb(…)"], …, [1.0, "rgb(…)"]]
    text_color(SEQUENTIAL_LIGHT, 0.8)      -> "#ffffff" or "#000000", whichever is easier to read on that cell
"""

from functools import cache

import numpy as np

Scale = tuple[str, ...]

SEQUENTIAL_LIGHT: Scale = ("#ffffff", "#d8e8f8", "#9cc8ee", "#5a9fdb", "#2f73bd", "#1d4a92", "#0c2461")
SEQUENTIAL_DARK: Scale = ("#0f141d", "#173057", "#1f5390", "#2a7fba", "#4eb0cf", "#9bdcd7", "#f6fbd0")
DIVERGING_LIGHT: Scale = ("#7f3205", "#c5661d", "#f2b37c", "#ffffff", "#94c2ec", "#2f73bd", "#0c2461")
DIVERGING_DARK: Scale = ("#ffd9a8", "#e58a3c", "#7d4519", "#0f141d", "#1d4f86", "#4fa3dc", "#d3ecff")

# Black and white: on any ground, one of the two has a contrast above 4.5, what WCAG AA asks of small text.
DARK_INK, LIGHT_INK = "#000000", "#ffffff"
TABLE_SIZE = 256


def sequential(dark: bool) -> Scale:
    """The 0…1 scale for a dark or a light page."""
    return SEQUENTIAL_DARK if dark else SEQUENTIAL_LIGHT


def diverging(dark: bool) -> Scale:
    """The −1…1 scale for a dark or a light page."""
    return DIVERGING_DARK if dark else DIVERGING_LIGHT


@cache
def _cached_table(scale: Scale, size: int) -> np.ndarray:
    anchors = _linear_to_oklab(_srgb_to_linear(np.array([_rgb(color) for color in scale]) / 255))
    at = np.linspace(0, len(scale) - 1, size)
    lab = np.stack([np.interp(at, np.arange(len(scale)), anchors[:, i]) for i in range(3)], axis=1)  # (size, 3)
    colors = np.rint(255 * _linear_to_srgb(_oklab_to_linear(lab))).astype(np.uint8)
    colors.setflags(write=False)  # the cache hands the same array to everybody
    return colors


def table(scale: Scale, size: int = TABLE_SIZE) -> np.ndarray:
    """The scale as `size` colours, (size, 3) uint8 red-green-blue, read-only; entry 0 is the low end."""
    if size < 2:
        raise ValueError(f"a colour table needs at least 2 entries, got {size}")
    return _cached_table(tuple(scale), size)


def plotly_colorscale(scale: Scale, stops: int = 49) -> list[list]:
    """The scale for plotly's `colorscale=`; plotly mixes in RGB, so it gets enough stops to stay on our curve."""
    colors = table(scale, stops)
    return [[i / (stops - 1), "rgb({},{},{})".format(*rgb)] for i, rgb in enumerate(colors.tolist())]


def text_color(scale: Scale, position: float) -> str:
    """The ink with the higher contrast on the colour at `position` (0 = low end, 1 = high end; clipped)."""
    colors = table(scale)
    ground = colors[int(np.clip(round(position * (len(colors) - 1)), 0, len(colors) - 1))]
    return max((DARK_INK, LIGHT_INK), key=lambda ink: contrast(_rgb(ink), ground))


def contrast(first, second) -> float:
    """WCAG 2 contrast ratio of two (red, green, blue) colours of 0…255, from 1 (equal) to 21 (black on white)."""
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def luminance(color) -> float:
    """WCAG 2 relative luminance of a (red, green, blue) colour of 0…255: 0 for black, 1 for white."""
    return float(_srgb_to_linear(np.asarray(color, dtype=float) / 255) @ np.array([0.2126, 0.7152, 0.0722]))


def _rgb(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


# sRGB and OKLab (Björn Ottosson, "A perceptual color space for image processing", 2020).

_TO_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def _srgb_to_linear(rgb: np.ndarray) -> np.ndarray:
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def _linear_to_srgb(rgb: np.ndarray) -> np.ndarray:
    rgb = np.clip(rgb, 0, 1)
    return np.where(rgb <= 0.0031308, 12.92 * rgb, 1.055 * rgb ** (1 / 2.4) - 0.055)


def _linear_to_oklab(rgb: np.ndarray) -> np.ndarray:
    return np.cbrt(rgb @ _TO_LMS.T) @ _TO_LAB.T


def _oklab_to_linear(lab: np.ndarray) -> np.ndarray:
    return (lab @ np.linalg.inv(_TO_LAB).T) ** 3 @ np.linalg.inv(_TO_LMS).T
