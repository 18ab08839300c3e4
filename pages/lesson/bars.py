"""The small pictures of the sheet: bars with their names and values, as an image that is part of the page."""

from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass

from attention.figures.palette import LIGHT
from pages.shared.texts import percent, verbatim

TALLEST, LINE = 60, 16  # pixels: the tallest bar, and a line of words above or below
THIN, WIDE, LETTER = 8, 22, 8  # the width of a bar without words and with them, and of one letter
LABELLED = 16  # bars; more are drawn thin, with no values and names of their own


@dataclass(frozen=True)
class Bars:
    """One picture.

    caption: what the bars are.  names: of each bar; none for a row that the caption explains.
    show: a value in words.
    """

    caption: str
    values: tuple[float, ...]
    names: tuple[str, ...] = ()
    show: Callable[[float], str] = percent


def picture(bars: Bars) -> str:
    """As HTML: the image, which is never wider than the page, and the caption under it."""
    image = b64encode(_svg(bars).encode()).decode()
    caption = verbatim(bars.caption)
    return (
        f'<figure><img alt="{caption}" src="data:image/svg+xml;base64,{image}"><figcaption>{caption}</figcaption>'
        "</figure>"
    )


def _svg(bars: Bars) -> str:
    """Bars below 0 hang from the line that the others stand on."""
    with_words = len(bars.values) <= LABELLED
    shown = [bars.show(value) if with_words else "" for value in bars.values]
    names = bars.names if with_words and bars.names else ("",) * len(bars.values)
    width = max(WIDE, LETTER * max(map(len, (*shown, *names)), default=0)) if with_words else THIN
    up, down = max(0.0, *bars.values), -min(0.0, *bars.values)
    scale = TALLEST / ((up + down) or 1.0)
    zero = LINE + scale * up
    bottom = zero + scale * down
    parts = []
    for place, (value, said, name) in enumerate(zip(bars.values, shown, names, strict=True)):
        tall, middle = scale * abs(value), width * (place + 0.5)
        top = zero - tall if value > 0 else zero
        parts.append(
            f'<rect x="{width * place + 1}" y="{top:.1f}" width="{width - 2}" height="{tall:.1f}" fill="{LIGHT.blue}"/>'
            + _words(said, middle, min(top, zero) - 4)
            + _words(name, middle, bottom + LINE - 4)
        )
    size = width * len(bars.values), bottom + LINE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" height="{size[1]:.0f}" '
        f'viewBox="0 0 {size[0]} {size[1]:.0f}" font-family="system-ui,sans-serif" font-size="12" text-anchor="middle">'
        f'<path d="M0 {zero:.1f}H{size[0]}" stroke="{LIGHT.faint_ink}"/>{"".join(parts)}</svg>'
    )


def _words(text: str, x: float, y: float) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}">{verbatim(text)}</text>' if text else ""
