"""What accuracy and shares of attention count, worked out by hand."""

import torch

from attention.experiments.silent_failures.shipped_model import (
    mean_share_on,
)


def test_share_of_attention_by_hand():
    """Two layers, one head, three rows of which the last is padding and the second has no key."""
    first = torch.tensor([[[[0.25, 0.75], [0, 0], [1, 0]]]])
    second = torch.tensor([[[[1.0, 0], [0.5, 0.5], [0, 1]]]])
    rows = torch.tensor([[True, True, False]])
    target = torch.tensor([[[[False, True]]]])
    assert mean_share_on([first, second], target, rows) == (0.75 + 0.5 / 2) / 2
