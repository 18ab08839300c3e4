"""Heads by name, and the weights that belong to each one.

A head is more than its map: it owns slices of the W_Q, W_K, W_V and W_O of its layer. Written as x · W, a head's W_Q is
(input width, head size) and its W_O is (head size, d_model).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attention.config import ATTENTION_KINDS, ModelConfig
from attention.cross_attention import KV_WAYS
from attention.functional import share_kv_heads
from attention.metrics.layer_heads import HeadWeights
from attention.model import Attention, EncoderDecoder, SelfAttention


@dataclass(frozen=True, order=True)
class Head:
    """One head: its kind, its layer and its number, both from 0."""

    kind: str
    layer: int
    number: int

    def __str__(self) -> str:
        return f"{self.kind} layer {self.layer + 1} head {self.number + 1}"


# Heads that are taken away together: a single head, or a set of twins.
HeadSet = tuple[Head, ...]


def all_heads(config: ModelConfig, kinds: Iterable[str] = ATTENTION_KINDS) -> tuple[Head, ...]:
    """Every head of these kinds, in order of layer and number."""
    stacks = {"encoder": config.encoder, "decoder": config.decoder, "cross": config.decoder}
    return tuple(
        Head(kind, layer, number)
        for kind in kinds
        for layer in range(stacks[kind].num_layers)
        for number in range(stacks[kind].num_heads)
    )


def num_kv_heads(config: ModelConfig, kind: str) -> int:
    """How many K/V heads the query heads of a layer share; as many as there are heads where each has its own."""
    if kind == "cross":
        return KV_WAYS[config.kv].kv_heads_read(config)
    return (config.encoder if kind == "encoder" else config.decoder).num_kv_heads


def readers_of(config: ModelConfig, kind: str, layer: int, kv_head: int) -> HeadSet:
    """The query heads of a layer that read one K/V head (from 0): with all of them away, it is gone for that layer.

    None for a layer or a K/V head that there is not.
    """
    heads = [head for head in all_heads(config, [kind]) if head.layer == layer]
    group = max(len(heads) // num_kv_heads(config, kind), 1)
    return tuple(head for head in heads if head.number // group == kv_head)


def require_heads(config: ModelConfig, heads: Iterable[Head]) -> None:
    """Raise ValueError for a head that the model does not have."""
    known = set(all_heads(config))
    for head in heads:
        if head not in known:
            raise ValueError(f"there is no {head} in this model; it has {_counts(config)}")


def _counts(config: ModelConfig) -> str:
    enc, dec = config.encoder, config.decoder
    return (
        f"{enc.num_layers} encoder layers of {enc.num_heads} heads and "
        f"{dec.num_layers} decoder layers of {dec.num_heads}"
    )


def attention_of(model: EncoderDecoder, kind: str, layer: int) -> Attention:
    """The attention operation that holds the heads of one kind and layer."""
    if kind == "encoder":
        return model.encoder.layers[layer].attention
    layers = model.decoder.layers
    return layers[layer].attention if kind == "decoder" else layers[layer].cross


def output_slice(model: EncoderDecoder, head: Head) -> Float[Tensor, "d_model head_dim"]:
    """A view of the columns of W_O that read this head: writing to it changes the model."""
    attention = attention_of(model, head.kind, head.layer)
    return attention.w_o.weight.unflatten(1, (attention.num_heads, -1))[:, head.number]


@torch.no_grad()
def head_weights(model: EncoderDecoder, kind: str, layer: int) -> HeadWeights:
    """The weights of all heads of one kind and layer, copied."""
    attention = attention_of(model, kind, layer)
    heads = attention.num_heads
    w_q, b_q = _map(attention.w_q, heads)
    if isinstance(attention, SelfAttention):
        keys, values = (_map(linear, attention.num_kv_heads, heads) for linear in (attention.w_k, attention.w_v))
    else:
        keys, values = _maps_from_memory(model, layer)
    w_o = attention.w_o.weight.T.unflatten(0, (heads, -1))  # (heads, head_dim, d_model)
    return HeadWeights(*(x.numpy().copy() for x in (w_q, b_q, *keys, *values, w_o)))


def _map(linear: torch.nn.Linear, num_heads: int, shared_by: int | None = None) -> tuple[Tensor, Tensor]:
    """(heads, inputs, head_dim) and (heads, head_dim) of a layer that makes `num_heads` heads."""
    weight = linear.weight.unflatten(0, (num_heads, -1)).mT  # (heads, inputs, head_dim)
    bias = torch.zeros_like(weight[:, 0]) if linear.bias is None else linear.bias.unflatten(0, (num_heads, -1))
    shared_by = shared_by or num_heads
    return tuple(share_kv_heads(x[None], shared_by)[0] for x in (weight, bias))


def _maps_from_memory(model: EncoderDecoder, layer: int) -> Sequence[tuple[Tensor, Tensor]]:
    """Weight and bias of the whole way from the memory to each head's keys, and the same for its values.

    All ways do the same at each source position, linearly but for a bias. So the unit vectors are sent through, and
    what arrives are the rows of the map; a zero vector shows the bias. That holds for a way added later, too.
    """
    attention, width = attention_of(model, "cross", layer), model.config.encoder.d_model
    like = attention.w_q.weight
    probes = torch.cat([like.new_zeros(1, width), torch.eye(width).to(like)])[None]  # (1, 1 + width, width)
    everywhere = torch.ones(1, 1, 1, 1 + width, dtype=torch.bool)
    memory = model.encoder.to_memory(probes, everywhere)
    hidden = like.new_zeros(1, 1, like.shape[1])
    k, v, mask = attention.kv_way(memory, hidden, everywhere[..., :1])
    columns = 1 + width  # those of the source come first
    reads = mask[0, :, 0, :columns].expand(attention.num_heads, -1).all(-1)  # (heads,)
    maps = []
    for x in (k, v):
        x = share_kv_heads(x, attention.num_heads)[0, :, :columns]  # (heads, 1 + width, head_dim)
        x = x.masked_fill(~reads[:, None, None], torch.nan)
        maps.append((x[:, 1:] - x[:, :1], x[:, 0]))
    return maps
