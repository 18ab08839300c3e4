"""How good a model is: accuracy, and where its cross-attention looks."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import torch

from attention.decoding import greedy_decode
from attention.metrics.alignment import alignment_score, diagonal_baseline, num_aligned, same_index_baseline
from attention.model import EncoderDecoder
from attention.stepping import Anchor
from attention.tasks import END, PAD, Alignment, Example, Task, make_batch
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
    aligned = _AlignmentTotals(model.config.decoder.num_layers, model.config.decoder.num_heads)
    for batch in _batches(examples, batch_size):
        right_sequences += sum(decoded_right(model, task, batch))
        for right, total in _token_accuracy(model, task, batch, aligned):
            right_tokens += right
            tokens += total
    return Scores(
        token_accuracy=right_tokens / tokens,
        sequence_accuracy=right_sequences / len(examples),
        num_examples=len(examples),
        **aligned.scores(),
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


@dataclass
class _AlignmentTotals:
    """Sums over examples, weighted by how many target tokens of each count."""

    num_layers: int
    num_heads: int

    def __post_init__(self) -> None:
        self.heads = np.zeros((self.num_layers, self.num_heads))
        self.reads_source = np.zeros((self.num_layers, self.num_heads), dtype=bool)
        self.diagonal = self.same_index = 0.0
        self.num_aligned = 0

    def add(self, maps: list[np.ndarray], gold: Alignment, source_len: int) -> None:
        """Add one example: a map (heads, q_len, kv_len) per layer."""
        count = num_aligned(gold)
        self.num_aligned += count
        self.heads += count * np.stack([alignment_score(weights, gold) for weights in maps])
        self.diagonal += count * diagonal_baseline(gold, source_len)
        self.same_index += count * same_index_baseline(gold)

    def see(self, masks: Sequence[torch.Tensor], src_len: int) -> None:
        """Note which heads may look at the source at all, from the masks (batch, #heads, #q_len, kv_len) per layer."""
        for reads, mask in zip(self.reads_source, masks, strict=True):
            reads |= mask[..., :src_len].any(dim=(0, 2, 3)).numpy()

    def scores(self) -> dict:
        """The fields of `Scores` that are about alignment."""
        total = self.num_aligned or float("nan")
        alignment = np.where(self.reads_source, self.heads / total, np.nan)
        return {
            "alignment": tuple(map(tuple, alignment.tolist())),
            "diagonal": self.diagonal / total,
            "same_index": self.same_index / total,
            "num_aligned": self.num_aligned,
        }


def _token_accuracy(
    model: EncoderDecoder, task: Task, examples: Sequence[Example], aligned: _AlignmentTotals
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
    maps = [layer.numpy() for layer in out.maps.cross]
    aligned.see(out.masks.cross, batch.src_ids.shape[1])

    best: dict[int, tuple[int, int]] = {}
    for row, (owner, (source, target), gold) in enumerate(zip(owners, pairs, golds, strict=True)):
        found = (num_right[row], len(target))
        if owner not in best or found[0] / found[1] > best[owner][0] / best[owner][1]:
            best[owner] = found
        if gold is not None and num_aligned(gold):
            aligned.add([layer[row] for layer in maps], gold, len(source))
    yield from best.values()
