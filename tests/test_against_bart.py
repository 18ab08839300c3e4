"""Each kind of attention block against Hugging Face BART's, 4 encoder and 8 decoder heads, weights and biases copied.

The BART is built from a config, so nothing is downloaded. Its blocks run inside the whole model; hooks take what goes
into them and what comes out.
"""

import copy
from typing import NamedTuple

import pytest
import torch
from random_numbers import copy_linear, randomise

from attention import ModelConfig, StackConfig
from attention.cross_attention import Memory
from attention.functional import causal_mask
from attention.model import CrossAttention, SelfAttention

transformers = pytest.importorskip("transformers")

WIDTH, ENC_HEADS, DEC_HEADS = 40, 4, 8  # head sizes 10 and 5
SRC = torch.tensor([[3, 9, 4, 16, 5, 21, 2], [7, 11, 2, 1, 1, 1, 1]])  # BART pads with 1
TGT = torch.tensor([[2, 5, 11, 4, 17], [2, 4, 10, 6, 8]])
STACKS = {
    "encoder": StackConfig(d_model=WIDTH, num_heads=ENC_HEADS),
    "decoder": StackConfig(d_model=WIDTH, num_heads=DEC_HEADS),
}


class Call(NamedTuple):
    """One call of a BART attention block."""

    block: torch.nn.Module
    x: torch.Tensor
    memory: torch.Tensor | None
    mask: torch.Tensor | None
    output: torch.Tensor
    maps: torch.Tensor


@pytest.fixture(scope="module")
def calls() -> dict[str, list[Call]]:
    """What every attention block of one float64 forward pass was given and gave back, by kind and layer."""
    config = transformers.BartConfig(
        vocab_size=23,
        d_model=WIDTH,
        encoder_layers=3,
        decoder_layers=2,
        encoder_attention_heads=ENC_HEADS,
        decoder_attention_heads=DEC_HEADS,
        encoder_ffn_dim=31,
        decoder_ffn_dim=37,
        max_position_embeddings=17,
        dropout=0.0,
        attn_implementation="eager",
    )
    with torch.random.fork_rng():  # BART draws its first weights from the global generator
        model = transformers.BartModel(config).eval()
    model = randomise(model)
    seen: dict[str, list[Call]] = {"encoder": [], "decoder": [], "cross": []}

    def recorder(kind):
        def hook(block, args, kwargs, result):
            x = kwargs["hidden_states"] if "hidden_states" in kwargs else args[0]
            memory, mask = kwargs.get("key_value_states"), kwargs.get("attention_mask")
            seen[kind].append(Call(block, x, memory, mask, *result[:2]))

        return hook

    handles = []
    for kind, blocks in (
        ("encoder", [layer.self_attn for layer in model.encoder.layers]),
        ("decoder", [layer.self_attn for layer in model.decoder.layers]),
        ("cross", [layer.encoder_attn for layer in model.decoder.layers]),
    ):
        handles += [block.register_forward_hook(recorder(kind), with_kwargs=True) for block in blocks]
    with torch.no_grad():
        model(input_ids=SRC, attention_mask=(SRC != 1).long(), decoder_input_ids=TGT, use_cache=False)
    for handle in handles:
        handle.remove()
    return seen


def copied(call: Call, kind: str):
    """Our block with BART's numbers."""
    if kind == "cross":
        ours = CrossAttention(ModelConfig(**STACKS, bias=True))
        kv_side = ours.kv_way
    else:
        ours = kv_side = SelfAttention(STACKS[kind], bias=True)
    ours.double()
    block = call.block
    for mine, theirs in (
        (ours.w_q, block.q_proj), (kv_side.w_k, block.k_proj), (kv_side.w_v, block.v_proj), (ours.w_o, block.out_proj),
    ):  # fmt: skip
        assert (theirs.bias != 0).all()
        copy_linear(mine, theirs.weight, theirs.bias)
    return ours


def our_mask(kind: str) -> torch.Tensor:
    """Made from the ids by our own convention, not read off BART's additive mask."""
    if kind == "decoder":
        return causal_mask(TGT.shape[1]).expand(2, 1, -1, -1)
    return (SRC != 1)[:, None, None, :]


@torch.no_grad()
def run(ours, call: Call, kind: str, dtype, need_maps=True):
    ours, x, mask = ours.to(dtype), call.x.to(dtype), our_mask(kind)
    if kind == "cross":
        return ours(x, Memory(call.memory.to(dtype), mask), None, need_maps)
    return ours(x, mask, need_maps)


ATTENTION_KINDS = pytest.mark.parametrize(
    ("kind", "layers", "shape"),
    [("encoder", 3, (2, 4, 7, 7)), ("decoder", 2, (2, 8, 5, 5)), ("cross", 2, (2, 8, 5, 7))],
)


@ATTENTION_KINDS
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-10), (torch.float32, 1e-5)])
def test_a_block_equals_barts(calls, kind, layers, shape, dtype, tolerance):
    assert len(calls[kind]) == layers
    for call in calls[kind]:
        output, recording = run(copied(call, kind), call, kind, dtype)
        assert recording.weights.shape == call.maps.shape == shape
        # Maps that are nearly uniform would agree whatever the queries and keys are.
        assert (call.maps[0] - call.maps[0].mean(-1, keepdim=True)).abs().max() > 0.1
        torch.testing.assert_close(recording.weights, call.maps.to(dtype), rtol=0, atol=tolerance)
        torch.testing.assert_close(output, call.output.to(dtype), rtol=0, atol=tolerance)
        fused, _ = run(copied(call, kind), call, kind, dtype, need_maps=False)
        torch.testing.assert_close(fused, call.output.to(dtype), rtol=0, atol=tolerance)


@ATTENTION_KINDS
def test_the_comparison_would_see_a_wrong_head_count_or_a_lost_bias(calls, kind, layers, shape):
    """Another head count loads without an error and gives other numbers, and so does a bias left at zero."""
    call = calls[kind][0]
    right = copied(call, kind)
    wrong = copy.deepcopy(right)
    wrong.num_heads = {4: 8, 8: 4}[right.num_heads]
    (wrong.kv_way if kind == "cross" else wrong).num_kv_heads = wrong.num_heads
    unbiased = copy.deepcopy(right)
    with torch.no_grad():
        unbiased.w_q.bias.zero_()
    for spoilt in (wrong, unbiased):
        output, _ = run(spoilt, call, kind, torch.float64)
        assert (output - call.output).abs().max() > 1e-2
