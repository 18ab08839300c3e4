"""Step 1: one column of the encoder's memory after the other is hidden from the decoder."""

from dataclasses import dataclass

import streamlit as st

from attention.config import END
from attention.experiments.disturbed_memory import hidden_one_by_one
from attention.tasks import Tokens, get_task
from pages.lesson.bars import Bars
from pages.lesson.step import TASK, Step, draw_not_seen, row_of, settings_of, shown_record
from pages.lesson.words import WITH_SILENT_LETTERS
from pages.shared.answer import output_text
from pages.shared.caching import made_once
from pages.shared.cards import draw_card
from pages.shared.models import ModelRecord, at_work, decoding_of
from pages.shared.table import Cell, draw_table
from pages.shared.texts import listed
from pages.shared.turns import aside

WORD_END = "‹/s›"


@dataclass(frozen=True)
class Hidden:
    """A word, its answer, and the answers with one column hidden, the end token's last."""

    word: str
    answer: Tokens
    right: bool
    without: tuple[Tokens, ...]
    ended: tuple[bool, ...]

    @property
    def free(self) -> tuple[int, ...]:
        """Letters that can be hidden without another answer."""
        return tuple(place for place in range(len(self.word)) if self.without[place] == self.answer)

    @property
    def changed(self) -> tuple[int, ...]:
        return tuple(place for place in range(len(self.word)) if place not in self.free)

    @property
    def goes_on(self) -> bool:
        """Whether it generates more without the end token's column."""
        return len(self.without[-1]) > len(self.answer)

    @property
    def effects(self) -> int:
        """How many of the three effects it shows."""
        return bool(self.free) + bool(self.changed) + self.goes_on


@made_once()
def hidden_in(record: ModelRecord, word: str) -> Hidden:
    """One word with one column after another hidden."""
    task, source = get_task(record.task), tuple(word)
    answer = task.tgt_vocab.decode(decoding_of(record, source).answer)
    with at_work(record) as model:
        found = hidden_one_by_one(model, task, source)
    without = tuple(task.tgt_vocab.decode([token for token in ids if token != END]) for ids in found)
    return Hidden(word, answer, answer in task.answers(source), without, tuple(END in ids for ids in found))


@aside
@made_once()
def best_hidden(record: ModelRecord) -> Hidden:
    """The first word that is right and shows all three effects, or most of them."""
    found = []
    for word in WITH_SILENT_LETTERS:
        found.append(hidden_in(record, word))
        if found[-1].right and found[-1].effects == 3:
            return found[-1]
    return max(found, key=lambda each: (each.right, each.effects))


def shows(record: ModelRecord) -> bool:
    """Whether there is a word that is right and shows all three effects."""
    best = best_hidden(record)
    return best.right and best.effects == 3


class Hide(Step):
    name, minutes = "hide", 3

    @property
    def found(self) -> Hidden:
        return best_hidden(shown_record(self.name))

    def question(self) -> str:
        answer = output_text(get_task(TASK), self.found.answer)
        return self.text("question", word=self.found.word, answer=answer)

    def choices(self) -> dict[str, str]:
        return {str(place + 1): f"{letter} {place + 1}" for place, letter in enumerate(self.found.word)}

    def right(self) -> set[str]:
        return {str(place + 1) for place in self.found.free}

    def draw(self, theme: str, predicted: str | None) -> bool:
        record, found, task = shown_record(self.name), self.found, get_task(TASK)
        if not shows(record):
            draw_not_seen(self, shows)
        places = tuple(range(1, len(found.word) + 2))
        first = int(predicted) if predicted else 1
        chosen = row_of(f"hide_{found.word}", self.text("do"), places, lambda place: _letter(found, place), first)
        left, right = st.columns(2)
        with left:
            draw_card("control", self.text("control"), output_text(task, found.answer))
        with right:
            title = self.text("hidden", letter=_letter(found, chosen))
            draw_card("changed", title, output_text(task, found.without[chosen - 1]))
        rows = [
            (
                _letter(found, place),
                output_text(task, output) + ("" if ended else " …"),
                Cell(self.text("same" if output == found.answer else "other")),
            )
            for place, output, ended in zip(places, found.without, found.ended, strict=True)
        ]
        head = [self.text(column) for column in ("column_hidden", "column_answer", "column_effect")]
        draw_table(self.text("table"), head, rows, look="lesson", caption=False)
        return True

    def seen(self) -> str:
        found, task = self.found, get_task(TASK)
        letters = {name: self._letters(found, getattr(found, name)) for name in ("free", "changed")}
        end = self.text("goes_on" if found.goes_on else "stops", answer=output_text(task, found.without[-1]))
        return self.text("seen", end=end, **letters)

    def _letters(self, found: Hidden, places: tuple[int, ...]) -> str:
        return listed(_letter(found, place + 1) for place in places) or self.text("none")

    def bars(self) -> tuple[Bars, ...]:
        places = range(len(self.found.word))
        values = tuple(float(place in self.found.changed) for place in places)
        names = tuple(_letter(self.found, place + 1) for place in places)
        return (Bars(self.text("bars"), values, names, lambda value: ""),)

    def explore(self) -> tuple[str, dict[str, str]]:
        address = settings_of(shown_record(self.name)).put("text", self.found.word).to_address()
        hidden = "-".join(str(place + 1) for place in self.found.free[:1]) or "1"
        return "anchors", {**address, "text": self.found.word, "experiment": "hidden", "hidden": hidden}


def _letter(found: Hidden, place: int) -> str:
    """A column's letter and number, counted from 1; the end token comes last."""
    return f"{found.word[place - 1]} {place}" if place <= len(found.word) else WORD_END
