"""What a model costs, against PyTorch's own counts of the real model."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from attention import EncoderDecoder, ModelConfig, StackConfig
from attention.comparison.costs import BYTES, costs, num_parameters, source_madds, target_madds
from attention.config import KV_VARIANTS

SRC_LEN, TGT_LEN = 11, 7
# enc heads × size, dec heads × size; every way that fits is counted
HEADS = {
    "more, same size": ((3, 5), (6, 5)),
    "more, other size": ((3, 5), (7, 2)),
    "fewer, same size": ((6, 5), (3, 5)),
    "equal": ((3, 5), (3, 5)),
}


def config(heads: str, kv: str, variant: str | None, bias: bool = True) -> ModelConfig:
    enc, dec = HEADS[heads]
    return ModelConfig(
        StackConfig(13, *enc, num_layers=2, ffn_dim=17),
        StackConfig(19, *dec, num_layers=3, ffn_dim=23),
        kv,
        variant,
        src_vocab_size=29,
        tgt_vocab_size=31,
        bias=bias,
        num_slots=5,
    )


def models():
    for heads in HEADS:
        for kv, variants in KV_VARIANTS.items():
            for variant in variants or (None,):
                for bias in (True, False):
                    try:
                        model = EncoderDecoder(config(heads, kv, variant, bias))
                    except ValueError:
                        continue
                    yield pytest.param(model, id=f"{heads}, {kv} {variant or ''}, {'with' if bias else 'no'} bias")


@pytest.mark.parametrize("model", [*models()])
def test_parameters_are_those_of_the_model(model):
    assert num_parameters(model.config) == sum(p.numel() for p in model.parameters())


@pytest.mark.parametrize("model", [*models()])
def test_multiply_adds_are_those_that_pytorch_counts(model):
    src, tgt = torch.full((1, SRC_LEN), 3), torch.full((1, TGT_LEN), 3)
    with FlopCounterMode(display=False) as whole:
        model(src, tgt)
    counted = source_madds(model.config, SRC_LEN) + target_madds(model.config, SRC_LEN, TGT_LEN)
    assert 2 * counted == whole.get_total_flops()


@pytest.mark.parametrize("model", [*models()])
def test_the_source_side_is_what_does_not_depend_on_the_target(model):
    with FlopCounterMode(display=False) as reading:
        memory = model.encode(torch.full((1, SRC_LEN), 3)).memory
        for layer in model.decoder.layers:
            layer.cross.feed.source_kv(memory)
    assert 2 * source_madds(model.config, SRC_LEN) == reading.get_total_flops()


@pytest.mark.parametrize("model", [*models()])
def test_kept_bytes_are_those_of_the_tensors_that_a_decoder_keeps(model):
    memory = model.encode(torch.full((1, SRC_LEN), 3)).memory
    kept = [layer.cross.feed.source_kv(memory) for layer in model.decoder.layers]
    if model.config.kv in ("direct", "grouped", "extra"):  # nothing of a layer's own in it: kept once for all
        for pair in kept[1:]:
            assert all(torch.equal(a, b) for a, b in zip(pair, kept[0], strict=True))
        kept = kept[:1]
    bytes_kept = sum(tensor.numel() * BYTES for pair in kept for tensor in pair)
    assert costs(model.config).kv_bytes * SRC_LEN == bytes_kept


def test_costs_per_token_are_those_of_the_stated_length():
    wanted = config("more, same size", "extra", "states")
    found = costs(wanted, length=SRC_LEN)
    assert found.source_madds == source_madds(wanted, SRC_LEN) / SRC_LEN
    assert found.target_madds == target_madds(wanted, SRC_LEN, SRC_LEN) / SRC_LEN


def test_a_small_model_by_hand():
    """One head of size 1 on width 2, one layer each, feed-forward 3, vocabularies of 4, no bias, one token each."""
    stack = StackConfig(2, 1, 1, num_layers=1, ffn_dim=3)
    small = ModelConfig(stack, stack, src_vocab_size=4, tgt_vocab_size=4)
    # block: W_Q, W_K, W_V, W_O of 2 each, 2 × 6 feed-forward, 2 norms of 2; cross: 4 × 2 and a norm of 2
    assert num_parameters(small) == (8 + 24 // 2 + 4 + 8 + 2) + (24 + 10 + 8 + 2) + 8
    assert costs(small).kv_bytes == 2 * BYTES
    # encoder: 4 × 2 projections, 2 for one cell (score and value), 12 feed-forward; K/V for the decoder: 4
    assert source_madds(small, 1) == 8 + 2 + 12 + 4
    # decoder: the same 22, W_Q and W_O 4, one cell 2, logits 8
    assert target_madds(small, 1, 1) == 22 + 4 + 2 + 8
