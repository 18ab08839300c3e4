"""Tasks by name. To add one: a subclass of `Task` in a file of its own, and one line in `TASKS`."""

from functools import cache

from attention.config import END, PAD, START
from attention.tasks.base import Alignment, Batch, Example, Refusal, Task, Tokens, make_batch
from attention.tasks.dates import Dates
from attention.tasks.pinyin import Pinyin
from attention.tasks.reverse import Reverse
from attention.tasks.spelling import Spelling
from attention.tasks.vocabulary import Vocabulary

TASKS: dict[str, type[Task]] = {
    "spelling": Spelling,
    "reverse": Reverse,
    "dates": Dates,
    "pinyin": Pinyin,
}


@cache
def get_task(name: str) -> Task:
    """The task called `name`; ValueError with the known names for any other."""
    if name not in TASKS:
        raise ValueError(f"there is no task {name!r}; there are {', '.join(TASKS)}")
    return TASKS[name]()


__all__ = [
    "END",
    "PAD",
    "START",
    "TASKS",
    "Alignment",
    "Batch",
    "Example",
    "Refusal",
    "Task",
    "Tokens",
    "Vocabulary",
    "get_task",
    "make_batch",
]
