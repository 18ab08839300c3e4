"""Heads whose redundancy is known: a head copied over another, in its own basis or in a different one, and folded away.

A copy contributes the same as the original, whatever basis it is written in, so a measure that misses it is fooled by
the basis. A head with the same pattern and other values is the reverse trap: maps alike, contributions not.
"""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from attention.ablation.sharing import sharing_copy
from attention.inspection.heads import Head, attention_of, head_weights, output_slice, require_heads
from attention.layers import named_generator
from attention.messages import Message, MessageError
from attention.model import Attention, EncoderDecoder, SelfAttention

PLAIN, ROTATED, REBASED, PATTERN = "plain", "rotated", "rebased", "pattern"
WAYS = (PLAIN, ROTATED, REBASED, PATTERN)


def copy_head(
    model: EncoderDecoder, source: Head, target: Head, way: str = PLAIN, *, condition: float = 10.0, seed: int = 0
) -> EncoderDecoder:
    """A copy of `model` whose head `target` does what `source` does.

    Args:
        way: `plain`: the same numbers. `rotated`: (W_Q · M, W_K · M⁻ᵀ) and (W_V · N, N⁻¹ · W_O), biases likewise, with
            random rotations M and N. `rebased`: the same with random invertible M and N. `pattern`: W_Q and W_K only,
            so that it looks at the same places and contributes other values, as before.
        condition: of M and N when re-based: how much more they stretch one direction than another, at most.

    Raises:
        ValueError: heads of different layers or kinds, the same head twice, or an unknown way.
        MessageError: a target that shares its keys and values with others, so that they cannot be rewritten for it.
    """
    _check(model, source, target, way, condition)
    model = sharing_copy(model, attention_of(model, source.kind, source.layer).parameters())
    attention = attention_of(model, source.kind, source.layer)
    m, n = _bases(attention, way, condition, seed)
    own, turned = _own_maps(attention), way in (ROTATED, REBASED)
    if own is None or (turned and own[0].out_features != attention.w_q.out_features):
        if turned or not _share(model, source, target):
            raise MessageError(
                Message.of(
                    "shares_keys",
                    f"{target} shares its keys and values with other heads or layers, so they cannot be rewritten for "
                    f"it alone; choose a {PLAIN} copy of a head that reads the same keys, or a model in which each "
                    "head has its own",
                    kind=target.kind,
                    layer=target.layer + 1,
                    head=target.number + 1,
                )
            )
    else:
        keys, values = own
        _rewrite(keys, attention.num_heads, source, target, torch.linalg.inv(m) if turned else None)
        if way != PATTERN:
            _rewrite(values, attention.num_heads, source, target, n.T if turned else None)
    _rewrite(attention.w_q, attention.num_heads, source, target, m.T if turned else None)
    if way != PATTERN:
        with torch.no_grad():
            written = output_slice(model, source).double() @ torch.linalg.inv(n).T  # (d_model, head_dim)
            output_slice(model, target).copy_(written)
    return model


class Folded(NamedTuple):
    """A model with one head folded into another, and how far their values were from being the same up to a basis.

    `misfit` is the length of what could not be matched over the length of the removed head's W_V: 0 for a twin.
    """

    model: EncoderDecoder
    misfit: float


def fold(model: EncoderDecoder, survivor: Head, removed: Head) -> Folded:
    """Take `removed` away and give its slice of W_O to `survivor`, translated into the survivor's basis.

    The contributions of twins add, so the survivor has to contribute both: W_O + N · W_O′, where W_V′ = W_V · N
    (N by least squares, biases included). For twins nothing changes. For heads with different patterns it is wrong,
    whatever the misfit, as the survivor goes on looking where it looks.

    Raises:
        ValueError: heads of different layers or kinds, the same head twice, or values that are not a map of the memory.
    """
    _check(model, survivor, removed)
    weights = head_weights(model, survivor.kind, survivor.layer)
    values = np.concatenate([weights.w_v, weights.b_v[:, None]], axis=1).astype(np.float64)  # (heads, width + 1, dim)
    kept, gone = values[survivor.number], values[removed.number]
    if not np.isfinite(kept).all() or not np.isfinite(gone).all():
        raise ValueError(f"{survivor} and {removed} do not both read the source, so one cannot stand in for the other")
    n = np.linalg.lstsq(kept, gone, rcond=None)[0]  # (head_dim, head_dim)
    length = np.linalg.norm(gone)
    misfit = float(np.linalg.norm(gone - kept @ n) / length) if length else 0.0
    model = sharing_copy(model, [attention_of(model, survivor.kind, survivor.layer).w_o.weight])
    with torch.no_grad():
        taken = output_slice(model, removed)
        output_slice(model, survivor).add_(taken.double() @ torch.from_numpy(n).T)
        taken.zero_()
    return Folded(model, misfit)


def random_basis(size: int, condition: float, generator: torch.Generator) -> Float[Tensor, "size size"]:
    """A random invertible matrix, float64: two random rotations around a stretch from 1/√condition to √condition."""
    left, right = (random_rotation(size, generator) for _ in range(2))
    if size == 1:
        return left * condition**0.5
    return left * torch.logspace(-0.5, 0.5, size, base=condition, dtype=torch.float64) @ right


def random_rotation(size: int, generator: torch.Generator) -> Float[Tensor, "size size"]:
    """A random orthogonal matrix, float64, reflections included."""
    return torch.linalg.qr(torch.randn(size, size, dtype=torch.float64, generator=generator))[0]


def _check(model: EncoderDecoder, source: Head, target: Head, way: str = PLAIN, condition: float = 1.0) -> None:
    require_heads(model.config, (source, target))
    if (source.kind, source.layer) != (target.kind, target.layer) or source == target:
        raise ValueError(f"{source} and {target} must be two heads of the same kind and layer")
    if way not in WAYS:
        raise ValueError(f"way ({way!r}) must be one of {', '.join(WAYS)}")
    if not 1.0 <= condition < float("inf"):
        raise ValueError(f"condition ({condition}) must be at least 1, and finite")


def _bases(attention: Attention, way: str, condition: float, seed: int) -> tuple[Tensor, Tensor]:
    """M for queries and keys, N for values and outputs."""
    size = attention.w_q.out_features // attention.num_heads
    generators = [named_generator(seed, f"twin/{name}") for name in "MN"]
    if way == ROTATED:
        return tuple(random_rotation(size, generator) for generator in generators)
    if way == REBASED:
        return tuple(random_basis(size, condition, generator) for generator in generators)
    return torch.eye(size, dtype=torch.float64), torch.eye(size, dtype=torch.float64)


def _own_maps(attention: Attention) -> tuple[nn.Linear, nn.Linear] | None:
    """The layers that make keys and values for each query head by itself; None where heads or layers share them.

    Each head has as many rows of them as it has features, or (mixtures of whole heads) one.
    """
    holder = attention if isinstance(attention, SelfAttention) else attention.kv_way
    if hasattr(holder, "map_k"):
        return holder.map_k, holder.map_v
    if hasattr(holder, "w_k") and holder.w_k.out_features == attention.w_q.out_features:
        return holder.w_k, holder.w_v
    return None


def _share(model: EncoderDecoder, source: Head, target: Head) -> bool:
    """Whether two heads read the very same keys and values."""
    weights = head_weights(model, source.kind, source.layer)
    fields = (weights.w_k, weights.b_k, weights.w_v, weights.b_v)
    return all(np.array_equal(x[source.number], x[target.number]) for x in fields)


@torch.no_grad()
def _rewrite(linear: nn.Linear, num_heads: int, source: Head, target: Head, change: Tensor | None = None) -> None:
    """Let `target` have what `source` has, followed by `change` where given: (head_dim, head_dim), outputs first."""
    for x in (linear.weight, linear.bias):
        if x is not None:
            per_head = x.unflatten(0, (num_heads, -1))
            original = per_head[source.number]
            per_head[target.number].copy_(original if change is None else change @ original.double())
