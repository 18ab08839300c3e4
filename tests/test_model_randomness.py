"""Where a model's numbers come from, and what running it leaves behind: nothing."""

import math
import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import numpy as np
import pytest
import torch

from attention import EncoderDecoder, ModelConfig, StackConfig, greedy_decode, trace_shapes
from attention.layers import named_generator

CONFIG = ModelConfig(
    encoder=StackConfig(d_model=11, num_heads=3, head_dim=5, num_layers=3),
    decoder=StackConfig(d_model=7, num_heads=3, head_dim=5),
    src_vocab_size=19,
    tgt_vocab_size=23,
    bias=True,
    dropout=0.5,
)
SRC, TGT = torch.tensor([[3, 9, 4, 16, 2], [7, 2, 0, 0, 0]]), torch.tensor([[1, 5, 11], [1, 4, 10]])


def same_state(one, other) -> bool:
    one, other = one.state_dict(), other.state_dict()
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("kv", ["reproject", "direct"])
def test_building_and_running_leave_the_global_generators_alone(kv):
    before = torch.get_rng_state(), random.getstate(), str(np.random.get_state())
    model = EncoderDecoder(replace(CONFIG, kv=kv), seed=5).train()
    model(SRC, TGT, generator=torch.Generator().manual_seed(0)).logits.sum().backward()
    model(SRC, TGT, need_maps=False)
    greedy_decode(model, SRC, max_len=3)
    trace_shapes(CONFIG)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert (random.getstate(), str(np.random.get_state())) == before[1:]


def test_the_seed_decides_every_weight_and_the_global_seed_none():
    torch.manual_seed(1)
    one = EncoderDecoder(CONFIG, seed=5)
    torch.manual_seed(2)
    assert same_state(one, EncoderDecoder(CONFIG, seed=5))
    other = EncoderDecoder(CONFIG, seed=6).state_dict()
    for name, tensor in one.state_dict().items():
        drawn = "norm" not in name and not name.endswith("bias")
        assert torch.equal(tensor, other[name]) != drawn, name


def test_four_threads_at_once_get_the_same_weights():
    """Each thread seeds, waits for the others and then builds, while all of them stir the global generator."""
    barrier = Barrier(4)

    def build(number):
        torch.manual_seed(number)
        barrier.wait()
        torch.rand(number + 1)
        model = EncoderDecoder(CONFIG, seed=5)
        barrier.wait()
        return model, model(SRC, TGT, generator=torch.Generator().manual_seed(7)).logits

    with ThreadPoolExecutor(4) as pool:
        built = list(pool.map(build, range(4)))
    alone = EncoderDecoder(CONFIG, seed=5)
    logits = alone(SRC, TGT, generator=torch.Generator().manual_seed(7)).logits
    for model, seen in built:
        assert same_state(model, alone) and torch.equal(seen, logits)


def test_another_way_of_feeding_keeps_every_weight_the_two_share():
    one = EncoderDecoder(CONFIG, seed=5).state_dict()
    other = EncoderDecoder(replace(CONFIG, kv="direct"), seed=5).state_dict()
    shared = one.keys() & other.keys()
    assert {name for name in one if name.startswith("encoder.")} <= shared
    assert all(torch.equal(one[name], other[name]) for name in shared)
    assert all(".kv_way." in name for name in one.keys() - shared)
    assert {name.rpartition(".")[0] for name in other.keys() - shared} == {"encoder.w_k", "encoder.w_v"}


def test_another_decoder_keeps_the_encoder():
    one = EncoderDecoder(CONFIG, seed=5).encoder
    decoder = StackConfig(d_model=13, num_heads=2, head_dim=17, num_layers=1)
    assert same_state(one, EncoderDecoder(replace(CONFIG, decoder=decoder), seed=5).encoder)


def test_keys_and_values_of_cross_attention_start_as_when_they_had_another_name():
    """An address of an untrained model shows the picture that it showed when it was shared."""
    weight = EncoderDecoder(CONFIG, seed=5).decoder.layers[0].cross.kv_way.w_k.weight
    generator = named_generator(5, "decoder.layers.0.cross.feed.w_k")
    assert torch.equal(weight, torch.empty_like(weight).normal_(std=weight.shape[1] ** -0.5, generator=generator))


def test_no_two_matrices_start_alike():
    weights = [t for t in EncoderDecoder(CONFIG).state_dict().values() if t.dim() == 2]
    beginnings = {tuple((w.flatten()[:4] / w.std()).round(decimals=4).tolist()) for w in weights}
    assert len(beginnings) == len(weights)


def test_matrices_start_at_the_size_that_keeps_scores_at_unit_size():
    """Variance 1 / inputs, and W_O and the second feed-forward matrix smaller by √(2 · layers).

    Token embeddings are half as loud as the sinusoids beside them, whose mean square is 1/2: variance 1/8.
    """
    wide = StackConfig(d_model=97, num_heads=3, head_dim=41, num_layers=5, ffn_dim=101)
    narrow = StackConfig(d_model=89, num_heads=5, head_dim=37, num_layers=2, ffn_dim=103)
    config = ModelConfig(wide, narrow, src_vocab_size=83, tgt_vocab_size=79, bias=True)
    for name, weight in EncoderDecoder(config, seed=3).named_parameters():
        if weight.dim() == 1:
            expected = float("norm" in name and name.endswith("weight"))
            assert (weight == expected).all(), name
            continue
        std = math.sqrt(1 / 8) if "tokens" in name else weight.shape[1] ** -0.5
        if name.endswith(("w_o.weight", "w_down.weight")):
            std /= math.sqrt(2 * (5 if name.startswith("encoder") else 2))
        # The sample's own error is std / √(2n); five of those.
        assert abs(weight.std().item() / std - 1) < 5 / math.sqrt(2 * weight.numel()), name
        assert abs(weight.mean().item()) < 5 * std / math.sqrt(weight.numel()), name


def test_training_with_dropout_is_repeatable_and_draws_from_the_generator():
    model = EncoderDecoder(CONFIG).train()

    def run(seed):
        return model(SRC, TGT, generator=torch.Generator().manual_seed(seed)).logits

    assert torch.equal(run(1), run(1))
    assert not torch.allclose(run(1), run(2)) and not torch.allclose(run(1), model(SRC, TGT).logits)
    assert torch.equal(model(SRC, TGT).logits, model.eval()(SRC, TGT).logits)


def test_maps_are_those_before_dropout():
    """Rows sum to 1 in the middle of training, and the first layer's maps, which no dropout reaches, are unchanged."""
    model = EncoderDecoder(CONFIG).train()
    out = model(SRC, TGT, generator=torch.Generator().manual_seed(1))
    plain = model(SRC, TGT)
    assert not torch.allclose(out.logits, plain.logits)
    for kind in out.maps:
        for layer in kind:
            torch.testing.assert_close(layer.sum(-1), torch.ones(layer.shape[:3]), rtol=0, atol=1e-6)
    for kind in ("encoder", "decoder"):
        assert torch.equal(getattr(out.maps, kind)[0], getattr(plain.maps, kind)[0])
    assert not torch.allclose(out.maps.encoder[1], plain.maps.encoder[1])


def test_maps_asked_for_or_not_the_same_dropout_is_drawn():
    model = EncoderDecoder(CONFIG).train()
    with_maps, without = (
        model(SRC, TGT, need_maps=need, generator=torch.Generator().manual_seed(1)).logits for need in (True, False)
    )
    torch.testing.assert_close(with_maps, without, rtol=0, atol=1e-6)


@pytest.mark.parametrize("kv", ["reproject", "direct"])
def test_nothing_is_kept_on_a_module(kv):
    model = EncoderDecoder(replace(CONFIG, kv=kv)).train()

    def snapshot():
        return {
            name: {key: (id(value), repr(value)) for key, value in vars(module).items()}
            for name, module in model.named_modules()
        }

    before = snapshot()
    model(SRC, TGT, generator=torch.Generator().manual_seed(0))
    model.decode(TGT, model.encode(SRC))
    greedy_decode(model, SRC, max_len=3)
    assert snapshot() == before
    assert not list(model.buffers())
