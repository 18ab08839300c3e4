"""How good a model is: accuracy, and where its cross-attention looks."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np
import torch

from attention.decoding import Anchor, greedy_decode
from attention.metrics.alignment import AlignmentTotals, alignment_score, num_aligned
from attention.model import EncoderDecoder
from attention.tasks import END, Example, Task, make_batch
from attention.tasks.base import pad
from attention.training.accuracy import right_and_counted


@dataclass(frozen=True)
class Scores:
    """What `evaluate` found.

    Attributes:
        token_accuracy: share of target tokens predicted right, teacher-forced, the end token not counted. Of an
            example with several right answers the best-scoring one counts.
        sequence_accuracy: share of examples where greedy decoding gives a right answer, and ends there.
        num_examples: how many examples were scored.
        alignment: [layer][head] of cross-attention, share of target tokens whose strongest attention falls on a
            source token that makes them, over all examples with a gold alignment, teacher-forced on its target.
            NaN for a head that does not read the source (`kv="extra"`).
        diagonal, same_index: what the two position-only baselines score on the same tokens.
        num_aligned: how many target tokens these three are about; they are NaN when it is 0.
    """

    token_accuracy: float
    sequence_accuracy: float
    num_examples: int
    alignment: tuple[tuple[float, ...], ...]
    diagonal: float
    same_index: float
    num_aligned: int

    def to_dict(self) -> dict:
        """Plain JSON types: null where there is no number."""
        return _without_nan(asdict(self))

    @classmethod
    def from_dict(cls, data: dict) -> "Scores":
        """Read what `to_dict` wrote."""
        data = _with_nan(data)
        return cls(**{**data, "alignment": tuple(map(tuple, data["alignment"]))})


@dataclass(frozen=True)
class Accuracy:
    """The two accuracies of `Scores` on some of its examples; NaN where there are none."""

    token_accuracy: float
    sequence_accuracy: float
    num_examples: int


@dataclass(frozen=True)
class Apart:
    """Accuracy on the examples that resemble something in training (see `Task.resemble_training`), and on the rest."""

    resembling: Accuracy
    rest: Accuracy

    def to_dict(self) -> dict:
        """Plain JSON types: null where there is no number."""
        return _without_nan(asdict(self))

    @classmethod
    def from_dict(cls, data: dict) -> "Apart":
        """Read what `to_dict` wrote."""
        return cls(**{name: Accuracy(**_with_nan(part)) for name, part in data.items()})


def _without_nan(value):
    """None, which JSON has, in place of NaN, which it has not."""
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def _with_nan(value):
    if isinstance(value, dict):
        return {key: _with_nan(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_nan(item) for item in value]
    return math.nan if value is None else value


class _Right(NamedTuple):
    """What a model did with one example: right tokens of its best answer, of how many; and the greedy answer."""

    right_tokens: int
    tokens: int
    sequence: bool


@torch.no_grad()
def evaluate(model: EncoderDecoder, task: Task, examples: Sequence[Example], batch_size: int = 256) -> Scores:
    """Score `model` on `examples`, of which there must be at least one."""
    return _evaluate(model, task, examples, batch_size)[0]


@torch.no_grad()
def evaluate_apart(
    model: EncoderDecoder, task: Task, examples: Sequence[Example], batch_size: int = 256
) -> tuple[Scores, Apart | None]:
    """As `evaluate`, and the accuracies apart where the task can tell what resembles its training examples."""
    scores, found = _evaluate(model, task, examples, batch_size)
    resemble = task.resemble_training(examples)
    if resemble is None:
        return scores, None
    parts = ([right for right, like in zip(found, resemble, strict=True) if like == part] for part in (True, False))
    return scores, Apart(*map(_accuracy, parts))


def _evaluate(
    model: EncoderDecoder, task: Task, examples: Sequence[Example], batch_size: int
) -> tuple[Scores, list[_Right]]:
    """The scores, and what was right of each example."""
    if not examples:
        raise ValueError("there is nothing to evaluate: no examples were given")
    aligned = AlignmentTotals(model.config.decoder.num_layers, model.config.decoder.num_heads)
    right: dict[int, _Right] = {}
    for numbers in _batches(examples, batch_size):
        batch = [examples[number] for number in numbers]
        sequences = decoded_right(model, task, batch)
        tokens = _right_tokens(model, task, batch, aligned)
        for number, (right_tokens, total), sequence in zip(numbers, tokens, sequences, strict=True):
            right[number] = _Right(right_tokens, total, sequence)
    found, accuracy = aligned.scores(), _accuracy(list(right.values()))
    scores = Scores(
        **asdict(accuracy),
        alignment=tuple(map(tuple, found.heads.tolist())),
        diagonal=found.diagonal,
        same_index=found.same_index,
        num_aligned=found.num_aligned,
    )
    return scores, [right[number] for number in range(len(examples))]


def _accuracy(found: Sequence[_Right]) -> Accuracy:
    if not found:
        return Accuracy(math.nan, math.nan, 0)
    right_tokens, tokens, sequences = map(sum, zip(*found, strict=True))
    return Accuracy(right_tokens / tokens, sequences / len(found), len(found))


def _batches(examples: Sequence[Example], batch_size: int) -> Iterator[list[int]]:
    """Numbers of examples, batches of about equal length, so that little is padded."""
    by_length = sorted(range(len(examples)), key=lambda number: len(examples[number].source))
    for begin in range(0, len(by_length), batch_size):
        yield by_length[begin : begin + batch_size]


@torch.no_grad()
def decoded_right(
    model: EncoderDecoder, task: Task, examples: Sequence[Example], anchor: Anchor | None = None
) -> list[bool]:
    """Whether greedy decoding gives one of the right answers, for each example; `anchor` as in `decode_steps`."""
    src_ids = pad([task.encode_source(example.source) for example in examples])
    limits = [task.max_tgt_len(len(example.source)) for example in examples]
    rows = greedy_decode(model, src_ids, max(limits), anchor)
    wanted = [[[*task.tgt_vocab.encode(target), END] for target in example.targets] for example in examples]
    return [row[:limit] in answers for row, limit, answers in zip(rows, limits, wanted, strict=True)]


def _right_tokens(
    model: EncoderDecoder, task: Task, examples: Sequence[Example], aligned: AlignmentTotals
) -> Iterator[tuple[int, int]]:
    """For each example, how many tokens of its best-scoring answer are right, and of how many.

    What the cross-attention maps show is added to `aligned`.
    """
    owners = [number for number, example in enumerate(examples) for _ in example.targets]
    pairs = [(example.source, target) for example in examples for target in example.targets]
    golds = [gold for example in examples for gold in example.alignments]
    batch = make_batch(task, pairs)
    out = model(batch.src_ids, batch.tgt_in)
    right, _ = right_and_counted(out.logits, batch.tgt_out)
    num_right = right.sum(1).tolist()
    maps = [layer[..., : batch.src_ids.shape[1]].numpy() for layer in out.maps.cross]

    best: dict[int, tuple[int, int]] = {}
    for row, (owner, (source, target), gold) in enumerate(zip(owners, pairs, golds, strict=True)):
        found = (num_right[row], len(target))
        if owner not in best or found[0] / found[1] > best[owner][0] / best[owner][1]:
            best[owner] = found
        if gold is not None and num_aligned(gold):
            aligned.add(np.stack([alignment_score(layer[row], gold) for layer in maps]), gold, len(source))
    yield from best.values()
