"""Scores, mask, weights, output: the one place with a softmax.

Shape letters in this package:
    batch     sequences
    heads     query heads; kv_heads: key/value heads, a divisor of heads
    q_len     queries (rows of a map); kv_len: keys (columns of a map)
    head_dim  head size

A mask is boolean and True means "may attend", everywhere.
"""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor


def split_heads(x: Float[Tensor, "batch len width"], num_heads: int) -> Float[Tensor, "batch heads len dim"]:
    """Cut the last axis into heads: head h owns the features h·head_dim … (h+1)·head_dim."""
    batch, length, width = x.shape
    if num_heads < 1 or width % num_heads:
        raise ValueError(f"width ({width}) must be a multiple of the number of heads ({num_heads})")
    return x.view(batch, length, num_heads, width // num_heads).transpose(1, 2)


def merge_heads(x: Float[Tensor, "batch heads len dim"]) -> Float[Tensor, "batch len width"]:
    """Undo `split_heads`."""
    return x.transpose(1, 2).flatten(2)


def share_kv_heads(x: Float[Tensor, "batch kv_heads len dim"], num_heads: int) -> Float[Tensor, "batch heads len dim"]:
    """Let each K/V head serve a group of query heads: query head i reads K/V head i // (num_heads // kv_heads).

    The order is 0, 0, 1, 1, not 0, 1, 0, 1, as in `scaled_dot_product_attention(enable_gqa=True)`.

    Raises:
        ValueError: the query heads cannot be divided into that many groups.
    """
    kv_heads = x.shape[1]
    if not kv_heads or num_heads % kv_heads:
        raise ValueError(f"query heads ({num_heads}) must be a multiple of K/V heads ({kv_heads})")
    return x if kv_heads == num_heads else x.repeat_interleave(num_heads // kv_heads, dim=1)


def causal_mask(length: int, device: torch.device | None = None) -> Bool[Tensor, "length length"]:
    """Row i may attend to columns 0 … i."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()


def attention_scores(
    q: Float[Tensor, "batch heads q_len dim"], k: Float[Tensor, "batch kv_heads kv_len dim"]
) -> Float[Tensor, "batch heads q_len kv_len"]:
    """Scaled dot products, Q·Kᵀ / √head_dim (Vaswani et al. 2017, section 3.2.1).

    Those of 16-bit numbers are 32-bit: before it is scaled, a product of ordinary numbers already exceeds float16.

    Raises:
        ValueError: as `attend`.
    """
    _require_heads(q, k, k)
    k = share_kv_heads(k, q.shape[1])
    if q.dtype in (torch.float16, torch.bfloat16):
        q, k = q.float(), k.float()
    return q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])


def attention_weights(
    q: Float[Tensor, "batch heads q_len dim"],
    k: Float[Tensor, "batch kv_heads kv_len dim"],
    mask: Bool[Tensor, "#batch #heads #q_len kv_len"] | None = None,
) -> Float[Tensor, "batch heads q_len kv_len"]:
    """Attention weights: each row sums to 1, and a row that may attend to nothing is all zeros.

    Args:
        q, k: queries and keys; K may have fewer heads than Q, as long as the number divides (`share_kv_heads`).
        mask: True where a query may attend to a key; None: everywhere.

    Raises:
        ValueError: as `attend`.
    """
    scores = attention_scores(q, k)
    if mask is None:
        return scores.softmax(-1).to(q.dtype)
    _require_mask(mask, tuple(scores.shape))
    # A row of only −inf would give NaN, forwards and backwards. Such a row keeps its scores and is zeroed after.
    has_key = mask.any(-1, keepdim=True)
    weights = scores.masked_fill(~mask & has_key, -torch.inf).softmax(-1)
    return weights.masked_fill(~has_key, 0.0).to(q.dtype)


def dropout(x: Tensor, p: float, generator: torch.Generator | None) -> Tensor:
    """Inverted dropout that draws from `generator` (None: no dropout); `F.dropout` only knows the global one."""
    if not 0.0 <= p < 1.0:
        raise ValueError(f"the share to drop ({p}) must be at least 0 and below 1")
    if p == 0.0 or generator is None:
        return x
    keep = torch.empty_like(x).bernoulli_(1 - p, generator=generator)
    return x * keep / (1 - p)


def attend(
    q: Float[Tensor, "batch heads q_len dim"],
    k: Float[Tensor, "batch kv_heads kv_len dim"],
    v: Float[Tensor, "batch kv_heads kv_len v_dim"],
    mask: Bool[Tensor, "#batch #heads #q_len kv_len"] | None = None,
    *,
    need_weights: bool = True,
    dropout_p: float = 0.0,
    generator: torch.Generator | None = None,
) -> tuple[Float[Tensor, "batch heads q_len v_dim"], Float[Tensor, "batch heads q_len kv_len"] | None]:
    """Attention of every head: the mixed values and, where asked for, the weights that mixed them.

    Without `need_weights` PyTorch's fused `scaled_dot_product_attention` does the same work, weights unseen.
    The returned weights are those before dropout, so their rows sum to 1 also while training.

    Args:
        q, k, v: K/V may have fewer heads than Q, as long as the number divides (`share_kv_heads`).
        mask: True where a query may attend to a key.
        dropout_p: share of weights dropped, drawn from `generator`; without a generator nothing is dropped.

    Returns:
        Output and weights; the weights are None without `need_weights`.

    Raises:
        ValueError: the sizes do not fit together, or the mask is not boolean. Nothing but a mask broadcasts.
    """
    _require_heads(q, k, v)
    if mask is not None:
        _require_mask(mask, (*q.shape[:3], k.shape[2]))
    k, v = share_kv_heads(k, q.shape[1]), share_kv_heads(v, q.shape[1])
    drops = dropout_p > 0.0 and generator is not None
    if need_weights or drops:
        weights = attention_weights(q, k, mask)
        return dropout(weights, dropout_p, generator) @ v, weights if need_weights else None
    # A mask that hides nothing costs a third of the time. (On the meta device masks have shapes only.)
    if mask is None or (not mask.is_meta and mask.all()):
        return F.scaled_dot_product_attention(q, k, v), None
    # The fused kernels do not agree on what a row without keys gives; here it is zero on both paths.
    has_key = mask.any(-1, keepdim=True)
    if not mask.is_meta and has_key.all():
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask), None
    output = F.scaled_dot_product_attention(q, k, v, attn_mask=mask | ~has_key)
    return output.masked_fill(~has_key, 0.0), None


# Each would broadcast, or be read the other way round, without a word. Only shapes and types are looked at: the costs
# are counted on the meta device, where there are no numbers, and every step of a training comes through here.


def described(x: object) -> str:
    """What was given, for a sentence that refuses it."""
    return f"{x.dtype} of shape {tuple(x.shape)}" if isinstance(x, Tensor) else f"a {type(x).__name__}"


def _require_heads(q: Tensor, k: Tensor, v: Tensor) -> None:
    """Queries, keys and values that belong together: only the number of heads may differ, between Q and K/V."""
    for name, x in (("queries", q), ("keys", k), ("values", v)):
        if not isinstance(x, Tensor) or x.ndim != 4 or not x.is_floating_point():
            wanted = "a tensor of floating-point numbers of shape (batch, heads, length, head_dim)"
            raise ValueError(f"{name} must be {wanted}, not {described(x)}")
    _require_equal("batch", "queries", q.shape[0], "keys", k.shape[0])
    _require_equal("batch", "keys", k.shape[0], "values", v.shape[0])
    _require_equal("number of heads", "keys", k.shape[1], "values", v.shape[1])
    _require_equal("length", "keys", k.shape[2], "values", v.shape[2])
    _require_equal("head_dim", "queries", q.shape[3], "keys", k.shape[3])
    if not q.shape[3]:
        raise ValueError("head_dim (0) must be at least 1")


def _require_equal(what: str, name: str, size: int, other: str, other_size: int) -> None:
    if size != other_size:
        raise ValueError(f"{what} of the {other} ({other_size}) must equal that of the {name} ({size})")


def _require_mask(mask: Tensor, scores: tuple[int, ...]) -> None:
    """A boolean mask of (q_len, kv_len), with heads and batch before them or not; all but kv_len may be 1."""
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        wanted = "a tensor of torch.bool, True where a query may attend to a key"
        raise ValueError(f"the mask must be {wanted}, not {described(mask)}")
    shape = tuple(mask.shape)
    rows = zip(shape[-2::-1], scores[-2::-1], strict=False)  # (q_len, heads, batch)
    if not 2 <= len(shape) <= 4 or shape[-1] != scores[-1] or any(size not in (1, wanted) for size, wanted in rows):
        raise ValueError(
            f"the mask of shape {shape} must fit scores of shape {scores} (batch, heads, q_len, kv_len): "
            f"kv_len as it is, each of the others as it is or 1"
        )
