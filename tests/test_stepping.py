"""Decoding step by step against the teacher-forced pass over the same tokens, for every way of feeding the heads."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from random_numbers import randomise

from attention import EncoderDecoder, ModelConfig, StackConfig, greedy_decode
from attention.cache import kept_tensors, occupied_bytes, sharing_choices, stores
from attention.config import END, KV_VARIANTS, PAD, START
from attention.cross_attention import fits
from attention.stepping import decode_steps, decode_word

WAYS = [(kv, variant) for kv, variants in KV_VARIANTS.items() for variant in variants or (None,)]


@st.composite
def configs(draw) -> ModelConfig:
    """Any way of feeding the heads, with sizes that may clash in every other respect."""
    kv, variant = draw(st.sampled_from(WAYS))

    def stack(d_model, dims):
        kv_heads, group = draw(st.sampled_from([(1, 1), (1, 3), (2, 1), (2, 2), (3, 1), (3, 2), (5, 1)]))
        return StackConfig(
            d_model, kv_heads * group, draw(st.sampled_from(dims)), draw(st.integers(1, 3)), kv_heads, ffn_dim=13
        )

    same_size = (5,) if kv in ("direct", "grouped", "extra") or variant == "mix" else (2, 5, 7)
    config = ModelConfig(
        encoder=stack(11, same_size),
        decoder=stack(7, same_size),
        kv=kv,
        kv_variant=variant,
        src_vocab_size=19,
        tgt_vocab_size=23,
        bias=draw(st.booleans()),
        num_slots=draw(st.integers(1, 3)),
    )
    assume(fits(config))
    return config


def ids(length, size, seed):
    return torch.randint(3, size, (length,), generator=torch.Generator().manual_seed(seed)).tolist()


@given(configs(), st.integers(1, 7), st.integers(1, 9), st.integers(0, 999))
@settings(deadline=None, max_examples=120)
def test_stepwise_equals_teacher_forced(config, src_len, tgt_len, seed):
    src = torch.tensor([[*ids(src_len - 1, 19, seed), END]])
    said = ids(tgt_len, 23, seed + 1)
    for dtype, tolerance in ((torch.float64, 1e-10), (torch.float32, 1e-5)):
        model = randomise(EncoderDecoder(config), seed).to(dtype)
        with torch.no_grad():
            whole = model(src, torch.tensor([[START, *said[:-1]]]))
        steps = decode_word(model, src, tgt_len, forced=tuple(said))
        assert steps.said == tuple(said)
        logits = whole.logits[0].index_fill(1, torch.tensor([PAD, START]), -torch.inf)
        np.testing.assert_allclose(steps.probabilities, logits.softmax(-1), rtol=0, atol=tolerance)
        for mine, theirs in ((steps.own, whole.maps.decoder), (steps.cross, whole.maps.cross)):
            assert len(mine) == config.decoder.num_layers
            for rows, full in zip(mine, theirs, strict=True):
                assert rows.shape == full[0].shape  # heads × target × keys, shorter rows padded with zeros
                np.testing.assert_allclose(rows, full[0], rtol=0, atol=tolerance)


@given(configs(), st.integers(1, 7), st.integers(1, 6))
@settings(deadline=None, max_examples=80)
def test_the_stores_are_as_large_as_the_tensors_that_are_kept(config, src_len, tgt_len):
    model = EncoderDecoder(config)
    src = torch.tensor([[*ids(src_len - 1, 19, 5), END]])
    for step in decode_steps(model, src, tgt_len, forced=torch.tensor([ids(tgt_len, 23, 6)])):
        said = {store.name: store for store in stores(config, src_len, step.number)}
        for name, tensors in kept_tensors(step.cache).items():
            expected = said[name].nbytes() if name in said else 0
            assert occupied_bytes(*tensors) == expected, name
            assert len(tensors) == (said[name].copies if name in said else 0)
            assert all(tuple(x[0].shape) == said[name].shape for x in tensors)


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


# ---- what is said, and when it ends ----

CONFIG = ModelConfig(
    encoder=StackConfig(d_model=11, num_heads=3, head_dim=5),
    decoder=StackConfig(d_model=7, num_heads=3, head_dim=5, num_layers=3),
    src_vocab_size=19,
    tgt_vocab_size=13,
    bias=True,
)
SRC = [[3, 9, 4, 16, 2], [7, 2], [5, 5, 11, 2], [2], [13, 17, 3, 8, 10, 4, 2], [6, 12, 2]]
BATCH = torch.tensor([row + [PAD] * (7 - len(row)) for row in SRC])


def ending(seed=16, amount=1.2, kv="reproject", variant=None, heads=3):
    """A model whose rows end at different times, some at the limit."""
    config = replace(
        CONFIG, kv=kv, kv_variant=variant, decoder=replace(CONFIG.decoder, num_heads=heads, num_kv_heads=heads)
    )
    model = randomise(EncoderDecoder(config), seed)
    with torch.no_grad():
        model.decoder.to_logits.bias[END] += amount
    return model


@torch.no_grad()
def whole_prefix_each_time(model, src_ids, max_len):
    """Greedy decoding that keeps only the memory, and reads the whole prefix again for each token."""
    encoded, tgt = model.encode(src_ids, need_maps=False), torch.full((len(src_ids), 1), START)
    finished = torch.zeros(len(src_ids), dtype=torch.bool)
    while tgt.shape[1] <= max_len and not finished.all():
        logits = model.decode(tgt, encoded, need_maps=False).logits[:, -1]
        logits[:, [PAD, START]] = -torch.inf
        tgt = torch.cat([tgt, logits.argmax(-1).masked_fill(finished, PAD)[:, None]], dim=1)
        finished |= tgt[:, -1] == END
    return [[token for token in row if token != PAD] for row in tgt[:, 1:].tolist()]


@pytest.mark.parametrize(("kv", "variant"), WAYS)
@pytest.mark.parametrize("seed", range(16, 20))
def test_a_batch_says_the_same_tokens_as_reading_the_whole_prefix_again(kv, variant, seed):
    model = ending(seed, kv=kv, variant=variant, heads=6 if kv in ("grouped", "extra") else 3)
    assert greedy_decode(model, BATCH, 11) == whole_prefix_each_time(model, BATCH, 11)


def test_a_word_ends_with_the_end_token_or_at_the_limit():
    model = ending()
    words = [decode_word(model, torch.tensor([row]), 11) for row in SRC]
    assert [list(word.said) for word in words] == greedy_decode(model, BATCH, 11)
    assert {word.ended for word in words} == {True, False}
    for word in words:
        assert word.ended == (word.said[-1] == END)
        assert END not in word.said[:-1] and not {PAD, START} & set(word.said)
        assert word.ended or len(word.said) == 11
        assert all(len(rows) == len(word.said) for rows in (word.probabilities, word.own[0][0], word.cross[0][0]))


def test_no_step_follows_once_all_have_ended():
    model = ending(amount=1000.0)
    assert [step.number for step in decode_steps(model, BATCH, 9)] == [1]
    assert list(decode_steps(model, BATCH, 0)) == []


def test_the_candidates_of_a_step_are_the_likeliest_tokens():
    word = decode_word(ending(), torch.tensor([SRC[0]]), 11)
    for step, said in enumerate(word.said, start=1):
        (first, share), *others = word.candidates(step, 4)
        assert first == said and share == word.probabilities[step - 1].max()
        assert [p for _, p in others] == sorted(word.probabilities[step - 1])[-2:-5:-1]
    assert word.probabilities[:, [PAD, START]].max() == 0
    np.testing.assert_allclose(word.probabilities.sum(1), 1.0)


def test_decoding_builds_no_graph_and_leaves_gradients_on_between_steps():
    model = ending()
    for step in decode_steps(model, BATCH, 3):
        assert torch.is_grad_enabled() and not step.logits.requires_grad
