"""Which heads one answer hangs on: without one of them the model would answer something else."""

import torch
import torch.nn.functional as F
from jaxtyping import Int
from torch import Tensor

from attention.ablation.silence import without_heads
from attention.config import PAD, START
from attention.inspection.heads import Head, all_heads
from attention.model import EncoderDecoder


@torch.no_grad()
def needed_heads(
    model: EncoderDecoder, src_ids: Int[Tensor, "1 src_len"], output: Int[Tensor, " tgt_len"]
) -> tuple[Head, ...]:
    """The heads without which greedy decoding no longer gives `output`, the one that is missed most first.

    One pass for each head is enough: as long as the most likely token is that of `output` in every row, decoding goes
    the same way. How much a head is missed is the loss of `output` without it.

    Args:
        output: what the model generates for the source, with the end token where it was reached.
    """
    tgt_in = torch.cat([torch.tensor([START]), output[:-1]])[None]
    losses: dict[Head, float] = {}
    for head in all_heads(model.config):
        logits = without_heads(model, [head])(src_ids, tgt_in, need_maps=False).logits[0]  # (tgt_len, vocab)
        logits[:, [PAD, START]] = -torch.inf  # no answers, as in decoding
        if (logits.argmax(-1) != output).any():
            losses[head] = F.cross_entropy(logits, output).item()
    return tuple(sorted(losses, key=lambda head: -losses[head]))
