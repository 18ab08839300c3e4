"""Scores that go into the softmax wrongly: hidden where they should be seen, or too large."""

import math
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention.config import PAD
from attention.cross_attention import Memory
from attention.experiments.silent_failures.demonstration import Curve, Damage, SilentFailure, attention_map, frozen
from attention.experiments.silent_failures.shipped_model import (
    accuracy,
    batch_of,
    held_out,
    mean_share_on,
    shipped_model,
)
from attention.functional import attention_weights, causal_mask
from attention.metrics import entropy
from attention.model import Attention, EncoderDecoder
from attention.tasks import Batch
from attention.training.accuracy import token_accuracy

HEAD_SIZES = (4, 8, 16, 32, 64)


@torch.no_grad()
def inverted_mask(word: str = "knight") -> SilentFailure:
    """True means "look" here and in `scaled_dot_product_attention`, but "hide" in `nn.MultiheadAttention`.

    Two runs of the shipped model: one with the decoder's causal mask inverted, one with the masks that hide
    the padding of the source inverted.
    """
    model, task = shipped_model()
    strings = held_out(task)
    real_letters, causal, later = _masks(strings)
    as_it_is = run_with_masks(model, strings, real_letters, causal)
    own_inverted = run_with_masks(model, strings, real_letters, later)
    padding_inverted = run_with_masks(model, strings, ~real_letters, causal)

    rows_that_count = strings.tgt_out != PAD
    on_future = [mean_share_on(run.own, later, rows_that_count) for run in (as_it_is, own_inverted)]
    on_padding = [mean_share_on(run.cross, ~real_letters, rows_that_count) for run in (as_it_is, padding_inverted)]
    right, future_seen, padding_seen = (
        token_accuracy(run.logits, strings.tgt_out) for run in (as_it_is, own_inverted, padding_inverted)
    )

    one = batch_of(task, [word])
    everywhere, *own_masks = _masks(one)
    rows = task.tgt_vocab.decode(one.tgt_out[0].tolist())
    columns = task.tgt_vocab.decode(one.tgt_in[0].tolist())
    maps = []
    for name, used in zip(("causal_right", "causal_wrong"), own_masks, strict=True):
        weights = run_with_masks(model, one, everywhere, used).own[-1][0, 0]
        maps.append(attention_map(name, weights, rows, columns, attention="decoder", allowed=used[0, 0]))
    hide, look = "torch.ones(n, n, dtype=torch.bool).triu(1)", "torch.ones(n, n, dtype=torch.bool).tril()"
    return SilentFailure(
        name="inverted_mask",
        wrong_code=f"y = F.scaled_dot_product_attention(q, k, v, attn_mask={hide})  # True: hide",
        right_code=f"y = F.scaled_dot_product_attention(q, k, v, attn_mask={look})  # True: look",
        numbers=(
            Damage("on_future", *on_future),
            Damage("letters_right_causal", right, future_seen),
            Damage("on_padding", *on_padding),
            Damage("letters_right_padding", right, padding_seen),
        ),
        weights="trained",
        maps=tuple(maps),
        facts=(("word", word),),
    )


class MaskedPass(NamedTuple):
    """What came of one forward pass: maps of each decoder layer's self- and cross-attention, and logits."""

    own: list[Float[Tensor, "batch heads tgt_len tgt_len"]]
    cross: list[Float[Tensor, "batch heads tgt_len src_len"]]
    logits: Float[Tensor, "batch tgt_len vocab"]


def run_with_masks(
    model: EncoderDecoder,
    batch: Batch,
    real_letters: Bool[Tensor, "batch 1 1 src_len"],
    causal: Bool[Tensor, "batch 1 tgt_len tgt_len"],
) -> MaskedPass:
    """A forward pass with the caller's masks: for everything that reads the source, and for the decoder itself."""
    run = MaskedPass([], [], torch.empty(0))
    x = model.encoder.embedding(batch.src_ids)
    for layer in model.encoder.layers:
        x, _ = layer(x, real_letters, need_maps=False, generator=None)
    memory = Memory(model.encoder.norm(x), real_letters)
    y = model.decoder.embedding(batch.tgt_in)
    for layer in model.decoder.layers:
        y, own, cross = layer(y, causal, memory, need_maps=True, generator=None)
        run.own.append(own.weights)
        run.cross.append(cross.weights)
    return run._replace(logits=model.decoder.to_logits(model.decoder.norm(y)))


def _masks(batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
    """Real letters of the source, (batch, 1, 1, src_len); what the decoder has read so far, and what comes later.

    The last two are (batch, 1, tgt_len, tgt_len) and leave padding out.
    """
    tokens = (batch.tgt_in != PAD)[:, None, None]
    so_far = causal_mask(batch.tgt_in.shape[1])
    return (batch.src_ids != PAD)[:, None, None], tokens & so_far, tokens & ~so_far


@torch.no_grad()
def unscaled_scores(head_sizes: tuple[int, ...] = HEAD_SIZES, num_keys: int = 12, seed: int = 0) -> SilentFailure:
    """Scores without 1/√head_dim: the larger a head, the closer its softmax comes to a single key.

    A dot product of two standard Gaussian vectors has the variance head_dim (Vaswani et al. 2017, section 3.2.1,
    footnote 4). The entropies are means over 2,000 such queries, with `num_keys` keys each; the accuracy is that of
    the shipped model when every attention in it forgets the scale.
    """
    scaled, raw = zip(*(_entropies(head_dim, num_keys, seed) for head_dim in head_sizes), strict=True)
    model, task = shipped_model()
    strings = held_out(task)
    as_trained = accuracy(model, strings)
    forget_scale(model)
    return SilentFailure(
        name="unscaled_scores",
        wrong_code="weights = (q @ k.transpose(-2, -1)).softmax(-1)",
        right_code="weights = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).softmax(-1)",
        numbers=(
            Damage("entropy_at", scaled[0], raw[0], "number", at=head_sizes[0]),
            Damage("entropy_at", scaled[-1], raw[-1], "number", at=head_sizes[-1]),
            Damage("letters_right", as_trained, accuracy(model, strings)),
        ),
        weights="both",
        curve=Curve("head_sizes", tuple(head_sizes), (("scaled", frozen(scaled)), ("unscaled", frozen(raw)))),
        facts=(("keys", num_keys),),
    )


def _entropies(head_dim: int, num_keys: int, seed: int) -> tuple[float, float]:
    """Mean normalised entropy of random heads, with the scale and without."""
    generator = torch.Generator().manual_seed(seed)
    q = torch.randn(1, 500, 4, head_dim, generator=generator)  # 500 heads of 4 queries
    k = torch.randn(1, 500, num_keys, head_dim, generator=generator)
    everywhere = torch.ones(4, num_keys, dtype=torch.bool).numpy()
    scaled, raw = attention_weights(q, k), (q @ k.transpose(-2, -1)).softmax(-1)
    return tuple(float(entropy(weights[0].numpy(), everywhere).mean()) for weights in (scaled, raw))


@torch.no_grad()
def forget_scale(model: EncoderDecoder) -> None:
    """Make every score of the caller's own model √head_dim times larger, as it would be without the division."""
    for module in model.modules():
        if isinstance(module, Attention):
            root = math.sqrt(module.w_q.out_features // module.num_heads)
            for parameter in module.w_q.parameters():  # weight, and bias if there is one
                parameter.mul_(root)
