"""What a student hands in: a sheet (HTML without script) and a table (CSV), both from what the session keeps.

What was typed is input: on the sheet it is escaped, and in the table a cell that a spreadsheet would take for a formula
begins with an apostrophe.
"""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from pages.lesson.bars import Bars, picture
from pages.shared.texts import label, language_folder, verbatim

FORMULA = ("=", "+", "-", "−", "@", "\t", "\r")
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
LOOK = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}"
    "section{break-inside:avoid}figure{margin:1rem 0}img{max-width:100%;height:auto}figcaption{font-size:.9rem}"
)


@dataclass(frozen=True)
class Handed:
    """One step of the sheet: its title, question and choice in words, the sentence, a link and pictures."""

    title: str
    question: str
    choice: str
    sentence: str
    link: str
    bars: tuple[Bars, ...]


def sheet(name: str, steps: Sequence[Handed]) -> str:
    """A page that needs nothing from anywhere, to be opened, printed or sent."""
    title = label("sheet", "title")
    parts = [
        f"<section><h2>{verbatim(step.title)}</h2><p>{verbatim(step.question)}</p>"
        f"<p><b>{verbatim(label('sheet', 'choice'))}</b> {verbatim(step.choice)}</p>"
        f"<p><b>{verbatim(label('sheet', 'sentence'))}</b> {verbatim(step.sentence or label('sheet', 'nothing'))}</p>"
        f"{''.join(map(picture, step.bars))}"
        f'<p><a href="{verbatim(step.link)}">{verbatim(label("sheet", "link"))}</a></p></section>'
        for step in steps
    ]
    return (
        f'<!doctype html><html lang="{verbatim(language_folder().name)}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"><title>{verbatim(title)}</title>'
        f"<style>{LOOK}</style></head><body><h1>{verbatim(title)}</h1>"
        f"<p>{verbatim(label('sheet', 'name'))} {verbatim(name)}</p>{''.join(parts)}</body></html>"
    )


def table(name: str, steps: Sequence[Handed]) -> str:
    """A row for each step."""
    file = io.StringIO()
    rows = csv.writer(file)
    rows.writerow([label("sheet", f"column_{column}") for column in ("name", "step", "choice", "sentence")])
    for step in steps:
        rows.writerow([_cell(text) for text in (name, step.title, step.choice, step.sentence)])
    return file.getvalue()


def _cell(text: str) -> str:
    return f"'{text}" if text.startswith(FORMULA) else text
