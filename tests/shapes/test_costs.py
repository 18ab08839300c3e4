"""What a model costs: counts on the meta device against formulas, against the real model, and against hand work."""

import subprocess
import sys

import cost_formulas
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from attention import EncoderDecoder, ModelConfig, StackConfig
from attention.cache import DecoderCache, kept_kv, kept_tensors, occupied_bytes
from attention.config import KV_VARIANTS
from attention.cross_attention import fits
from attention.shapes.costs import BYTES, costs, multiply_adds, num_kv_parameters, num_parameters

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


@pytest.mark.sample(11)
@pytest.mark.parametrize("model", [*models()])
def test_counts_are_those_of_the_formulas_and_of_the_model(model):
    config = model.config
    weights = sum(p.numel() for p in model.parameters())
    assert num_parameters(config) == cost_formulas.num_parameters(config) == weights
    source, target = multiply_adds(config, SRC_LEN, TGT_LEN)
    assert source == cost_formulas.source_madds(config, SRC_LEN)
    assert target == cost_formulas.target_madds(config, SRC_LEN, TGT_LEN)
    with FlopCounterMode(display=False) as whole:
        model(torch.full((1, SRC_LEN), 3), torch.full((1, TGT_LEN), 3))
    assert 2 * (source + target) == whole.get_total_flops()


@pytest.mark.parametrize("model", [*models()])
def test_weights_of_keys_and_values_are_those_that_are_trained_for_them(model):
    """By their names: those of the K/V way, and the encoder's one W_K and one W_V."""
    names = [name for name, _ in model.named_parameters() if ".kv_way." in name or name.startswith("encoder.w_")]
    assert num_kv_parameters(model.config) == sum(model.get_parameter(name).numel() for name in names)


@pytest.mark.sample(11)
@pytest.mark.parametrize("model", [*models()])
def test_the_forward_pass_runs_where_tensors_have_shapes_only(model):
    """On both paths, and to the shapes of a real run."""
    with torch.device("meta"):
        twin = EncoderDecoder(model.config, seed=None)
    ids = [torch.full((2, length), 3) for length in (SRC_LEN, TGT_LEN)]
    real, shapes = model(*ids), twin(*(x.to("meta") for x in ids))
    assert shapes.logits.is_meta and shapes.logits.shape == real.logits.shape
    assert [x.shape for kind in shapes.maps for x in kind] == [x.shape for kind in real.maps for x in kind]
    assert twin(*(x.to("meta") for x in ids), need_maps=False).logits.shape == real.logits.shape


@pytest.mark.sample(11)
@pytest.mark.parametrize("model", [*models()])
def test_kept_bytes_are_those_of_the_tensors_that_cross_attention_reads_again(model):
    memory = model.encode(torch.full((1, SRC_LEN), 3)).memory
    cache = DecoderCache.empty(model.config, memory)
    model.step(torch.full((1, TGT_LEN), 3), cache)
    kept = kept_tensors(cache)
    read = kept["source"] or kept["handed_over"]
    assert costs(model.config).kv_bytes * SRC_LEN == kept_kv(model.config) * BYTES * SRC_LEN == occupied_bytes(*read)


@pytest.mark.parametrize("kv", KV_VARIANTS)
def test_what_does_not_fit_has_an_upper_bound_of_weights(kv):
    """No less than the formulas say of it."""
    for variant in KV_VARIANTS[kv] or (None,):
        for enc, dec in (((6, 5), (4, 5)), ((4, 5), (6, 2)), ((6, 5), (4, 2))):
            broken = ModelConfig(StackConfig(13, *enc), StackConfig(19, *dec), kv, variant, bias=True)
            if not fits(broken):
                assert num_parameters(broken) >= cost_formulas.num_parameters(broken)


def test_costs_per_token_are_those_of_the_stated_length():
    wanted = config("more, same size", "extra", "states")
    found, (source, target) = costs(wanted, length=SRC_LEN), multiply_adds(wanted, SRC_LEN, SRC_LEN)
    assert (found.source_madds, found.target_madds) == (source / SRC_LEN, target / SRC_LEN)


def test_a_small_model_by_hand():
    """One head of size 1 on width 2, one layer each, feed-forward 3, vocabularies of 4, no bias, one token each."""
    stack = StackConfig(2, 1, 1, num_layers=1, ffn_dim=3)
    small = ModelConfig(stack, stack, src_vocab_size=4, tgt_vocab_size=4)
    # block: W_Q, W_K, W_V, W_O of 2 each, 2 × 6 feed-forward, 2 norms of 2; cross: 4 × 2 and a norm of 2
    assert num_parameters(small) == (8 + 24 // 2 + 4 + 8 + 2) + (24 + 10 + 8 + 2) + 8
    assert costs(small).kv_bytes == 2 * BYTES
    # encoder: 4 × 2 projections, 2 for one cell (score and value), 12 feed-forward; K/V for the decoder: 4
    # decoder: the same 22, W_Q and W_O 4, one cell 2, logits 8
    assert multiply_adds(small, 1, 1) == (8 + 2 + 12 + 4, 22 + 4 + 2 + 8)


def test_the_counter_is_imported_when_something_is_counted():
    code = "import sys, attention.shapes.costs; sys.exit('torch.utils.flop_counter' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
