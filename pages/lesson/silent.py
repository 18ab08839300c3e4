"""Step 7: weights of 8 decoder heads loaded into other numbers of heads, without any error."""

import math
from dataclasses import dataclass

import streamlit as st

from attention.experiments.disturbed_memory import held_out_right, misload
from attention.inspection import decode_source
from attention.tasks import Tokens, get_task
from pages.lesson.bars import Bars
from pages.lesson.step import START, TASK, Step, make_beside, own_record, row_of
from pages.lesson.words import WITH_SILENT_LETTERS
from pages.shared.answer import output_text
from pages.shared.caching import made_once
from pages.shared.cards import draw_card
from pages.shared.models import ModelRecord, at_work
from pages.shared.table import Cell, draw_table
from pages.shared.texts import listed, percent
from pages.shared.turns import aside

HEADS = (16, 4, 32, 1)
NUM_WORDS = 200  # held-out ones that the share right is of


@dataclass(frozen=True)
class Loaded:
    """The same weights in a decoder of so many heads: which held-out words are right, and what a few words give."""

    heads: int
    right: tuple[bool, ...]
    answers: tuple[Tokens, ...]

    @property
    def share(self) -> float:
        return sum(self.right) / len(self.right)

    def kept(self, before: "Loaded") -> float:
        """Of the words that were right before, the share that still are; NaN where none was."""
        stay = [now for now, was in zip(self.right, before.right, strict=True) if was]
        return sum(stay) / len(stay) if stay else math.nan


@aside
@made_once()
def loaded(record: ModelRecord, heads: int) -> Loaded:
    """The model's weights in another number of decoder heads, or in its own."""
    task = get_task(record.task)
    with at_work(record) as model:
        other = model if heads == record.config.decoder.num_heads else misload(model, heads)
        right = held_out_right(other, task, task.held_out(NUM_WORDS))
        decoded = [decode_source(other, task, tuple(word)) for word in WITH_SILENT_LETTERS]
    return Loaded(heads, right, tuple(task.tgt_vocab.decode(each.answer) for each in decoded))


def all_loaded() -> tuple[Loaded, ...]:
    """Its own number of heads first."""
    return tuple(loaded(own_record(), heads) for heads in (START.dec_heads, *HEADS))


def still_right() -> tuple[str, list[int]]:
    """The word that stays right in most of the other head counts, and in which."""
    own, *others = all_loaded()
    task = get_task(TASK)
    found = {}
    for place, word in enumerate(WITH_SILENT_LETTERS):
        known = task.answers(tuple(word))
        if own.answers[place] in known:
            found[word] = [each.heads for each in others if each.answers[place] in known]
    return max(found.items(), key=lambda item: len(item[1]), default=(WITH_SILENT_LETTERS[0], []))


class Silent(Step):
    name, minutes = "silent", 5
    codes = ("all", "most", "few")

    def begin(self) -> None:
        make_beside(all_loaded)

    def right(self) -> set[str]:
        own, other, *_ = all_loaded()
        kept = other.kept(own)
        return {"all" if kept == 1 else "most" if kept >= 0.5 else "few"}

    def draw(self, theme: str, predicted: str | None) -> bool:
        word, _ = still_right()
        place, task = WITH_SILENT_LETTERS.index(word), get_task(TASK)
        found = {each.heads: each for each in all_loaded()}
        chosen = row_of("silent", self.text("do"), HEADS, str)
        for column, kind, heads in zip(st.columns(2), ("control", "changed"), (START.dec_heads, chosen), strict=True):
            with column:
                title = self.text("card", word=word, count=heads)
                draw_card(kind, title, output_text(task, found[heads].answers[place]))
        rows = [
            (
                str(each.heads),
                output_text(task, each.answers[place]),
                Cell(percent(each.share), "number"),
                Cell(percent(each.kept(found[START.dec_heads])), "number"),
            )
            for each in found.values()
        ]
        columns = (Cell(self.text(f"column_{name}", count=NUM_WORDS), "number") for name in ("right", "kept"))
        head = (self.text("column_heads"), word, *columns)
        draw_table(self.text("table"), head, rows, look="lesson", caption=False, current=list(found).index(chosen))
        return True

    def seen(self) -> str:
        own, *others = all_loaded()
        shares = listed(self.text("in_heads", share=percent(each.kept(own)), count=each.heads) for each in others)
        word, heads = still_right()
        example = self.text("still" if heads else "never", word=word, heads=tuple(map(str, heads)) or ("",))
        values = {"before": percent(own.share), "right": sum(own.right), "count": NUM_WORDS, "heads": own.heads}
        return f"{self.text('seen', shares=shares, **values)} {example}"

    def bars(self) -> tuple[Bars, ...]:
        found = all_loaded()
        names = tuple(str(each.heads) for each in found)
        return (
            Bars(
                self.text("bars", count=sum(found[0].right), heads=found[0].heads),
                tuple(each.kept(found[0]) for each in found),
                names,
            ),
        )

    def explore(self) -> tuple[str, dict[str, str]]:
        word, _ = still_right()
        return "anchors", {**START.put("text", word).to_address(), "text": word, "experiment": "misuse"}
