"""Step 3: the encoder head that looks one letter ahead is taken away."""

from dataclasses import dataclass
from functools import partial

from attention.ablation.silence import ZERO
from attention.config import ATTENTION_KINDS
from attention.inspection.heads import Head
from attention.inspection.per_head import head_figures
from attention.metrics.patterns import NAMING_SHARE
from attention.tasks import Tokens, get_task
from pages.lesson.bars import Bars
from pages.lesson.step import TASK, Step, draw_not_seen, make_beside, own_record, settings_of, shown_record
from pages.lesson.words import BY_THE_NEXT_LETTER, SOFT_OR_WITH_H, answers
from pages.shared.answer import output_text
from pages.shared.caching import made_once
from pages.shared.heads_away import head_name, scored
from pages.shared.measured import collected
from pages.shared.models import NUM_WORDS, ModelRecord, held_out
from pages.shared.table import Cell, draw_table
from pages.shared.texts import number, percent
from pages.shared.turns import aside

NUM_TRIED = 300  # held-out words, of which those with such letters are tried
IN_TABLE, CHANGED_IN_TABLE = 9, 6  # words


@aside
@made_once()
def words() -> tuple[str, ...]:
    """Words with a letter whose sound depends on the letter after it: known ones, and such of the test words."""
    tried = ("".join(example.source) for example in get_task(TASK).held_out(NUM_TRIED))
    return tuple(dict.fromkeys((*BY_THE_NEXT_LETTER, *filter(SOFT_OR_WITH_H.search, tried))))


@dataclass(frozen=True)
class Ahead:
    """The encoder head whose strongest look most often falls on the next letter, and what changes without it.

    share: of the letters of held-out words at which it does.  before, after: answers, word by word.
    sounds_before, sounds_after: the share of sounds of held-out words that are right.
    """

    head: Head
    share: float
    before: tuple[Tokens, ...]
    after: tuple[Tokens, ...]
    sounds_before: float
    sounds_after: float

    @property
    def changed(self) -> int:
        return sum(one != other for one, other in zip(self.before, self.after, strict=True))

    @property
    def shows(self) -> bool:
        """Whether a head looks ahead, without which some words change and others do not, and fewer sounds are right."""
        some = 0 < self.changed < len(self.before)
        return self.share >= NAMING_SHARE and some and self.sounds_after < self.sounds_before


@aside
@made_once()
def without_look_ahead(record: ModelRecord) -> Ahead:
    """The head of a model, and both rounds of answers."""
    shares = {
        Head("encoder", layer, number): pattern.shares["next"]
        for layer, heads in enumerate(collected(record).encoder)
        for number, pattern in enumerate(head_figures(heads, held_out(record.task)).patterns)
    }
    head = max(shares, key=lambda each: shares[each])
    rest = record.without_heads((head,), ZERO)
    rounds = (answers(one, words()) for one in (record, rest))
    sounds = (scored(one).token_accuracy for one in (record, rest))
    return Ahead(head, shares[head], *rounds, *sounds)


class LookAhead(Step):
    name, minutes = "ahead", 6
    codes = ("none", "some", "all")

    def begin(self) -> None:
        make_beside(without_look_ahead, own_record())

    @property
    def found(self) -> Ahead:
        return without_look_ahead(shown_record(self.name))

    def question(self) -> str:
        return self.text("question", head=head_name(self.found.head), share=percent(self.found.share))

    def right(self) -> set[str]:
        found = self.found
        return {"none" if not found.changed else "all" if found.changed == len(found.before) else "some"}

    def draw(self, theme: str, predicted: str | None) -> bool:
        found, task = self.found, get_task(TASK)
        if not found.shows:
            draw_not_seen(self, lambda record: without_look_ahead(record).shows)
        triples = list(zip(words(), found.before, found.after, strict=True))
        triples.sort(key=lambda triple: triple[1] not in task.answers(tuple(triple[0])))  # first those that are right
        changed = [triple for triple in triples if triple[1] != triple[2]][:CHANGED_IN_TABLE]
        same = [triple for triple in triples if triple[1] == triple[2]][: IN_TABLE - len(changed)]
        rows = [
            (word, output_text(task, before), Cell(output_text(task, after), "bad" if before != after else ""))
            for word, before, after in (*changed, *same)
        ]
        head = [self.text(column) for column in ("column_word", "column_with", "column_without")]
        draw_table(self.text("table"), head, rows, look="lesson")
        return True

    def seen(self) -> str:
        found = self.found
        counts = {"changed": found.changed, "same": len(found.before) - found.changed, "words": len(found.before)}
        shares = {"before": percent(found.sounds_before, 1), "after": percent(found.sounds_after, 1)}
        points = number(100 * (found.sounds_after - found.sounds_before), 1)
        return self.text("seen", count=NUM_WORDS, points=points, **counts, **shares)

    def bars(self) -> tuple[Bars, ...]:
        names = self.text("column_with"), self.text("column_without")
        values = self.found.sounds_before, self.found.sounds_after
        return (Bars(self.text("bars", count=NUM_WORDS), values, names, partial(percent, digits=1)),)

    def explore(self) -> tuple[str, dict[str, str]]:
        head = self.found.head
        settings = settings_of(shown_record(self.name)).put("off", (head,)).put("kind", ATTENTION_KINDS[0])
        settings = settings.put("layer", head.layer + 1).put("head", head.number + 1)
        return "redundancy", {**settings.to_address(), "part": "removal"}
