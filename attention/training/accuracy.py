"""Token accuracy, teacher-forced: of the target tokens that count, the share that is predicted right."""

from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention.config import END, PAD


def right_and_counted(
    logits: Float[Tensor, "batch tgt_len vocab"], tgt_out: Int[Tensor, "batch tgt_len"], count_end: bool = False
) -> tuple[Bool[Tensor, "batch tgt_len"], Bool[Tensor, "batch tgt_len"]]:
    """Which tokens are predicted right, of those that count, and which count: never padding, END if `count_end`."""
    counted = tgt_out != PAD
    if not count_end:
        counted = counted & (tgt_out != END)
    return (logits.argmax(-1) == tgt_out) & counted, counted


def token_accuracy(
    logits: Float[Tensor, "batch tgt_len vocab"], tgt_out: Int[Tensor, "batch tgt_len"], count_end: bool = False
) -> float:
    """Share of the tokens that count (see `right_and_counted`) which are predicted right."""
    right, counted = right_and_counted(logits, tgt_out, count_end)
    return right.sum().item() / counted.sum().item()
