"""Cross-attention of real architectures whose two sides differ, with their weights and their own inputs.

T5Gemma: unequal widths and head counts, and grouped K/V heads. TrOCR's decoder: reads a memory of another width. Both
are built from a config, so nothing is downloaded; hooks take what goes into the blocks and what comes out.
"""

import pytest
import torch
from random_numbers import copy_linear, randn, randomise

from attention import ModelConfig, StackConfig
from attention.cross_attention import Memory
from attention.model import CrossAttention

transformers = pytest.importorskip("transformers")

TGT = torch.tensor([[2, 5, 11, 4, 17], [2, 4, 10, 6, 8]])
SRC = torch.tensor([[3, 9, 4, 16, 5, 21, 2], [7, 11, 2, 0, 0, 0, 0]])


def hooked(model, blocks, **inputs):
    """(keyword arguments, output) of each block in one float64 forward pass."""
    seen = []
    handles = [
        block.register_forward_hook(lambda block, args, kwargs, out: seen.append((kwargs, out)), with_kwargs=True)
        for block in blocks
    ]
    with torch.no_grad():
        model(**inputs)
    for handle in handles:
        handle.remove()
    return seen


def new_model(make):
    with torch.random.fork_rng():  # its first weights come from the global generator
        return randomise(make().eval())


def t5gemma():
    """Encoder 30 wide with 6 heads on 3 K/V heads, decoder 28 wide with 4 heads on 2, all of size 10."""
    shared = {
        "vocab_size": 23, "head_dim": 10, "query_pre_attn_scalar": 10, "attn_logit_softcapping": None,
        "sliding_window": 64, "max_position_embeddings": 64, "pad_token_id": 0, "attention_bias": False,
    }  # fmt: skip
    encoder = {"hidden_size": 30, "num_attention_heads": 6, "num_key_value_heads": 3, "num_hidden_layers": 2}
    decoder = {"hidden_size": 28, "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 3}
    config = transformers.T5GemmaConfig(
        encoder={**shared, **encoder, "intermediate_size": 31},
        decoder={**shared, **decoder, "intermediate_size": 37},
        attn_implementation="eager",
    )
    model = new_model(lambda: transformers.T5GemmaModel(config))
    blocks = [layer.cross_attn for layer in model.decoder.layers]
    seen = hooked(
        model, blocks, input_ids=SRC, attention_mask=(SRC != 0).long(), decoder_input_ids=TGT, use_cache=False
    )
    ours = ModelConfig(StackConfig(30, 6, 10, num_kv_heads=3), StackConfig(28, 4, 10, num_kv_heads=2), bias=False)
    calls = [(kwargs["hidden_states"], kwargs["encoder_hidden_states"], out[0], out[1]) for kwargs, out in seen]
    return ours, blocks, "o_proj", calls, (SRC != 0)[:, None, None]


def trocr():
    """A decoder 24 wide with 4 heads of size 6 that reads a memory 33 wide."""
    config = transformers.TrOCRConfig(
        vocab_size=23, d_model=24, decoder_layers=3, decoder_attention_heads=4, decoder_ffn_dim=37,
        cross_attention_hidden_size=33, max_position_embeddings=64, dropout=0.0, use_learned_position_embeddings=True,
    )  # fmt: skip
    model = new_model(lambda: transformers.TrOCRForCausalLM(config))
    blocks = [layer.encoder_attn for layer in model.model.decoder.layers]
    seen = hooked(
        model, blocks, input_ids=TGT, encoder_hidden_states=randn(2, 7, 33),
        encoder_attention_mask=(SRC != 0).long(), use_cache=False, output_attentions=True,
    )  # fmt: skip
    ours = ModelConfig(StackConfig(33, 3, 11), StackConfig(24, 4, 6), bias=True)
    calls = [(kwargs["hidden_states"], kwargs["key_value_states"], out[0], out[1]) for kwargs, out in seen]
    return ours, blocks, "out_proj", calls, (SRC != 0)[:, None, None]


@pytest.mark.parametrize(
    ("build", "dtype", "tolerance"),
    [
        (t5gemma, torch.float64, 2e-6),  # its softmax is always a 32-bit one
        (t5gemma, torch.float32, 1e-5),
        (trocr, torch.float64, 1e-10),
        (trocr, torch.float32, 1e-5),
    ],
)
@torch.no_grad()
def test_cross_attention_between_unequal_sides(build, dtype, tolerance):
    config, blocks, output_name, calls, mask = build()
    assert len(calls) == len(blocks) == 3
    for block, (x, memory, output, maps) in zip(blocks, calls, strict=True):
        ours = CrossAttention(config).double()
        pairs = (
            (ours.w_q, block.q_proj), (ours.kv_way.w_k, block.k_proj), (ours.kv_way.w_v, block.v_proj),
            (ours.w_o, getattr(block, output_name)),
        )  # fmt: skip
        for mine, theirs in pairs:
            copy_linear(mine, theirs.weight, theirs.bias)
        ours, given = ours.to(dtype), Memory(memory.to(dtype), mask)
        found, recording = ours(x.to(dtype), given, None)
        fused, _ = ours(x.to(dtype), given, None, False)
        spread = recording.weights[0] - recording.weights[0].mean(-1, keepdim=True)
        assert spread.abs().max() > 0.05  # uniform maps would always agree
        for mine, theirs in ((recording.weights, maps), (found, output), (fused, output)):
            assert mine.shape == theirs.shape
            torch.testing.assert_close(mine, theirs.to(dtype), rtol=0, atol=tolerance)
