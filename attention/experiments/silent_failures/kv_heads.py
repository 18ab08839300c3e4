"""Decoder heads that read the wrong keys and values: one head broadcast to all, and heads handed out in turn."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from attention.config import START, ModelConfig, StackConfig
from attention.experiments.silent_failures.demonstration import Damage, Map, SilentFailure, frozen, head_names
from attention.experiments.silent_failures.shipped_model import WIDTH
from attention.functional import attend
from attention.metrics import cosine_of_rows, off_diagonal_summary
from attention.model import EncoderDecoder
from attention.tasks import get_task


@torch.no_grad()
def broadcast_head(word: str = "knight", num_heads: int = 8, head_dim: int = 8, seed: int = 0) -> SilentFailure:
    """One encoder head meets all decoder heads: broadcasting gives them all the same keys and values.

    Beside it, the same decoder with as many encoder heads. Both have random weights, as a decoder that is trained like
    this learns to live with it: what is lost is that heads can differ in what they read.
    """
    own_kv, own_outputs = _outputs(word, num_heads, num_heads, head_dim, seed)
    one_kv, one_outputs = _outputs(word, 1, num_heads, head_dim, seed)
    own, one = (cosine_of_rows(outputs.flatten(1).numpy()) for outputs in (own_outputs, one_outputs))
    heads = head_names(num_heads)
    return SilentFailure(
        name="broadcast_head",
        wrong_code="scores = q @ k.transpose(-2, -1)  # stretches a single K/V head to all query heads",
        right_code="scores = torch.bmm(q.flatten(0, 1), k.flatten(0, 1).transpose(1, 2))  # bmm never broadcasts",
        numbers=(
            Damage("distinct_kv_heads", _num_distinct(own_kv), _num_distinct(one_kv), "count"),
            Damage("output_likeness", off_diagonal_summary(own).mean, off_diagonal_summary(one).mean, "number"),
        ),
        weights="random",
        maps=(
            Map("likeness_own", frozen(own), heads, heads, "similarity"),
            Map("likeness_one", frozen(one), heads, heads, "similarity"),
        ),
        facts=(("word", word), ("heads", num_heads)),
    )


def _outputs(word: str, encoder_heads: int, decoder_heads: int, head_dim: int, seed: int) -> tuple[Tensor, Tensor]:
    """The K/V that each decoder head meets, (heads, 2, src_len, head_dim), and its output, (heads, q_len, head_dim)."""
    task = get_task("reverse")
    source = task.read(word)
    model = EncoderDecoder(
        ModelConfig(
            encoder=StackConfig(WIDTH, encoder_heads, head_dim),
            decoder=StackConfig(WIDTH, decoder_heads, head_dim),
            kv="direct",
            src_vocab_size=len(task.src_vocab),
            tgt_vocab_size=len(task.tgt_vocab),
        ),
        seed,
    )
    encoded = model.encode(torch.tensor([task.encode_source(source)]))
    out = model.decode(torch.tensor([[START, *task.tgt_vocab.encode(source[::-1])]]), encoded)
    weights = out.maps.cross[-1]  # (1, heads, q_len, src_len)
    kv = torch.stack([encoded.memory.k[0], encoded.memory.v[0]], 1)  # (encoder heads, 2, src_len, head_dim)
    return kv.expand(decoder_heads, -1, -1, -1), (weights @ encoded.memory.v)[0]


def _num_distinct(kv: Float[Tensor, "heads 2 len dim"]) -> int:
    return len(torch.unique(kv, dim=0))


def tiled_kv(num_heads: int = 4, num_kv_heads: int = 2, seed: int = 0) -> SilentFailure:
    """K/V heads handed out 0, 1, 0, 1 instead of 0, 0, 1, 1, on Gaussian queries, keys and values.

    Right is what `scaled_dot_product_attention(enable_gqa=True)` gives (Ainslie et al. 2023, section 2.2).
    ValueError if the K/V heads do not divide the query heads.
    """
    if num_heads % num_kv_heads:
        raise ValueError(f"num_heads ({num_heads}) must be a multiple of num_kv_heads ({num_kv_heads})")
    generator = torch.Generator().manual_seed(seed)
    q = torch.randn(1, num_heads, 6, 16, generator=generator)
    k, v = torch.randn(2, 1, num_kv_heads, 7, 16, generator=generator)
    group = num_heads // num_kv_heads
    right = F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
    wrong, _ = attend(q, k.repeat(1, group, 1, 1), v.repeat(1, group, 1, 1))

    per_head = (wrong - right)[0].flatten(1).norm(dim=1) / right[0].flatten(1).norm(dim=1)  # (heads,)
    in_runs = torch.arange(num_kv_heads).repeat_interleave(group)
    in_turn = torch.arange(num_kv_heads).repeat(group)
    rows, columns = head_names(num_heads), head_names(num_kv_heads)
    return SilentFailure(
        name="tiled_kv",
        wrong_code="k = k.repeat(1, num_heads // num_kv_heads, 1, 1)  # heads 0, 1, 0, 1",
        right_code="k = k.repeat_interleave(num_heads // num_kv_heads, dim=1)  # heads 0, 0, 1, 1",
        numbers=(
            Damage("heads_misled", 0, int((per_head > 1e-3).sum()), "count"),
            Damage("output_difference", 0.0, float((wrong - right).norm() / right.norm())),
        ),
        weights="gaussian",
        maps=tuple(
            Map(name, frozen(F.one_hot(reads, num_kv_heads)), rows, columns, "readers")
            for name, reads in (("reads_right", in_runs), ("reads_wrong", in_turn))
        ),
        facts=(("heads", num_heads), ("kv_heads", num_kv_heads)),
    )
