"""How good a model is: accuracy, and where its cross-attention looks."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import torch

from attention.decoding import greedy_decode
from attention.metrics.alignment import AlignmentTotals, alignment_score, num_aligned
from attention.model import EncoderDecoder
from attention.stepping import Anchor
from attention.tasks import END, PAD, Example, Task, make_batch
from attention.tasks.base import pad


@dataclass(frozen=True)
class Scores:
    """What `evaluate` found.

    Attributes:
        token_accuracy: share of target tokens predicted right when all tokens before are given (teacher forcing),
            the end token not counted. Of an example with several right answers the best-scoring one counts.
        sequence_accuracy: share of examples where greedy decoding gives a right answer, and ends there.
        num_examples: how many examples were scored.
        alignment: [layer][head] of cross-attention, share of target tokens whose strongest attention falls on a
            source token that makes them, over all examples with a gold alignment, teacher-forced on its target.
            NaN for a head that does not read the source (`kv="extra"`).
        diagonal, same_index: what two rules that look at nothing score on the same tokens.
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
        """Plain JSON types."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict) -> "Scores":
        """Read what `to_dict` wrote."""
        return cls(**{**data, "alignment": tuple(map(tuple, data["alignment"]))})


@torch.no_grad()
def evaluate(model: EncoderDecoder, task: Task, examples: Sequence[Example], batch_size: int = 256) -> Scores:
    """Score `model` on `examples`, of which there must be at least one."""
    if not examples:
        raise ValueError("there is nothing to evaluate: no examples were given")
    right_tokens = tokens = right_sequences = 0
    aligned = AlignmentTotals(model.config.decoder.num_layers, model.config.decoder.num_heads)
    for batch in _batches(examples, batch_size):
        right_sequences += sum(decoded_right(model, task, batch))
        for right, total in _token_accuracy(model, task, batch, aligned):
            right_tokens += right
            tokens += total
    found = aligned.scores()
    return Scores(
        token_accuracy=right_tokens / tokens,
        sequence_accuracy=right_sequences / len(examples),
        num_examples=len(examples),
        alignment=tuple(map(tuple, found.heads.tolist())),
        diagonal=found.diagonal,
        same_index=found.same_index,
        num_aligned=found.num_aligned,
    )


def _batches(examples: Sequence[Example], batch_size: int) -> Iterator[list[Example]]:
    """Batches of about equal length, so that little is padded."""
    by_length = sorted(examples, key=lambda example: len(example.source))
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


def _token_accuracy(
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
    counts = (batch.tgt_out != END) & (batch.tgt_out != PAD)
    num_right = ((out.logits.argmax(-1) == batch.tgt_out) & counts).sum(1).tolist()
    maps = [layer[..., : batch.src_ids.shape[1]].numpy() for layer in out.maps.cross]

    best: dict[int, tuple[int, int]] = {}
    for row, (owner, (source, target), gold) in enumerate(zip(owners, pairs, golds, strict=True)):
        found = (num_right[row], len(target))
        if owner not in best or found[0] / found[1] > best[owner][0] / best[owner][1]:
            best[owner] = found
        if gold is not None and num_aligned(gold):
            aligned.add(np.stack([alignment_score(layer[row], gold) for layer in maps]), gold, len(source))
    yield from best.values()
