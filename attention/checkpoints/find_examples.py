"""Words that show something: what all shipped models of a task answer.

    python -m attention.checkpoints.find_examples TASK [TEXT ...] [--count 100]

Without a text: the first test examples, those first that most models get right. A line is a text, its part, the right
answers, how many models give one of them, and what the others say, each with how many models say it.
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from attention.checkpoints import load, shipped
from attention.config import END
from attention.decoding import greedy_decode
from attention.model import EncoderDecoder
from attention.tasks import TASKS, Task, Tokens, get_task
from attention.tasks.base import pad


@dataclass(frozen=True)
class Found:
    """What models answer to one text: how many say what."""

    source: Tokens
    answers: Counter[Tokens | None]  # None: it never ended

    def right(self, task: Task) -> int:
        """How many give a right answer."""
        return sum(self.answers[answer] for answer in task.answers(self.source))

    def line(self, task: Task) -> str:
        wanted = task.answers(self.source)
        wrong = [(count, answer) for answer, count in self.answers.most_common() if answer not in wanted]
        said = ", ".join(f"{count} × {'…' if answer is None else task.join_target(answer)}" for count, answer in wrong)
        part = task.part_of(self.source) or "unknown"
        right = " / ".join(map(task.join_target, wanted))
        total = sum(self.answers.values())
        return f"{task.join_source(self.source)} ({part}): {right}: {self.right(task)} of {total}; {said or 'no other'}"


def answers_of(model: EncoderDecoder, task: Task, sources: list[Tokens]) -> Iterator[Tokens | None]:
    """What the model generates for each source; None where it does not end."""
    limits = [task.max_tgt_len(len(source)) for source in sources]
    rows = greedy_decode(model, pad([task.encode_source(source) for source in sources]), max(limits))
    for row, limit in zip(rows, limits, strict=True):
        yield tuple(task.tgt_vocab.decode(row[:-1])) if row[:limit][-1:] == [END] else None


def find(task: Task, sources: list[Tokens]) -> list[Found]:
    """What all shipped models of the task answer to each source."""
    found = [Counter() for _ in sources]
    for name, config in shipped():
        if name == task.name:
            model, _ = load(name, config)
            for counter, answer in zip(found, answers_of(model, task, sources), strict=True):
                counter[answer] += 1
    return [Found(source, counter) for source, counter in zip(sources, found, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("texts", nargs="*", metavar="TEXT")
    parser.add_argument("--count", type=int, default=100, help="how many test examples, where no text is given")
    given = parser.parse_args()
    task = get_task(given.task)
    if given.texts:
        found = find(task, [task.read(text) for text in given.texts])
    else:
        found = find(task, [example.source for example in task.examples_of("test", given.count)])
        found.sort(key=lambda one: one.right(task), reverse=True)
    for one in found:
        print(one.line(task))


if __name__ == "__main__":
    main()
