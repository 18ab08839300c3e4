"""Training pairs as rows of ids, sorted by the length of their source, and batches drawn from them."""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

from attention.config import END, PAD, START
from attention.tasks.base import Batch, Tokens, pad
from attention.tasks.vocabulary import Vocabulary


@dataclass(frozen=True)
class Rows:
    """One row per (source, target), in order of source length; ids are kept in as few bytes as they need."""

    sources: Int[Tensor, "rows max_src_len+1"]  # tokens, END
    targets: Int[Tensor, "rows max_tgt_len+2"]  # START, tokens, END
    src_lengths: Int[Tensor, " rows"]  # without END
    tgt_lengths: Int[Tensor, " rows"]  # without START and END
    same_length: dict[int, tuple[int, int]]  # source length -> first row, row after the last

    @classmethod
    def of(cls, pairs: Iterable[tuple[Tokens, Tokens]], src_vocab: Vocabulary, tgt_vocab: Vocabulary) -> "Rows":
        """Rows of (source, target) pairs; pairs of equal length stay in their order."""
        pairs = sorted(pairs, key=lambda pair: len(pair[0]))
        src_lengths = torch.tensor([len(source) for source, _ in pairs])
        ends = src_lengths.bincount().cumsum(0).tolist()
        small = [torch.uint8 if len(vocab) <= 256 else torch.int16 for vocab in (src_vocab, tgt_vocab)]
        return cls(
            sources=pad([[*src_vocab.encode(source), END] for source, _ in pairs]).to(small[0]),
            targets=pad([[START, *tgt_vocab.encode(target), END] for _, target in pairs]).to(small[1]),
            src_lengths=src_lengths,
            tgt_lengths=torch.tensor([len(target) for _, target in pairs]),
            same_length={n: (ends[n - 1], ends[n]) for n in range(1, len(ends)) if ends[n - 1] < ends[n]},
        )

    def sample(self, generator: torch.Generator, batch_size: int) -> Batch:
        """Rows of one source length, a different one for each batch, so that no source is padded.

        The first row is drawn from all, the others from those of its length: all rows are equally likely.
        """
        first = int(torch.randint(len(self.src_lengths), (), generator=generator))
        length = int(self.src_lengths[first])
        rows = torch.randint(*self.same_length[length], (batch_size,), generator=generator)
        targets = self.targets[rows, : int(self.tgt_lengths[rows].max()) + 2].long()
        return Batch(
            src_ids=self.sources[rows, : length + 1].long(),
            tgt_in=targets[:, :-1].masked_fill(targets[:, :-1] == END, PAD),
            tgt_out=targets[:, 1:],
        )
