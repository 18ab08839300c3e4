"""What to look for in the maps, said where it is there to be seen: worked out for the model that is shown."""

from collections.abc import Iterator
from itertools import islice

import numpy as np

from attention.tasks import get_task
from attention.training.evaluation import Scores
from pages.shared.models import ModelRecord, word_view
from pages.shared.texts import label, prose, task_prose

NUM_NAMED = 2  # words that a sentence names
MORE, MOST, ALWAYS = 0.05, 0.5, 0.9  # shares of tokens: a difference, and what counts as most and as always


def what_to_look_for(record: ModelRecord, kind: str, scores: Scores | None) -> str:
    """A paragraph for this task's attention of one kind; "" where there is nothing to say, or it does not hold."""
    name, texts = f"watch_{kind}_{record.task}", prose("playground")
    if name not in texts or (kind == "cross" and not finds_its_way(scores)):
        return ""
    words = islice(words_off_the_diagonal(record), NUM_NAMED if "{such_as}" in texts[name] else 0)
    quoted = tuple(label("watch", "word", word=word) for word in words)
    such_as = label("watch", "such_as", words=quoted) if quoted else ""
    return task_prose("playground", name, record.task, such_as=such_as)


def finds_its_way(scores: Scores | None) -> bool:
    """Whether the best head of cross-attention finds what makes most tokens, more than the diagonal does, or all."""
    if scores is None:
        return False
    best = max((score for layer in scores.alignment for score in layer if score == score), default=0.0)
    return best > min(max(scores.diagonal + MORE, MOST), ALWAYS)


def words_off_the_diagonal(record: ModelRecord) -> Iterator[str]:
    """Examples that are answered right, where a head finds what makes the tokens more often than the diagonal does."""
    task = get_task(record.task)
    for text in task.examples:
        view = word_view(record, task.read(text))
        heads = np.concatenate([layer.alignment for layer in view.layers["cross"]])
        if view.ended and view.answer in task.answers(view.source) and (heads > view.diagonal).any():
            yield text
