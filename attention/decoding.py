"""What a model says by itself: greedy decoding, token by token."""

import torch
from jaxtyping import Int
from torch import Tensor

from attention.config import END, PAD, START
from attention.model import EncoderDecoder


@torch.no_grad()
def greedy_decode(model: EncoderDecoder, src_ids: Int[Tensor, "batch src_len"], max_len: int) -> list[list[int]]:
    """The most likely next token, again and again, until each row has said the end token or `max_len` tokens.

    Padding and the start token are no answers and are never chosen.

    Returns:
        Per row the generated ids, without the start token, with the end token where it was reached.
    """
    encoded = model.encode(src_ids, need_maps=False)
    tgt_ids = torch.full((len(src_ids), 1), START)
    finished = torch.zeros(len(src_ids), dtype=torch.bool)
    for _ in range(max_len):
        logits = model.decode(tgt_ids, encoded, need_maps=False).logits[:, -1]  # (batch, tgt_vocab_size)
        logits[:, [PAD, START]] = -torch.inf
        chosen = logits.argmax(-1).masked_fill(finished, PAD)
        tgt_ids = torch.cat([tgt_ids, chosen[:, None]], dim=1)
        finished |= chosen == END
        if finished.all():
            break
    return [[token for token in row if token != PAD] for row in tgt_ids[:, 1:].tolist()]
