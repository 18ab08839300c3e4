"""Every table of the pages: real HTML, so that screen readers and phones can read it."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from pages.shared.texts import verbatim


class Html(str):
    """Markup that a page has written itself; every other text of a table is shown letter by letter."""


@dataclass(frozen=True)
class Cell:
    """What stands in a cell; `mark` is a class of a stylesheet, `below` a smaller second line.

    rows: how many rows it spans; in those below it stands None.
    """

    text: str
    mark: str = ""
    below: str = ""
    rows: int = 1


TableRow = Sequence[str | Cell | None]


def draw_table(
    title: str,
    head: TableRow,
    rows: Sequence[TableRow],
    *,
    look: str = "figures",
    caption: bool = True,
    cards: bool = False,
    current: int | None = None,
) -> None:
    """The first column names the row, and stays where the table is wider than the screen.

    look: a class of a stylesheet.  caption: write the title above the table; else it is only said to screen readers.
    cards: a stylesheet makes a card of each row on a narrow screen, with the head's texts as `data-label`.
    current: a row to stress, counted from 0.
    """
    # Where a stylesheet makes something else of a table, only its roles still say that it is one.
    role = _roles if cards else lambda name: ""
    names = [cell.text if isinstance(cell, Cell) else cell for cell in head]
    top = "".join(
        _cell("th" if name else "td", cell, role("columnheader") + _scope("col", name))
        for cell, name in zip(head, names, strict=True)
    )
    body = ""
    for number, row in enumerate(rows):
        cells = ""
        for i, cell in enumerate(row):
            if cell is None:
                continue
            label = f' data-label="{verbatim(names[i])}"' if cards else ""
            more = role("cell") + label if i else role("rowheader") + _scope("row", "row")
            cells += _cell("td" if i else "th", cell, more)
        here = ' class="current" aria-current="step"' if number == current else ""
        body += f"<tr{role('row')}{here}>{cells}</tr>"
    name = f' aria-label="{verbatim(title)}"' if title else ""
    above = f"<caption>{verbatim(title)}</caption>" if caption and title else ""
    # It may scroll sideways on a phone, so the keyboard has to reach it.
    st.html(
        f'<div class="table {look}" tabindex="0" role="group"{name}>'
        f"<table{role('table')}{'' if above else name}>{above}"
        f"<thead{role('rowgroup')}><tr{role('row')}>{top}</tr></thead>"
        f"<tbody{role('rowgroup')}>{body}</tbody></table></div>"
    )


def _roles(name: str) -> str:
    return f' role="{name}"'


def _scope(scope: str, name: str) -> str:
    """A cell without a name is no heading."""
    return f' scope="{scope}"' if name else ""


def _cell(tag: str, cell: str | Cell, more: str) -> str:
    if not isinstance(cell, Cell):
        cell = Cell(cell)
    more += f' class="{cell.mark}"' if cell.mark else ""
    more += f' rowspan="{cell.rows}"' if cell.rows > 1 else ""
    below = f"<small>{_written(cell.below)}</small>" if cell.below else ""
    return f"<{tag}{more}>{_written(cell.text)}{below}</{tag}>"


def _written(text: str) -> str:
    return text if isinstance(text, Html) else verbatim(text)
