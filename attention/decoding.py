"""What a model says by itself: greedy decoding, token by token."""

import torch
from jaxtyping import Int
from torch import Tensor

from attention.config import PAD
from attention.model import EncoderDecoder
from attention.stepping import Anchor, decode_steps


def greedy_decode(
    model: EncoderDecoder, src_ids: Int[Tensor, "batch src_len"], max_len: int, anchor: Anchor | None = None
) -> list[list[int]]:
    """The most likely next token, again and again, until each row has said the end token or `max_len` tokens.

    Padding and the start token are no answers and are never chosen. `anchor` as in `stepping.decode_steps`.

    Returns:
        Per row the generated ids, without the start token, with the end token where it was reached.
    """
    chosen = [step.chosen for step in decode_steps(model, src_ids, max_len, anchor=anchor)]
    if not chosen:
        return [[] for _ in src_ids]
    return [[token for token in row if token != PAD] for row in torch.stack(chosen, dim=1).tolist()]
