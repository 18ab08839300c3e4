"""Colour scales for maps of numbers.

A scale (palette.py) is a few anchor colours, evenly spaced from its low end to its high end. Between anchors it is
interpolated in OKLab, where equal steps look equally large, so that the eye reads the number and not the mixture.

    table(LIGHT.sequential)                -> (256, 3) uint8, for drawing pixels
    plotly_colorscale(LIGHT.sequential)    -> [[0.0, "rgb(…)"], …, [1.0, "rgb(…)"]]
    text_color(LIGHT.sequential, 0.8)      -> white or black, whichever is easier to read on that cell
"""

from functools import cache

import numpy as np

from attention.figures.palette import DARK_INK, LIGHT_INK, Scale

TABLE_SIZE = 256


@cache
def _cached_table(scale: Scale, size: int) -> np.ndarray:
    anchors = _linear_to_oklab(_srgb_to_linear(np.array([rgb(color) for color in scale]) / 255))
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
    return max((DARK_INK, LIGHT_INK), key=lambda ink: contrast(rgb(ink), ground))


def contrast(first, second) -> float:
    """WCAG 2 contrast ratio of two (red, green, blue) colours of 0…255, from 1 (equal) to 21 (black on white)."""
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def luminance(color) -> float:
    """WCAG 2 relative luminance of a (red, green, blue) colour of 0…255: 0 for black, 1 for white."""
    return float(_srgb_to_linear(np.asarray(color, dtype=float) / 255) @ np.array([0.2126, 0.7152, 0.0722]))


def rgb(color: str) -> tuple[int, int, int]:
    """A "#rrggbb" colour as three numbers of 0…255."""
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
