"""How a head is taken away: it contributes nothing, or, by the mean, the same in every row.

What a head adds, A·V·W_O, has a part that never changes: the rows of A sum to 1, so a bias of its values arrives as
b_V·W_O whatever the word is, and the rest has a mean too. With zeros for W_O's slice that part goes as well, and a head
may be missed for no more than a constant, which W_O's own bias could supply. In place of zero the head can go on adding
its mean: then only what varies is taken away.
"""

from collections.abc import Iterable, Mapping

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attention.ablation.sharing import sharing_copy
from attention.config import ATTENTION_KINDS, PAD
from attention.inspection.heads import Head, attention_of, output_slice, require_heads
from attention.model import EncoderDecoder
from attention.tasks import Batch

ZERO, MEAN = "zero", "mean"
IN_PLACE = (ZERO, MEAN)  # what a head that is taken away adds

# What every head adds on average: a tensor for each kind and layer.
Means = Mapping[tuple[str, int], Float[Tensor, "heads d_model"]]


@torch.no_grad()
def mean_contributions(model: EncoderDecoder, batch: Batch) -> Means:
    """The mean of each head's A·V·W_O over the real rows of a batch, teacher-forced."""
    encoded = model.encode(batch.src_ids)
    _, own, cross = model.decoder(batch.tgt_in, encoded.memory)
    real = dict(zip(ATTENTION_KINDS, (batch.src_ids, batch.tgt_in, batch.tgt_in), strict=True))
    means = {}
    for kind, recordings in zip(ATTENTION_KINDS, (encoded.recordings, own, cross), strict=True):
        for layer, recording in enumerate(recordings):
            attention = attention_of(model, kind, layer)
            w_o = attention.w_o.weight.T.unflatten(0, (attention.num_heads, -1))  # (heads, head_dim, d_model)
            mixed = recording.mixed.transpose(1, 2)[real[kind] != PAD].mean(0)  # (heads, head_dim)
            means[kind, layer] = (mixed[:, None] @ w_o)[:, 0]
    return means


def without_heads(model: EncoderDecoder, heads: Iterable[Head], means: Means | None = None) -> EncoderDecoder:
    """A copy of `model` in which these heads contribute nothing, or what `means` says, the same in every row.

    Their slices of W_O are zero, and with `means` W_O's bias takes over. All other memory is shared with `model`,
    which stays as it is.

    Raises:
        ValueError: a head that the model does not have.
    """
    heads = set(heads)
    require_heads(model.config, heads)
    changed = with_own_w_o(model, heads, means)
    silence(changed, heads, means)
    return changed


def with_own_w_o(model: EncoderDecoder, heads: Iterable[Head], means: Means | None = None) -> EncoderDecoder:
    """A copy of `model` in which the W_O of these heads may be written to; with `means` each has a bias."""
    places = {(head.kind, head.layer) for head in heads}
    layers = [attention_of(model, *place).w_o for place in places]
    biases = [w_o.bias for w_o in layers if means is not None and w_o.bias is not None]
    changed = sharing_copy(model, [w_o.weight for w_o in layers] + biases)
    for place in places if means is not None else ():
        w_o = attention_of(changed, *place).w_o
        if w_o.bias is None:
            w_o.bias = nn.Parameter(w_o.weight.new_zeros(w_o.out_features))
    return changed


@torch.no_grad()
def silence(model: EncoderDecoder, heads: set[Head], means: Means | None = None) -> None:
    """Take heads away that are still there, in the model itself."""
    for head in sorted(heads):
        output_slice(model, head).zero_()
        if means is not None:
            attention_of(model, head.kind, head.layer).w_o.bias.add_(means[head.kind, head.layer][head.number])
