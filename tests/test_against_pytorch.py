"""Attention blocks and whole layers against PyTorch's own, with copied weights and biases that are not zero."""

from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F
from random_numbers import copy_linear, randn, random_mask, randomise
from torch import nn

from attention import EncoderDecoder, ModelConfig, StackConfig
from attention.cross_attention import Memory
from attention.functional import attend, causal_mask
from attention.model import CrossAttention, SelfAttention

PRECISIONS = pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-10), (torch.float32, 1e-5)])


def close(actual, expected, tolerance=1e-10):
    torch.testing.assert_close(actual, expected, rtol=0, atol=tolerance)


def make_pair(dtype, *, heads, head_dim, bias, memory_width=None):
    """One of PyTorch's multi-head attentions and ours with the same numbers; cross-attention if a width is given."""
    width = heads * head_dim
    theirs = nn.MultiheadAttention(
        width, heads, bias=bias, kdim=memory_width, vdim=memory_width, batch_first=True, dtype=torch.float64
    )
    randomise(theirs)
    stack = StackConfig(d_model=width, num_heads=heads)
    if memory_width is None:
        ours = kv_side = SelfAttention(stack, bias=bias)
        weights = theirs.in_proj_weight.chunk(3)
    else:
        encoder = StackConfig(d_model=memory_width, num_heads=1)
        ours = CrossAttention(ModelConfig(encoder=encoder, decoder=stack, bias=bias))
        kv_side = ours.kv_way
        weights = theirs.q_proj_weight, theirs.k_proj_weight, theirs.v_proj_weight
    biases = theirs.in_proj_bias.chunk(3) if bias else (None, None, None)
    ours.double()
    for layer, weight, offset in zip((ours.w_q, kv_side.w_k, kv_side.w_v), weights, biases, strict=True):
        copy_linear(layer, weight, offset)
    copy_linear(ours.w_o, theirs.out_proj.weight, theirs.out_proj.bias)
    return ours.to(dtype), theirs.to(dtype)


@PRECISIONS
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("causal", [True, False])
def test_self_attention_equals_multihead_attention(dtype, tolerance, bias, causal):
    ours, theirs = make_pair(dtype, heads=3, head_dim=5, bias=bias)
    x = randn(2, 7, 15).to(dtype)
    allowed = torch.ones(2, 7, dtype=torch.bool)
    allowed[1, 4:] = False
    mask = allowed[:, None, None, :]
    if causal:
        mask = mask & causal_mask(7)
    # PyTorch's masks say where *not* to look.
    blocked = ~causal_mask(7) if causal else None
    expected, expected_maps = theirs(
        x, x, x, key_padding_mask=~allowed, attn_mask=blocked, need_weights=True, average_attn_weights=False
    )
    output, recording = ours(x, mask)
    assert recording.weights.shape == (2, 3, 7, 7)
    close(output, expected, tolerance)
    close(recording.weights, expected_maps, tolerance)
    close(ours(x, mask, need_maps=False)[0], expected, tolerance)


@PRECISIONS
@pytest.mark.parametrize("bias", [True, False])
def test_cross_attention_to_another_width_equals_multihead_attention(dtype, tolerance, bias):
    ours, theirs = make_pair(dtype, heads=3, head_dim=5, bias=bias, memory_width=11)
    x, hidden = randn(2, 7, 15).to(dtype), randn(2, 13, 11, seed=1).to(dtype)
    allowed = random_mask(2, 13)
    expected, expected_maps = theirs(
        x, hidden, hidden, key_padding_mask=~allowed, need_weights=True, average_attn_weights=False
    )
    memory = Memory(hidden, allowed[:, None, None, :])
    output, recording = ours(x, memory, None)
    assert recording.weights.shape == (2, 3, 7, 13)
    close(output, expected, tolerance)
    close(recording.weights, expected_maps, tolerance)
    close(ours(x, memory, None, need_maps=False)[0], expected, tolerance)


@pytest.mark.parametrize("memory_width", [None, 11])
def test_gradients_equal_those_of_multihead_attention(memory_width):
    ours, theirs = make_pair(torch.float64, heads=3, head_dim=5, bias=True, memory_width=memory_width)
    gradients = []
    for run in (
        lambda x, hidden: ours(
            x, *([None] if memory_width is None else [Memory(hidden, random_mask(2, 1, 1, 13)), None])
        )[0],
        lambda x, hidden: theirs(
            x, hidden, hidden, key_padding_mask=None if memory_width is None else ~random_mask(2, 1, 1, 13)[:, 0, 0]
        )[0],
    ):
        x = randn(2, 7, 15).requires_grad_()
        hidden = x if memory_width is None else randn(2, 13, memory_width, seed=1).requires_grad_()
        (run(x, hidden) * randn(2, 7, 15, seed=2)).sum().backward()
        gradients.append((x.grad, hidden.grad))
    for mine, reference in zip(*gradients, strict=True):
        close(mine, reference)


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("mask_shape", [None, (5, 11), (2, 1, 1, 11), (2, 3, 5, 11)])
@PRECISIONS
def test_attend_equals_scaled_dot_product_attention(dtype, tolerance, mask_shape, need_weights):
    q, k, v = (randn(2, 3, *shape, seed=i).to(dtype) for i, shape in enumerate([(5, 7), (11, 7), (11, 13)]))
    mask = None if mask_shape is None else random_mask(*mask_shape)
    output, weights = attend(q, k, v, mask, need_weights=need_weights)
    close(output, F.scaled_dot_product_attention(q, k, v, attn_mask=mask), tolerance)
    if need_weights:
        # Values that are the identity make SDPA give away its weights.
        identity = torch.eye(11, dtype=dtype).expand(2, 3, 11, 11)
        close(weights, F.scaled_dot_product_attention(q, k, identity, attn_mask=mask), tolerance)


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize(("heads", "kv_heads"), [(4, 2), (6, 2), (6, 3), (5, 1), (7, 7)])
@PRECISIONS
def test_shared_kv_heads_equal_enable_gqa(dtype, tolerance, heads, kv_heads, need_weights):
    q = randn(2, heads, 5, 7).to(dtype)
    k, v = randn(2, kv_heads, 11, 7, seed=1).to(dtype), randn(2, kv_heads, 11, 13, seed=2).to(dtype)
    mask = random_mask(2, 1, 5, 11)
    output, _ = attend(q, k, v, mask, need_weights=need_weights)
    close(output, F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True), tolerance)
    if 1 < kv_heads < heads:
        tiled = (x.repeat(1, heads // kv_heads, 1, 1) for x in (k, v))
        assert not torch.allclose(output, F.scaled_dot_product_attention(q, *tiled, attn_mask=mask), atol=1e-2)


@pytest.mark.parametrize(("heads", "head_dim", "kv_heads", "width"), [(4, 24, 2, 64), (6, 10, 3, 12), (6, 5, 2, 13)])
def test_grouped_self_attention_of_any_total_width_equals_sdpa(heads, head_dim, kv_heads, width):
    stack = StackConfig(d_model=width, num_heads=heads, head_dim=head_dim, num_kv_heads=kv_heads)
    ours = randomise(SelfAttention(stack, bias=True))
    x, mask = randn(2, 7, width), causal_mask(7)
    q, k, v = (
        F.linear(x, layer.weight, layer.bias).unflatten(-1, (count, head_dim)).transpose(1, 2)
        for layer, count in ((ours.w_q, heads), (ours.w_k, kv_heads), (ours.w_v, kv_heads))
    )
    mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    expected = F.linear(mixed.transpose(1, 2).reshape(2, 7, heads * head_dim), ours.w_o.weight, ours.w_o.bias)
    assert ours.w_o.weight.shape == (width, heads * head_dim)
    close(ours(x, mask)[0], expected)
    close(ours(x, mask, need_maps=False)[0], expected)
    assert ours(x, mask)[1].weights.shape == (2, heads, 7, 7)


def test_a_group_size_of_one_is_plain_attention():
    plain = StackConfig(d_model=13, num_heads=3, head_dim=5)
    grouped = StackConfig(d_model=13, num_heads=3, head_dim=5, num_kv_heads=3)
    x = randn(2, 7, 13)
    one, other = (randomise(SelfAttention(stack, bias=True)) for stack in (plain, grouped))
    assert torch.equal(one(x)[0], other(x)[0])


def test_one_kv_head_equals_plain_attention_with_that_head_copied():
    shared = randomise(SelfAttention(StackConfig(d_model=13, num_heads=3, head_dim=5, num_kv_heads=1), bias=True))
    full = SelfAttention(StackConfig(d_model=13, num_heads=3, head_dim=5), bias=True).double()
    copy_linear(full.w_q, shared.w_q.weight, shared.w_q.bias)
    copy_linear(full.w_o, shared.w_o.weight, shared.w_o.bias)
    for mine, theirs in ((full.w_k, shared.w_k), (full.w_v, shared.w_v)):
        copy_linear(mine, theirs.weight.repeat(3, 1), theirs.bias.repeat(3))
    x = randn(2, 7, 13)
    (expected, seen), (output, recording) = full(x), shared(x)
    close(output, expected)
    close(recording.weights, seen.weights)


def pytorch_layers(model: EncoderDecoder) -> SimpleNamespace:
    """PyTorch's pre-norm layers with the numbers of `model`, which has equal widths and plain heads throughout."""
    enc, dec = model.config.encoder, model.config.decoder
    options = {"dropout": 0.0, "activation": "gelu", "batch_first": True, "norm_first": True, "dtype": torch.float64}

    def fill(attention, theirs, kv_side):
        theirs.in_proj_weight.copy_(torch.cat([attention.w_q.weight, kv_side.w_k.weight, kv_side.w_v.weight]))
        theirs.in_proj_bias.copy_(torch.cat([attention.w_q.bias, kv_side.w_k.bias, kv_side.w_v.bias]))
        copy_linear(theirs.out_proj, attention.w_o.weight, attention.w_o.bias)

    found = SimpleNamespace(encoder=[], decoder=[])
    with torch.no_grad():
        for layer in model.encoder.layers:
            theirs = nn.TransformerEncoderLayer(enc.d_model, enc.num_heads, enc.ffn_dim, **options)
            fill(layer.attention, theirs.self_attn, layer.attention)
            norms = (layer.norm_attention, theirs.norm1), (layer.norm_ffn, theirs.norm2)
            for mine, other in (*norms, (layer.ffn.w_up, theirs.linear1), (layer.ffn.w_down, theirs.linear2)):
                copy_linear(other, mine.weight, mine.bias)
            found.encoder.append(theirs)
        for layer in model.decoder.layers:
            theirs = nn.TransformerDecoderLayer(dec.d_model, dec.num_heads, dec.ffn_dim, **options)
            fill(layer.attention, theirs.self_attn, layer.attention)
            fill(layer.cross, theirs.multihead_attn, layer.cross.kv_way)
            norms = zip(
                (layer.norm_attention, layer.norm_cross, layer.norm_ffn),
                (theirs.norm1, theirs.norm2, theirs.norm3),
                strict=True,
            )
            for mine, other in (*norms, (layer.ffn.w_up, theirs.linear1), (layer.ffn.w_down, theirs.linear2)):
                copy_linear(other, mine.weight, mine.bias)
            found.decoder.append(theirs)
    return found


@pytest.mark.parametrize("need_maps", [True, False])
@pytest.mark.parametrize(("enc_heads", "dec_heads"), [(3, 5), (5, 3), (1, 15), (15, 1)])
def test_whole_stacks_equal_pytorchs_encoder_and_decoder_layers(enc_heads, dec_heads, need_maps):
    """Also with unequal head counts: the textbook Transformer does not mind."""
    config = ModelConfig(
        encoder=StackConfig(d_model=15, num_heads=enc_heads, num_layers=3, ffn_dim=17),
        decoder=StackConfig(d_model=15, num_heads=dec_heads, num_layers=2, ffn_dim=19),
        src_vocab_size=23,
        tgt_vocab_size=29,
        bias=True,
    )
    model = randomise(EncoderDecoder(config))
    src = torch.tensor([[3, 9, 4, 16, 2, 21, 5], [7, 2, 0, 0, 0, 0, 0]])
    tgt = torch.tensor([[1, 5, 11, 4, 28], [1, 4, 10, 0, 0]])
    theirs = pytorch_layers(model)
    x, y = model.encoder.embedding(src), model.decoder.embedding(tgt)
    for layer in theirs.encoder:
        x = layer(x, src_key_padding_mask=src == 0)
    memory = F.layer_norm(x, (15,), model.encoder.norm.weight, model.encoder.norm.bias)
    for layer in theirs.decoder:
        y = layer(
            y,
            memory,
            tgt_mask=~causal_mask(5),
            tgt_key_padding_mask=tgt == 0,
            memory_key_padding_mask=src == 0,
        )
    y = F.layer_norm(y, (15,), model.decoder.norm.weight, model.decoder.norm.bias)
    expected = F.linear(y, model.decoder.to_logits.weight, model.decoder.to_logits.bias)
    real = tgt != 0
    close(model(src, tgt, need_maps=need_maps).logits[real], expected[real])
    close(model.encode(src, need_maps).memory.hidden[src != 0], memory[src != 0])
