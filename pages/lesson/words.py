"""Words that may show an effect, and what a model answers to them: which of them does show it, is computed."""

import re

from attention.config import END
from attention.decoding import greedy_decode
from attention.tasks import Task, Tokens, get_task
from attention.tasks.base import pad
from pages.shared.caching import made_once
from pages.shared.models import ModelRecord, at_work

WITH_SILENT_LETTERS = ("light", "night", "knight", "bright", "school", "write", "phone", "lamb", "knee")
WITH_LONG_VOWELS = ("bright", "light", "night", "sight", "flight", "high", "knight", "tight")
# Words with a letter whose sound depends on the letter after it; and how such words are known among others.
SOFT_OR_WITH_H = re.compile("[cg][eiy]|[cgpstw]h")
BY_THE_NEXT_LETTER = (
    *("city", "cell", "cake", "page", "ship", "thin", "phone", "write", "queen", "rate", "check", "gun", "cycle"),
    *("ace", "face", "giant", "gem", "engine", "ocean", "special", "nation", "chef", "gnome", "wrap", "sure", "then"),
    *("phase", "rough", "guess", "guide", "quick", "cute", "hope", "bite", "scene", "cinema", "danger", "magic"),
)


@made_once()
def answers(record: ModelRecord, words: tuple[str, ...]) -> tuple[Tokens, ...]:
    """What a model answers to each word by itself."""
    task = get_task(record.task)
    src_ids = pad([task.encode_source(tuple(word)) for word in words])
    limits = [task.max_tgt_len(len(word)) for word in words]
    with at_work(record) as model:
        rows = greedy_decode(model, src_ids, max(limits))
    return tuple(_tokens(task, row[:limit]) for row, limit in zip(rows, limits, strict=True))


def _tokens(task: Task, ids: list[int]) -> Tokens:
    return task.tgt_vocab.decode([token for token in ids if token != END])
