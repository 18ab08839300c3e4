"""Do the values have a say in where attention looks? One cross-attention with its own values, and with others.

Queries, keys and masks stay as they are. The weights are a softmax over Q·Kᵀ, so nothing of V can be in them; what the
heads hand to W_O is A·V, and changes.
"""

from dataclasses import dataclass

import torch

from attention.decoding import decode_word
from attention.functional import attend
from attention.model import EncoderDecoder
from attention.tasks import START, Task, Tokens


@dataclass(frozen=True)
class OtherValues:
    """What other values changed.

    Attributes:
        num_weights: how many attention weights the maps have.
        num_changed: of these, how many are not the same to the last bit.
        output_change: of A·V, the norm of the difference relative to its own.
    """

    num_weights: int
    num_changed: int
    output_change: float


@torch.no_grad()
def with_other_values(model: EncoderDecoder, task: Task, source: Tokens, layer: int, seed: int = 0) -> OtherValues:
    """One decoder layer's cross-attention (counted from 0) on the model's own answer, its values drawn anew."""
    src_ids = torch.tensor([task.encode_source(source)])
    output = decode_word(model, src_ids, task.max_tgt_len(len(source))).output
    read = [START, *output[:-1]]
    _, _, cross = model.decoder(torch.tensor([read]), model.encode(src_ids).memory)
    done = cross[layer]
    drawn = torch.randn(done.values.shape, generator=torch.Generator().manual_seed(seed))
    others = drawn * done.values.square().mean().sqrt()
    (mixed, weights), (other_mixed, other_weights) = (
        attend(done.queries, done.keys, values, done.mask) for values in (done.values, others)
    )
    return OtherValues(
        num_weights=weights.numel(),
        num_changed=int((weights != other_weights).sum()),
        output_change=float((other_mixed - mixed).norm() / mixed.norm()),
    )
