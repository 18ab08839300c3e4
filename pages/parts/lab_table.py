"""A table as the page "Redundancy" draws them all: real HTML, so that screen readers and phones can read it."""

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from pages.parts.words import verbatim


class Cell(NamedTuple):
    """What stands in a cell; `mark` is a class of lab.html, `below` a smaller second line."""

    text: str
    mark: str = ""
    below: str = ""


Row = Sequence[str | Cell]


def draw_table(caption: str, head: Sequence[str], rows: Sequence[Row], chosen: int | None = None) -> None:
    """The first column names the row; `chosen` is a column to stress."""
    top = "".join(
        f'<th scope="col"{_class("chosen" if i == chosen else "")}>{verbatim(text)}</th>' if text else "<td></td>"
        for i, text in enumerate(head)
    )
    body = "".join(f"<tr>{_cells(row, chosen)}</tr>" for row in rows)
    title = f"<caption>{verbatim(caption)}</caption>" if caption else ""
    # It may scroll sideways on a phone, so the keyboard has to reach it.
    st.html(
        f'<div class="lab" tabindex="0" role="group" aria-label="{verbatim(caption)}">'
        f"<table>{title}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cells(row: Row, chosen: int | None) -> str:
    cells = [cell if isinstance(cell, Cell) else Cell(cell) for cell in row]
    parts = []
    for i, cell in enumerate(cells):
        tag, scope = ("td", "") if i else ("th", ' scope="row"')
        below = f'<span class="symbol">{verbatim(cell.below)}</span>' if cell.below else ""
        marks = " ".join(filter(None, (cell.mark, "chosen" if i == chosen else "")))
        parts.append(f"<{tag}{scope}{_class(marks)}>{verbatim(cell.text)}{below}</{tag}>")
    return "".join(parts)


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""
