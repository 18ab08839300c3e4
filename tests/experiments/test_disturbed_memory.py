"""Disturbing the memory: nothing is disturbed by nothing, and taking everything away equals cross-attention off."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from random_numbers import randn, randomise
from random_settings import settings_that_fit

from attention import ConfigError, EncoderDecoder, ModelConfig, StackConfig
from attention.checkpoints import load
from attention.cross_attention import Memory
from attention.decoding import decode_steps, decode_word
from attention.experiments.disturbed_memory import (
    WORD_END,
    Disturbance,
    add_noise,
    anchor,
    held_out_right,
    hide,
    mean_row_drift,
    misload,
    other_head_counts,
    run_experiment,
)
from attention.inspection import decode_source
from attention.tasks import get_task

WAYS = [
    ("reproject", None, 6),
    ("direct", None, 3),
    ("projection", "full", 6),
    ("projection", "mix", 6),
    ("grouped", "pool", 6),
    ("grouped", "drop", 1),
    ("extra", "slots", 5),
    ("extra", "states", 5),
]
SRC = torch.tensor([[3, 9, 4, 16, 2]])
KNIGHT, THOUGHT = tuple("knight"), tuple("thought")
ALL = frozenset({WORD_END, *range(5)})


def make_model(kv="reproject", variant=None, heads=6, seed=3):
    config = ModelConfig(
        encoder=StackConfig(d_model=11, num_heads=3, head_dim=5),
        decoder=StackConfig(d_model=7, num_heads=heads, head_dim=5, num_layers=3),
        kv=kv,
        kv_variant=variant,
        src_vocab_size=19,
        tgt_vocab_size=13,
        bias=True,
    )
    return randomise(EncoderDecoder(config), seed)


def decode(model, disturbance, forced=None):
    return decode_word(model, SRC, 9, forced=forced, anchor=anchor(model, disturbance))


def assert_equal(first, second, tolerance=0.0):
    assert first.output == second.output
    np.testing.assert_allclose(first.probabilities, second.probabilities, rtol=0, atol=tolerance)
    for mine, theirs in zip((*first.own, *first.cross), (*second.own, *second.cross), strict=True):
        np.testing.assert_allclose(mine.weights, theirs.weights, rtol=0, atol=tolerance)


@pytest.mark.parametrize(("kv", "variant", "heads"), WAYS)
@pytest.mark.parametrize(
    "nothing", [Disturbance("noise_each", 0.0), Disturbance("noise_once", 0.0), Disturbance("hidden")], ids=str
)
def test_nothing_disturbs_nothing(kv, variant, heads, nothing):
    model = make_model(kv, variant, heads)
    assert_equal(decode(model, nothing), decode_word(model, SRC, 9))


@pytest.mark.parametrize(("kv", "variant", "heads"), WAYS)
def test_all_source_hidden_gives_defined_rows_without_keys(kv, variant, heads):
    model = make_model(kv, variant, heads)
    reads_source = min(heads, 3) if kv == "extra" else heads
    for layer in decode(model, Disturbance("hidden", hidden=ALL)).cross:
        rows = layer.weights
        assert not rows[:reads_source].any() and not rows[..., : SRC.shape[1]].any()
        np.testing.assert_allclose(rows[reads_source:].sum(-1), 1.0)


@pytest.mark.parametrize(("kv", "variant", "heads"), WAYS)
def test_off_equals_a_model_whose_w_o_takes_nothing(kv, variant, heads):
    """Cross-attention adds the bias of W_O and nothing else; here by way of weights, without any mask."""
    model = make_model(kv, variant, heads)
    deaf = make_model(kv, variant, heads)
    with torch.no_grad():
        for layer in deaf.decoder.layers:
            layer.cross.w_o.weight.zero_()
    off = decode(model, Disturbance("off"))
    expected = decode_word(deaf, SRC, 9)
    assert off.output == expected.output
    np.testing.assert_allclose(off.probabilities, expected.probabilities, rtol=0, atol=1e-12)
    for mine, theirs in zip(off.own, expected.own, strict=True):
        np.testing.assert_allclose(mine.weights, theirs.weights, rtol=0, atol=1e-12)
    assert not any(layer.weights.any() or layer.allowed.any() for layer in off.cross)


@pytest.mark.parametrize(("kv", "variant", "heads"), [way for way in WAYS if way[0] != "extra"])
def test_all_source_hidden_equals_off_where_all_heads_read_the_source(kv, variant, heads):
    model = make_model(kv, variant, heads)
    assert_equal(decode(model, Disturbance("hidden", hidden=ALL)), decode(model, Disturbance("off")))


@pytest.mark.parametrize("variant", ["slots", "states"])
def test_with_extra_heads_all_source_hidden_equals_off_for_the_heads_that_read_the_source(variant):
    model, deaf = make_model("extra", variant, 5), make_model("extra", variant, 5)
    with torch.no_grad():
        for layer in deaf.decoder.layers:
            layer.cross.w_o.weight[:, : 3 * 5].zero_()  # what the first three heads of size 5 give to W_O
    hidden, expected = decode(model, Disturbance("hidden", hidden=ALL)), decode_word(deaf, SRC, 9)
    assert hidden.output == expected.output
    np.testing.assert_allclose(hidden.probabilities, expected.probabilities, rtol=0, atol=1e-12)
    for mine, theirs in zip(hidden.cross, expected.cross, strict=True):
        np.testing.assert_allclose(mine.weights[3:], theirs.weights[3:], rtol=0, atol=1e-12)


def test_hidden_columns_get_nothing_and_the_others_are_as_in_a_teacher_forced_pass_with_that_mask():
    model = make_model()
    output = decode_word(model, SRC, 9).output
    found = decode(model, Disturbance("hidden", hidden=frozenset({1, WORD_END})), forced=output)
    with torch.no_grad():
        encoded = model.encode(SRC)
        open_ = torch.tensor([[[[True, False, True, True, False]]]])
        masked = encoded._replace(memory=encoded.memory._replace(mask=open_))
        expected = model.decode(torch.tensor([[1, *output[:-1]]]), masked)
    for mine, theirs in zip(found.cross, expected.maps.cross, strict=True):
        assert not mine.weights[..., [1, 4]].any()
        np.testing.assert_allclose(mine.weights, theirs[0], rtol=0, atol=1e-10)


def test_in_a_batch_the_end_token_is_hidden_where_it_stands():
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 0, 0, 0, 0]]).bool()[:, None, None]
    memory = Memory(randn(3, 5, 7), mask)
    both = hide(memory, frozenset({1, WORD_END})).mask[:, 0, 0]
    assert both.int().tolist() == [[1, 0, 1, 1, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, 0]]
    letters = hide(memory, frozenset({0, 2, 9})).mask[:, 0, 0]
    assert letters.int().tolist() == [[0, 1, 0, 1, 1], [0, 1, 1, 0, 0], [1, 0, 0, 0, 0]]


# ---- noise ----


def test_noise_has_the_asked_size_in_units_of_each_sequences_root_mean_square():
    mask = torch.ones(2, 1, 1, 997, dtype=torch.bool)
    mask[1, ..., 499:] = False
    hidden = randn(2, 997, 31) * torch.tensor([0.5, 20.0])[:, None, None]
    hidden[1, 499:] = 1e6  # padding has no say
    noise = add_noise(Memory(hidden, mask), 0.3, torch.Generator().manual_seed(1)) - hidden
    np.testing.assert_allclose(noise.std((1, 2)), [0.3 * 0.5, 0.3 * 20.0], rtol=0.02)


def test_noise_follows_from_its_seed_and_leaves_the_global_generator_alone():
    model = make_model()
    before = torch.get_rng_state()
    first, again, other = (decode(model, Disturbance("noise_each", 0.5, seed=seed)) for seed in (1, 1, 2))
    assert_equal(first, again)
    assert not np.array_equal(first.probabilities[0], other.probabilities[0])
    assert torch.equal(before, torch.get_rng_state())


@torch.no_grad()
def memories(kind):
    model = make_model()
    memory, moves = model.encode(SRC).memory, anchor(model, Disturbance(kind, 0.5))
    steps = decode_steps(model, memory, 4, forced=torch.tensor([[5, 6, 7, 8]]), anchor=moves)
    return [step.cache.memory.hidden for step in steps]


def test_noise_once_stays_and_noise_each_is_new_in_every_step():
    once, each = memories("noise_once"), memories("noise_each")
    assert all(torch.equal(once[0], later) for later in once)
    assert torch.equal(once[0], each[0])  # the same seed begins with the same numbers
    assert all(not torch.equal(first, second) for first, second in pairwise(each))


@pytest.mark.parametrize(("kv", "variant", "heads"), WAYS)
def test_noise_once_equals_decoding_from_that_memory(kv, variant, heads):
    """The keys and values that the encoder hands over are made from the disturbed memory too."""
    model = make_model(kv, variant, heads)
    found = decode(model, Disturbance("noise_once", 0.7, seed=5), forced=(5, 6, 7))
    with torch.no_grad():
        encoded = model.encode(SRC)
        hidden = add_noise(encoded.memory, 0.7, torch.Generator().manual_seed(5))
        noisy = encoded._replace(memory=model.encoder.to_memory(hidden, encoded.memory.mask))
        expected = model.decode(torch.tensor([[1, 5, 6]]), noisy)
    for mine, theirs in zip(found.cross, expected.maps.cross, strict=True):
        np.testing.assert_allclose(mine.weights, theirs[0], rtol=0, atol=1e-10)


# ---- experiments ----


@pytest.fixture(scope="module")
def spelling():
    task = get_task("spelling")
    config = ModelConfig(
        StackConfig(64, 4), StackConfig(64, 8), bias=True,
        src_vocab_size=len(task.src_vocab), tgt_vocab_size=len(task.tgt_vocab),
    )  # fmt: skip
    return load("spelling", config)[0], task


def test_an_experiment_compares_rows_at_the_same_step_on_the_same_tokens(spelling):
    model, task = spelling
    found = run_experiment(
        decode_source(model, task, KNIGHT), model, task, KNIGHT, Disturbance("hidden", hidden=frozenset({5}))
    )
    assert task.tgt_vocab.decode(found.control.output) == ("n", "aɪ", "t", "</s>")
    assert found.forced.output == found.control.output != found.free.output  # without its t it answers something else
    assert len(found.drift) == 2 and found.drift[1].shape == (8, 4)
    assert found.drift[1][:, 2].mean() > 0.3  # the step that generates t is the one that is hit
    assert np.isnan(found.movement[1][:, 0]).all()
    near = found.gold_distance(found.control)[1]
    assert near.shape == (8, 4) and np.isnan(near[:, 3]).all()
    assert near[:, :3].min() < 0.1 < found.gold_distance(found.forced)[1][:, 2].min()


def test_without_a_disturbance_there_is_no_drift(spelling):
    model, task = spelling
    found = run_experiment(decode_source(model, task, THOUGHT), model, task, THOUGHT, Disturbance("noise_each", 0.0))
    assert all(not layer.any() for layer in found.drift)
    assert found.free.output == found.control.output


def test_switched_off_drift_is_undefined_and_not_zero(spelling):
    model, task = spelling
    found = run_experiment(decode_source(model, task, THOUGHT), model, task, THOUGHT, Disturbance("off"))
    assert all(np.isnan(layer).all() for layer in found.drift)


@pytest.mark.slow
def test_held_out_words_fall_as_the_noise_grows(spelling):
    model, task = spelling
    words = task.held_out(30)
    right = [held_out_right(model, task, words, Disturbance("noise_each", size)) for size in (0.0, 0.6, 2.0)]
    assert right[0] == held_out_right(model, task, words)
    assert sum(right[0]) > 0.6 * 30
    assert sum(right[0]) > sum(right[1]) > sum(right[2])
    assert not any(held_out_right(model, task, words, Disturbance("off")))


def test_weights_in_other_heads_load_without_a_word_and_answer_wrong(spelling):
    model, task = spelling
    assert other_head_counts(model.config) == (1, 2, 4, 16, 32, 64)
    other = misload(model, 16)
    assert other.config.decoder == replace(model.config.decoder, num_heads=16, head_dim=4, num_kv_heads=16)
    assert all(torch.equal(other.state_dict()[name], weight) for name, weight in model.state_dict().items())
    found = run_experiment(decode_source(model, task, KNIGHT), other, task, KNIGHT)
    assert len(found.forced.cross[0].weights) == 16
    assert mean_row_drift(found)[1].shape == (1, 4) and mean_row_drift(found)[1].min() > 0
    words = task.held_out(30)
    assert sum(held_out_right(other, task, words)) < sum(held_out_right(model, task, words))


def test_each_word_is_right_or_wrong_as_it_is_by_itself(spelling):
    model, task = spelling
    words = task.held_out(12)
    one_by_one = [
        task.tgt_vocab.decode(decode_source(model, task, word.source).answer) in word.targets for word in words
    ]
    assert list(held_out_right(model, task, words)) == one_by_one


@pytest.mark.sample(20)
@pytest.mark.parametrize("number", range(100))
@torch.no_grad()
def test_weights_load_into_all_head_counts_that_are_named_and_into_no_other(number):
    """At 100 settings, by trying: a strict load, and a pass."""
    config = settings_that_fit(100)[number].config
    model, decoder = EncoderDecoder(config), config.decoder
    loads = []
    for heads in range(1, decoder.total_width + 1):
        for kv_heads in range(1, heads + 1):
            if heads == decoder.num_heads or decoder.total_width % heads or heads % kv_heads:
                continue
            head_dim = decoder.total_width // heads
            other = replace(decoder, num_heads=heads, head_dim=head_dim, num_kv_heads=kv_heads)
            if kv_heads * head_dim != decoder.kv_width:
                continue  # W_K of self-attention would have another shape
            try:
                twin = EncoderDecoder(replace(config, decoder=other))
                twin.load_state_dict(model.state_dict(), strict=True)
            except (ConfigError, RuntimeError):
                continue
            assert twin(torch.tensor([[3, 4, 2]]), torch.tensor([[1, 3]])).logits.isfinite().all()
            loads.append(heads)
    assert list(other_head_counts(config)) == loads


@pytest.mark.sample(20)
@pytest.mark.parametrize("number", range(100))
def test_without_cross_attention_a_model_answers_the_same_whatever_was_typed(number):
    """Up to where it is stopped, which follows from the length of what was typed."""
    settings = settings_that_fit(100)[number]
    task, model = get_task(settings.task), EncoderDecoder(settings.config, seed=settings.seed)
    off = Disturbance("off")
    first, second = (
        decode_source(model, task, task.read(text), anchor=anchor(model, off)).output for text in task.examples[:2]
    )
    shared = min(len(first), len(second))
    assert first[:shared] == second[:shared]


def test_misuse_that_would_not_load_is_refused():
    with pytest.raises(ConfigError, match="6 decoder heads do not load into 4 as a misuse; allowed: 1, 2, 3, 5"):
        misload(make_model(), 4)
    with pytest.raises(ConfigError, match="allowed: none"):
        misload(make_model("direct", heads=3), 5)


# ---- what cannot be ----


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"kind": "nothing"}, "kind .'nothing'. must be one of noise_each"),
        ({"kind": "noise_once", "size": -1.0}, "size .-1.0. must be a number of at least 0"),
        ({"kind": "noise_once", "size": float("nan")}, "size .nan. must be"),
        ({"kind": "hidden", "hidden": frozenset({-2})}, "must be columns from 0 up"),
    ],
)
def test_a_disturbance_that_cannot_be_is_refused(bad, words):
    with pytest.raises(ValueError, match=words):
        Disturbance(**bad)


def test_nothing_to_score_is_refused(spelling):
    with pytest.raises(ValueError, match="no examples"):
        held_out_right(*spelling, [])
