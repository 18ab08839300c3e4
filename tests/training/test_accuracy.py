"""Which tokens count as right, worked out by hand."""

import torch
from torch import nn

from attention.training.accuracy import right_and_counted, token_accuracy

WANTED = torch.tensor([[3, 4, 5, 2], [6, 2, 0, 0]])  # 2 is the end, 0 padding
OUTPUT = torch.tensor([[3, 4, 4, 3], [6, 2, 3, 3]])  # one letter and one end are wrong
LOGITS = nn.functional.one_hot(OUTPUT, 7).float()


def test_neither_the_end_nor_padding_counts():
    assert token_accuracy(LOGITS, WANTED) == 3 / 4


def test_the_end_counts_where_it_is_asked_for():
    assert token_accuracy(LOGITS, WANTED, count_end=True) == 4 / 6


def test_right_tokens_are_told_one_by_one():
    right, counted = right_and_counted(LOGITS, WANTED)
    assert right.tolist() == [[True, True, False, False], [True, False, False, False]]
    assert counted.sum(1).tolist() == [3, 1]
