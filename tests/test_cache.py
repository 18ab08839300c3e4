"""What decoding keeps between two steps, against the tensors themselves and against sizes by hand."""

from dataclasses import replace

import torch
from few_examples import COSTLY
from hypothesis import given
from hypothesis import strategies as st
from random_configs import configs, ids

from attention import EncoderDecoder, ModelConfig, StackConfig
from attention.cache import kept_tensors, occupied_bytes, sharing_choices, stores
from attention.config import END
from attention.decoding import decode_steps


@COSTLY
@given(configs(), st.integers(1, 7), st.integers(1, 6))
@torch.no_grad()
def test_the_stores_are_as_large_as_the_tensors_that_are_kept(config, src_len, tgt_len):
    model = EncoderDecoder(config)
    src = torch.tensor([[*ids(src_len - 1, 19, 5), END]])
    memory = model.encode(src, need_maps=False).memory
    for step in decode_steps(model, memory, tgt_len, forced=torch.tensor([ids(tgt_len, 23, 6)])):
        told = {store.name: store for store in stores(config, src_len, step.number)}
        for name, tensors in kept_tensors(step.cache).items():
            expected = told[name].nbytes() if name in told else 0
            assert occupied_bytes(*tensors) == expected, name
            assert len(tensors) == (told[name].copies if name in told else 0)
            assert all(tuple(x[0].shape) == told[name].shape for x in tensors)


def test_the_anchor_keeps_its_size_and_the_own_store_grows_by_the_same_amount():
    config = ModelConfig(StackConfig(11, 3, 5), StackConfig(7, 6, 5, num_kv_heads=2, num_layers=3))
    after = {steps: stores(config, 13, steps) for steps in (1, 2, 17)}
    for store in after[1]:
        sizes = [next(s for s in after[steps] if s.name == store.name).nbytes() for steps in (1, 2, 17)]
        assert sizes == [sizes[0] * (steps if store.grows else 1) for steps in (1, 2, 17)]
    own = next(store for store in after[17] if store.name == "own")
    assert own.nbytes(2) == 2 * 2 * 3 * (2 * 17 * 5)  # bytes × K and V × layers × (K/V heads × tokens × head size)


def test_mha_gqa_and_mqa_by_hand():
    decoder = StackConfig(64, 8, 8)
    choices = sharing_choices(ModelConfig(StackConfig(64, 4), decoder))
    assert {name: c.decoder.num_kv_heads for name, c in choices.items()} == {"MHA": 8, "GQA": 2, "MQA": 1}
    sizes = [next(s for s in stores(config, 7, 4) if s.name == "own").nbytes() for config in choices.values()]
    assert sizes == [2 * 2 * 8 * 8 * 4 * 4, 2 * 2 * 2 * 8 * 4 * 4, 2 * 2 * 1 * 8 * 4 * 4]  # 4096, 1024, 512
    shared = replace(decoder, num_kv_heads=4)  # a model that has groups is shown with its own
    choices = sharing_choices(ModelConfig(StackConfig(64, 4), shared))
    assert [config.decoder.num_kv_heads for config in choices.values()] == [8, 4, 1]
    for heads, names in ((1, ["MHA"]), (2, ["MHA", "MQA"]), (3, ["MHA", "MQA"]), (6, ["MHA", "GQA", "MQA"])):
        config = ModelConfig(StackConfig(64, 4), StackConfig(64, heads, 8))
        assert list(sharing_choices(config)) == names
