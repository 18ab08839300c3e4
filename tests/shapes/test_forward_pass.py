"""The shape ledger: its verdict, its shapes and its words against the real model and against plain PyTorch."""

import itertools
import re
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F

from attention import ConfigError, EncoderDecoder, ModelConfig, StackConfig, trace_shapes
from attention.config import KV_VARIANTS

HEADS = (1, 2, 3, 4, 6, 8, 12, 16)
SIZES = (4, 8, 16)
# By default one pair that agrees, and one that does not.
PAIRS = [
    pytest.param(*pair, marks=() if pair in ((4, 4), (4, 8)) else pytest.mark.slow)
    for pair in itertools.product(SIZES, SIZES)
]
ENC_WIDTH, DEC_WIDTH, SRC_LEN, TGT_LEN = 11, 7, 13, 5


def make_config(
    enc, dec, kv="direct", enc_kv=None, dec_kv=None, widths=(ENC_WIDTH, DEC_WIDTH), variant=None
) -> ModelConfig:
    """`enc` and `dec` are (heads, head size)."""
    encoder, decoder = (
        StackConfig(d_model=width, num_heads=heads, head_dim=size, num_layers=1, num_kv_heads=kv_heads, ffn_dim=3)
        for width, (heads, size), kv_heads in zip(widths, (enc, dec), (enc_kv, dec_kv), strict=True)
    )
    return ModelConfig(encoder, decoder, kv=kv, kv_variant=variant, src_vocab_size=17, tgt_vocab_size=19)


def numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]


def plain_cross_attention(enc, dec, kv, variant=None) -> str | None:
    """The steps as anybody would write them down; PyTorch's own error text, or None when they run."""
    (enc_heads, enc_size), (heads, size) = enc, dec
    memory, x = torch.zeros(2, SRC_LEN, ENC_WIDTH), torch.zeros(2, TGT_LEN, DEC_WIDTH)
    kv_heads, kv_size = dec if kv == "reproject" else enc
    w_q, w_o = torch.zeros(DEC_WIDTH, heads * size), torch.zeros(heads * size, DEC_WIDTH)
    w_kv = torch.zeros(ENC_WIDTH, kv_heads * kv_size)
    try:
        q = (x @ w_q).reshape(2, TGT_LEN, heads, size).permute(0, 2, 1, 3)
        k = (memory @ w_kv).reshape(2, SRC_LEN, kv_heads, kv_size).permute(0, 2, 1, 3)
        if variant == "full":
            k = k.permute(0, 2, 1, 3).reshape(2, SRC_LEN, -1) @ torch.zeros(enc_heads * enc_size, heads * size)
            k = k.reshape(2, SRC_LEN, heads, size).permute(0, 2, 1, 3)
        elif variant == "mix":
            k = torch.tensordot(torch.zeros(heads, enc_heads), k, dims=([1], [1])).permute(1, 0, 2, 3)
        elif kv == "grouped" and heads >= enc_heads:
            q = q.reshape(2, enc_heads, heads // enc_heads, TGT_LEN, size)
            torch.matmul(q, k.unsqueeze(2).mT)
            return None  # from here on as with K/V that were repeated
        elif variant == "pool":
            k = torch.stack(k.split(enc_heads // heads, dim=1)[:heads]).reshape(heads, 2, -1, SRC_LEN, enc_size)
            k.reshape(heads * (enc_heads // heads), 2, SRC_LEN, enc_size).reshape(enc_heads, 2, SRC_LEN, enc_size)
            k = k.mean(2).permute(1, 0, 2, 3)
        elif variant == "drop":
            k = k.reshape(2, -1, heads, SRC_LEN, enc_size)[:, 0]
        elif kv == "extra" and heads != enc_heads:
            own = torch.zeros(2, heads - enc_heads, 3, size)
            k = torch.cat([torch.cat([k, torch.zeros(2, enc_heads, 3, enc_size)], 2),
                           torch.cat([torch.zeros(2, heads - enc_heads, SRC_LEN, size), own], 2)], 1)  # fmt: skip
        z = torch.softmax(torch.matmul(q, k.mT), -1) @ k
        z.permute(0, 2, 1, 3).reshape(2, TGT_LEN, -1) @ w_o
    except RuntimeError as error:
        return str(error)
    return None


def can_be_built(config) -> bool:
    try:
        EncoderDecoder(config)
    except ConfigError:
        return False
    return True


WAYS = [(kv, variant) for kv, variants in KV_VARIANTS.items() for variant in variants or (None,)]


@pytest.mark.sample(16)
@pytest.mark.parametrize(("kv", "variant"), WAYS)
@pytest.mark.parametrize(("enc_size", "dec_size"), PAIRS)
def test_ledger_model_and_plain_steps_give_one_verdict(kv, variant, enc_size, dec_size):
    for enc_heads, dec_heads in itertools.product(HEADS, HEADS):
        enc, dec = (enc_heads, enc_size), (dec_heads, dec_size)
        config = make_config(enc, dec, kv, variant=variant)
        trace = trace_shapes(config, src_len=SRC_LEN, tgt_len=TGT_LEN)
        runs = plain_cross_attention(enc, dec, kv, variant) is None
        assert trace.ok == can_be_built(config) == runs, (enc, dec)
        assert (trace.failure is None) == trace.ok
        assert runs or (kv != "reproject" and variant != "full")
        if trace.failure is not None:  # said and marked, with something that fits, whatever it is
            failure = trace.failure
            assert failure.kind and failure.clashes and failure.note and failure.error
            assert all(len(set(clash.sizes)) == 2 for clash in failure.clashes)
            assert failure.suggestions and all(can_be_built(suggestion.config) for suggestion in failure.suggestions)
            labels = [suggestion.message for suggestion in failure.suggestions]
            assert len(set(labels)) == len(labels)


# Encoder and decoder as (heads, size), the way, its variant; then the kind, the step that fails, and what is marked.
FAILURES = [
    ((8, 4), (16, 4), "direct", None, "heads", "scores", [("heads", (16, 8), (1, 1))]),
    ((8, 4), (8, 8), "direct", None, "head_size", "scores", [("head_dim", (8, 4), (3, 3))]),
    ((4, 16), (8, 8), "direct", None, "both", "scores", [("heads", (8, 4), (1, 1)), ("head_dim", (8, 16), (3, 3))]),
    ((4, 4), (1, 4), "direct", None, "one_decoder_head", "project", [("features", (16, 4), (2, 1))]),
    ((4, 4), (6, 4), "grouped", "pool", "groups", "scores", [("heads", (6, 4), (1, 1))]),
    ((4, 4), (6, 8), "grouped", "pool", "both", "scores", [("heads", (6, 4), (1, 1)), ("head_dim", (8, 4), (3, 3))]),
    ((4, 4), (3, 4), "grouped", "pool", "groups", "pool", [("kv_heads", (4, 3), (1, None))]),
    ((4, 4), (3, 4), "grouped", "drop", "groups", "drop", [("kv_heads", (4, 3), (1, None))]),
    ((4, 4), (8, 8), "grouped", "pool", "head_size", "scores", [("head_dim", (8, 4), (3, 3))]),
    ((8, 4), (4, 4), "extra", "slots", "surplus", "make_own", [("heads", (8, 4), (1, None))]),
    ((8, 4), (4, 4), "extra", "states", "surplus", "make_own", [("heads", (8, 4), (1, None))]),
    ((4, 4), (8, 8), "extra", "slots", "head_size", "join", [("head_dim", (4, 8), (3, 3))]),
    ((4, 4), (8, 8), "extra", "states", "head_size", "join", [("head_dim", (4, 8), (3, 3))]),
    ((4, 4), (4, 8), "extra", "slots", "head_size", "scores", [("head_dim", (8, 4), (3, 3))]),
    ((4, 4), (6, 8), "projection", "mix", "head_size", "scores", [("head_dim", (8, 4), (3, 3))]),
]


@pytest.mark.parametrize(("enc", "dec", "kv", "variant", "kind", "step", "clashes"), FAILURES)
def test_each_kind_of_failure_is_named_and_marked(enc, dec, kv, variant, kind, step, clashes):
    failure = trace_shapes(make_config(enc, dec, kv, variant=variant), SRC_LEN, TGT_LEN).failure
    assert (failure.kind, failure.name) == (kind, step)
    assert [(clash.dim, clash.sizes, clash.axes) for clash in failure.clashes] == clashes
    for clash in failure.clashes:
        assert set(clash.sizes) <= set(numbers(str(failure.note))), failure.note


@pytest.mark.parametrize(("enc_size", "dec_size"), PAIRS)
def test_a_failure_marks_every_clash_and_keeps_pytorchs_words(enc_size, dec_size):
    for enc_heads, dec_heads in itertools.product(HEADS, HEADS):
        failure = trace_shapes(make_config((enc_heads, enc_size), (dec_heads, dec_size)), SRC_LEN, TGT_LEN).failure
        if failure is None:
            continue
        assert failure.part == "cross" and failure.output is None and not failure.ok
        if enc_size == dec_size and dec_heads == 1:
            continue  # fails later; a test of its own below
        assert failure.name == "scores"
        # The clashing axes, from the numbers alone: 1 is heads, 3 is head size; a single head broadcasts.
        expected = {}
        if enc_heads != dec_heads and 1 not in (enc_heads, dec_heads):
            expected["heads"] = ((dec_heads, enc_heads), (1, 1))
        if enc_size != dec_size:
            expected["head_dim"] = ((dec_size, enc_size), (3, 3))
        assert {clash.dim: (clash.sizes, clash.axes) for clash in failure.clashes} == expected
        q, k = failure.inputs
        assert q.sizes == (1, dec_heads, TGT_LEN, dec_size) and k.sizes == (1, enc_heads, SRC_LEN, enc_size)
        with pytest.raises(RuntimeError) as caught:
            torch.zeros(q.sizes) @ torch.zeros(k.sizes).mT
        assert failure.error == str(caught.value)
        for sizes, _ in expected.values():
            assert set(sizes) <= set(numbers(str(failure.note)))


def test_both_heads_and_head_sizes_are_marked_where_pytorch_names_only_one():
    failure = trace_shapes(make_config((4, 16), (8, 8)), src_len=6, tgt_len=5).failure
    assert [(clash.dim, clash.sizes) for clash in failure.clashes] == [("heads", (8, 4)), ("head_dim", (8, 16))]
    q, k = failure.inputs
    assert str(q) == "batch 1, heads 8, target 5, head_dim 8"
    assert str(k) == "batch 1, heads 4, source 6, head_dim 16"


def test_the_words_of_pytorch_itself():
    """Written out once, so that a change of PyTorch's wording is noticed."""
    failure = trace_shapes(make_config((4, 16), (8, 16))).failure
    assert failure.error == "The size of tensor a (8) must match the size of tensor b (4) at non-singleton dimension 1"


@pytest.mark.parametrize("lengths", [(-1, 5), (6, -1)])
def test_a_negative_number_of_tokens_is_refused(lengths):
    with pytest.raises(ValueError, match=rf"src_len \({lengths[0]}\) and tgt_len \({lengths[1]}\)"):
        trace_shapes(make_config((4, 4), (4, 4)), *lengths)


@pytest.mark.parametrize("enc_heads", [heads for heads in HEADS if heads > 1])
def test_one_decoder_head_broadcasts_and_then_fails_at_w_o(enc_heads):
    trace = trace_shapes(make_config((enc_heads, 4), (1, 4)), SRC_LEN, TGT_LEN)
    scores = next(step for step in trace.steps if step.part == "cross" and step.name == "scores")
    assert scores.ok and scores.output.sizes == (1, enc_heads, TGT_LEN, SRC_LEN)
    assert set(numbers(str(scores.note))) == {enc_heads}
    failure = trace.failure
    assert failure.name == "project" and failure is trace.steps[-1]
    merged, w_o = failure.inputs
    assert merged.sizes == (1, TGT_LEN, 4 * enc_heads) and w_o.sizes == (DEC_WIDTH, 4)
    (clash,) = failure.clashes
    assert clash.sizes == (4 * enc_heads, 4) and clash.axes == (2, 1)
    assert {4 * enc_heads, 4} <= set(numbers(str(failure.note)))
    with pytest.raises(RuntimeError) as caught:
        F.linear(torch.zeros(merged.sizes), torch.zeros(w_o.sizes))
    assert failure.error == str(caught.value)


@pytest.mark.parametrize("dec_heads", [heads for heads in HEADS if heads > 1])
def test_one_encoder_head_broadcasts_with_a_note(dec_heads):
    trace = trace_shapes(make_config((1, 4), (dec_heads, 4)), SRC_LEN, TGT_LEN)
    noted = [step for step in trace.steps if step.note]
    assert trace.ok and [(step.part, step.name) for step in noted] == [("cross", "scores")]
    assert str(dec_heads) in str(noted[0].note)


@pytest.mark.parametrize("heads", HEADS)
def test_equal_heads_need_no_note(heads):
    assert not any(step.note for step in trace_shapes(make_config((heads, 4), (heads, 4))).steps)


SITUATIONS = [
    *(((enc, size), (dec, size), None, None) for size in (4,) for enc, dec in itertools.product(HEADS, HEADS)),
    *(((enc, 4), (dec, 8), None, None) for enc, dec in itertools.product(HEADS, HEADS)),
    ((8, 4), (8, 4), 2, None),
    ((8, 4), (6, 4), 2, 3),
    ((8, 4), (6, 8), 4, 2),
    ((4, 4), (8, 4), None, 2),
    ((12, 8), (1, 8), 3, None),
    ((8, 4), (8, 8), 2, None),
    ((8, 4), (8, 8), None, 2),
]


@pytest.mark.parametrize("widths", [(11, 7), (48, 48)])
def test_every_suggestion_builds_and_is_fine(widths):
    for enc, dec, enc_kv, dec_kv in SITUATIONS:
        config = make_config(enc, dec, "direct", enc_kv, dec_kv, widths)
        failure = trace_shapes(config).failure
        if failure is None:
            continue
        configs = [suggestion.config for suggestion in failure.suggestions]
        assert len(configs) >= 2 and len(set(configs)) == len(configs) and config not in configs
        assert "reproject" in {one.kv for one in configs} and "direct" in {one.kv for one in configs}
        for other in configs:
            assert can_be_built(other) and trace_shapes(other).ok
            # A suggestion changes heads, head sizes or the K/V way, and nothing else.
            for side in ("encoder", "decoder"):
                before, after = getattr(config, side), getattr(other, side)
                restored = replace(
                    after, num_heads=before.num_heads, head_dim=before.head_dim, num_kv_heads=before.num_kv_heads
                )
                assert restored == before


def test_no_two_suggestions_say_the_same():
    for situation in SITUATIONS:
        failure = trace_shapes(make_config(*situation[:2], "direct", *situation[2:])).failure
        messages = [suggestion.message for suggestion in failure.suggestions] if failure else []
        assert len(set(messages)) == len(messages), (situation, messages)


@pytest.mark.parametrize(("enc", "dec", "enc_kv", "dec_kv"), SITUATIONS)
def test_a_suggestion_names_the_numbers_that_change(enc, dec, enc_kv, dec_kv):
    config = make_config(enc, dec, "direct", enc_kv, dec_kv)
    failure = trace_shapes(config).failure
    for suggestion in failure.suggestions if failure else ():
        code, values = suggestion.message.code, dict(suggestion.message.values)
        if suggestion.config.kv != "direct":
            heads = (suggestion.config.encoder.num_kv_heads, suggestion.config.decoder.num_heads)
            assert code == suggestion.config.kv and values["group"] == max(heads) // min(heads)
            assert values["compared"] == ("more" if heads[1] > heads[0] else "fewer")
            continue
        (side,) = (side for side in ("encoder", "decoder") if getattr(suggestion.config, side) != getattr(config, side))
        before, after = getattr(config, side), getattr(suggestion.config, side)
        # K/V heads that only follow the query heads need no word of their own.
        expected = {"side": side}
        if after.num_heads != before.num_heads or (after.num_kv_heads != before.num_kv_heads and side == "encoder"):
            expected["count"] = after.num_heads
        if after.head_dim != before.head_dim:
            expected["head_dim"] = after.head_dim
        assert values == expected, suggestion


def test_the_suggestions_of_the_first_screen():
    messages = [str(one.message) for one in trace_shapes(make_config((4, 16), (8, 16))).failure.suggestions]
    assert "decoder num_heads=4" in messages and "kv='reproject', kv_variant=None" in messages
