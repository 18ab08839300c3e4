"""Step 2: which heads look at the letters of one sound."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from attention.inspection import LayerView
from attention.metrics import answer_diagonal
from attention.tasks import get_task
from pages.lesson.bars import Bars
from pages.lesson.heads import draw_heads
from pages.lesson.step import TASK, Step, draw_not_seen, settings_of, shown_record
from pages.lesson.words import WITH_LONG_VOWELS
from pages.shared.caching import made_once
from pages.shared.models import ModelRecord, word_view
from pages.shared.texts import listed
from pages.shared.turns import aside


@dataclass(frozen=True)
class Looked:
    """The heads of the last cross-attention while one sound is generated.

    row: of the sound, and columns: of the letters from those that make it up to the next sound's; both from 0.
    heads: whose largest weight of that row is on these letters.
    """

    word: str
    right: bool
    row: int
    columns: tuple[int, ...]
    heads: tuple[int, ...]
    num_heads: int
    diagonal: int

    @property
    def some(self) -> bool:
        """Whether some heads look there and some do not."""
        return 0 < len(self.heads) < self.num_heads


@made_once()
def looked_at(record: ModelRecord, word: str) -> Looked | None:
    """The sound of a word that most letters go with; None where it is not known which letters make which sound."""
    task, source = get_task(record.task), tuple(word)
    view = word_view(record, source)
    gold = task.gold_alignment(source, view.answer) if view.ended else None
    if not gold or not all(gold):
        return None
    begins = [min(columns) for columns in gold] + [len(word)]
    spans = [tuple(range(begin, max(end, begin + 1))) for begin, end in pairwise(begins)]
    row = max(range(len(spans)), key=lambda number: (len(spans[number]), -number))
    layer = view.layers["cross"][-1]
    strongest = layer.weights[:, row, : layer.num_source].argmax(-1)  # (heads,)
    heads = tuple(int(head) for head in np.flatnonzero(np.isin(strongest, spans[row])))
    expected = answer_diagonal(len(layer.rows), layer.num_source)
    right = view.answer in task.answers(source)
    return Looked(word, right, row, spans[row], heads, len(strongest), round(float(expected[row])))


@aside
@made_once()
def best_looked(record: ModelRecord) -> Looked:
    """The first word that is right and at whose sound some heads look and some do not."""
    found = [each for word in WITH_LONG_VOWELS if (each := looked_at(record, word)) is not None]
    if not found:  # a model without skill: any word, its first sound, its first letter
        view = word_view(record, tuple(WITH_LONG_VOWELS[0]))
        num_heads = len(view.layers["cross"][-1].weights)
        return Looked(WITH_LONG_VOWELS[0], False, 0, (0,), (), num_heads, 0)
    return next((each for each in found if each.right and each.some), found[0])


def shows(record: ModelRecord) -> bool:
    best = best_looked(record)
    return best.right and best.some


class Look(Step):
    name, minutes = "look", 5
    codes = ("none", "few", "many", "all")

    @property
    def found(self) -> Looked:
        return best_looked(shown_record(self.name))

    @property
    def layer(self) -> LayerView:
        return word_view(shown_record(self.name), tuple(self.found.word)).layers["cross"][-1]

    def _letters(self) -> str:
        return listed(self.found.word[column] for column in self.found.columns)

    def question(self) -> str:
        found, layers = self.found, shown_record(self.name).config.decoder.num_layers
        values = {"word": found.word, "sound": self.layer.rows[found.row], "letters": self._letters()}
        return self.text("question", heads=found.num_heads, layer=layers, **values)

    def right(self) -> set[str]:
        count, all_of_them = len(self.found.heads), self.found.num_heads
        if count in (0, all_of_them):
            return {"all" if count else "none"}
        return {"few" if 2 * count < all_of_them else "many"}

    def draw(self, theme: str, predicted: str | None) -> bool:
        record, found, layer = shown_record(self.name), self.found, self.layer
        if not shows(record):
            draw_not_seen(self, shows)
        letters = layer.weights[:, found.row, list(found.columns)].sum(-1)  # (heads,)
        number = record.config.decoder.num_layers - 1
        draw_heads(layer, number, self.text("on_letters"), letters, key="lesson_heads")
        return True

    def seen(self) -> str:
        found = self.found
        which = listed(str(head + 1) for head in found.heads) or self.text("no_head")
        source = get_task(TASK).src_vocab.decode(get_task(TASK).encode_source(tuple(found.word)))
        values = {"count": len(found.heads), "heads": found.num_heads, "which": which, "letters": self._letters()}
        return self.text("seen", sound=self.layer.rows[found.row], diagonal=source[found.diagonal], **values)

    def bars(self) -> tuple[Bars, ...]:
        found = self.found
        values = self.layer.weights[:, found.row, list(found.columns)].sum(-1).tolist()
        caption = self.text("bars", sound=self.layer.rows[found.row], letters=self._letters())
        return (Bars(caption, tuple(values), tuple(str(head + 1) for head in range(len(values)))),)

    def explore(self) -> tuple[str, dict[str, str]]:
        head = self.found.heads[0] + 1 if self.found.heads else 1
        settings = settings_of(shown_record(self.name)).put("text", self.found.word).put("head", head)
        return "", settings.to_address()
