"""What accuracy and shares of attention count, worked out by hand."""

import torch
from torch import nn

from attention.silent.runs import (
    letters_right,
    mean_share_on,
)


def logits_saying(ids: torch.Tensor, vocab_size: int = 7) -> torch.Tensor:
    return nn.functional.one_hot(ids, vocab_size).float()


def test_letters_right_leaves_out_the_end_and_padding():
    tgt_out = torch.tensor([[3, 4, 5, 2], [6, 2, 0, 0]])
    said = torch.tensor([[3, 4, 4, 3], [6, 3, 3, 3]])  # wrong at one letter, and wherever it does not count
    assert letters_right(logits_saying(said), tgt_out) == 3 / 4


def test_share_of_attention_by_hand():
    """Two layers, one head, three rows of which the last is padding and the second has no key."""
    first = torch.tensor([[[[0.25, 0.75], [0, 0], [1, 0]]]])
    second = torch.tensor([[[[1.0, 0], [0.5, 0.5], [0, 1]]]])
    rows = torch.tensor([[True, True, False]])
    target = torch.tensor([[[[False, True]]]])
    assert mean_share_on([first, second], target, rows) == (0.75 + 0.5 / 2) / 2
