"""What every task offers: how to read typed text, right answers, training batches, examples that are kept apart."""

import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from attention.config import END, PAD, START
from attention.tasks.parts import Part
from attention.tasks.reading import Refusal
from attention.tasks.vocabulary import Vocabulary

Tokens = tuple[str, ...]
# Per target token the source positions that make it: "box" → b ɑ k s is ({0}, {1}, {2}, {2}).
Alignment = tuple[frozenset[int], ...]

__all__ = ["Alignment", "Batch", "Example", "Refusal", "Task", "Tokens", "make_batch", "pad"]


@dataclass(frozen=True)
class Example:
    """A source and all its right answers, the usual one first.

    `alignments[i]` belongs to `targets[i]` and is None where no gold alignment is known for it.
    """

    source: Tokens
    targets: tuple[Tokens, ...]
    alignments: tuple[Alignment | None, ...]


@dataclass(frozen=True)
class Batch:
    """Token ids, 0 where padded. Row t of a prediction from `tgt_in` is compared with row t of `tgt_out`."""

    src_ids: Int[Tensor, "batch src_len"]  # letters, END
    tgt_in: Int[Tensor, "batch tgt_len"]  # START, sounds
    tgt_out: Int[Tensor, "batch tgt_len"]  # sounds, END

    def __iter__(self):
        return iter((self.src_ids, self.tgt_in, self.tgt_out))


class Task(ABC):
    """A task turns one sequence of tokens into another.

    To add one: a subclass in a file or folder of its own, and its line in `attention.tasks.TASKS`. Making a task must
    be cheap; data is read when something asks for it, and several threads may ask at once.
    """

    name: ClassVar[str]  # in addresses and file names
    target_joint: ClassVar[str] = " "  # between target tokens
    backwards: ClassVar[bool] = False  # whether answers go from the end of the source to its beginning
    examples: ClassVar[tuple[str, ...]]  # texts to try, the first one is shown at the start
    src_vocab: ClassVar[Vocabulary]
    tgt_vocab: ClassVar[Vocabulary]
    max_src_len: ClassVar[int]  # longest source, in tokens, without END
    batch_size: ClassVar[int]  # this and the next: what training in the app uses (see `TrainingSettings`)
    num_steps: ClassVar[int]
    learning_rate: ClassVar[float] = 5e-3
    matrix_rate: ClassVar[float] = 7e-3
    warmup: ClassVar[int] = 50
    embedding_rate: ClassVar[float] = 1.0

    @abstractmethod
    def read(self, text: str) -> Tokens:
        """Source tokens of a typed text; raises Refusal."""

    def encode_source(self, tokens: Sequence[str]) -> list[int]:
        """Source ids, END included."""
        return [*self.src_vocab.encode(tokens), END]

    def nearest(self, text: str) -> Tokens:
        """What to show for a text that `read` refuses: its own letters as far as they go, else the first example."""
        plain = unicodedata.normalize("NFKD", text).lower()
        known = [char for char in plain if char in self.src_vocab.ids][: self.max_src_len]
        try:
            return self.read("".join(known))
        except Refusal:
            return self.read(self.examples[0])

    def is_too_long(self, text: str) -> bool:
        """Whether `read` refuses a text that has more characters than a source may have."""
        if len(text.strip()) <= self.max_src_len:
            return False
        try:
            self.read(text)
        except Refusal:
            return True
        return False

    def join_source(self, tokens: Sequence[str]) -> str:
        """Source tokens as people write them."""
        return "".join(tokens)

    def join_target(self, tokens: Sequence[str]) -> str:
        """Target tokens as people write them."""
        return self.target_joint.join(tokens)

    @abstractmethod
    def max_tgt_len(self, source_len: int) -> int:
        """How many tokens, END included, decoding may produce for a source of `source_len` tokens (without END)."""

    @abstractmethod
    def answers(self, tokens: Tokens) -> tuple[Tokens, ...]:
        """All right answers known for a source, the usual one first; () when none is known."""

    @abstractmethod
    def part_of(self, tokens: Tokens) -> Part | None:
        """Which part a source belongs to; None for one that belongs to none, as nobody knows its answer.

        "training" says that training may draw it, not that it did.
        """

    @abstractmethod
    def gold_alignment(self, tokens: Tokens, target: Tokens) -> Alignment | None:
        """Which source positions make each token of `target`; None when that is not known for this pair."""

    @abstractmethod
    def sample_batch(self, generator: torch.Generator, batch_size: int) -> Batch:
        """A random training batch, which follows from the generator's state alone."""

    @abstractmethod
    def examples_of(self, part: Part, limit: int | None = None) -> list[Example]:
        """The examples of "test" or "validation", or the first `limit`: always the same, in no order that matters."""

    def held_out(self, limit: int | None = None) -> list[Example]:
        """The examples for testing: never trained on, and nothing is ever chosen by them."""
        return self.examples_of("test", limit)

    def resemble_training(self, examples: Sequence[Example]) -> list[bool] | None:
        """For each example whether training has one that contains it or is contained in it; None: no such notion."""
        return None


def pad(rows: Sequence[Sequence[int]]) -> Int[Tensor, "batch len"]:
    """Rows of ids as one tensor, filled up with PAD."""
    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    is_real = np.arange(lengths.max()) < lengths[:, None]  # (batch, len)
    ids = np.full(is_real.shape, PAD)
    ids[is_real] = np.fromiter(chain.from_iterable(rows), dtype=np.int64, count=lengths.sum())
    return torch.from_numpy(ids)


def make_batch(task: Task, pairs: Sequence[tuple[Tokens, Tokens]]) -> Batch:
    """Padded ids of (source, target) pairs."""
    targets = [task.tgt_vocab.encode(target) for _, target in pairs]
    return Batch(
        src_ids=pad([task.encode_source(source) for source, _ in pairs]),
        tgt_in=pad([[START, *target] for target in targets]),
        tgt_out=pad([[*target, END] for target in targets]),
    )
