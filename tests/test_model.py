"""The whole model against a second, independent forward pass in NumPy, and its handling of padding and odd shapes."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy_transformer import NumpyTransformer
from random_numbers import randomise

from attention import ConfigError, EncoderDecoder, ModelConfig, StackConfig
from attention.config import KV_VARIANTS

ATTENTION_KINDS = ("encoder", "decoder", "cross")
# Two source and two target sequences of unequal length; 0 is padding, 1 the start token.
SRC = [[3, 9, 4, 16, 2], [7, 2]]
TGT = [[1, 5, 11], [1, 4, 10, 6, 3, 8, 12]]

UNEQUAL = ModelConfig(
    encoder=StackConfig(d_model=11, num_heads=2, head_dim=5, num_layers=3, ffn_dim=13),
    decoder=StackConfig(d_model=7, num_heads=3, head_dim=4, num_layers=2, ffn_dim=17),
    src_vocab_size=19,
    tgt_vocab_size=23,
    bias=True,
)


def model_config(encoder, decoder, kv="reproject", bias=True, **sizes) -> ModelConfig:
    encoder, decoder = StackConfig(**encoder), StackConfig(**decoder)
    return ModelConfig(encoder, decoder, kv=kv, src_vocab_size=19, tgt_vocab_size=23, bias=bias, **sizes)


def fed(enc_heads: int, dec_heads: int, kv: str, kv_variant: str | None = None, **sizes) -> ModelConfig:
    """Unequal widths, and heads of one size unless told otherwise."""
    enc = {"d_model": 11, "num_heads": enc_heads, "head_dim": sizes.pop("enc_dim", 5)}
    dec = {"d_model": 7, "num_heads": dec_heads, "head_dim": sizes.pop("dec_dim", 5)}
    return model_config(enc, dec, kv, kv_variant=kv_variant, **sizes)


def pad(rows, length=None, left=False):
    length = length or max(map(len, rows))
    filled = [[0] * (length - len(row)) + row if left else row + [0] * (length - len(row)) for row in rows]
    return torch.tensor(filled)


def close(actual, expected, tolerance=1e-10):
    expected = torch.as_tensor(np.asarray(expected))
    torch.testing.assert_close(actual, expected, rtol=0, atol=tolerance, check_dtype=False)


def assert_equals_numpy(model, src, tgt, tolerance=1e-10):
    """Every logit, map and query vector of one pair of sequences, on both paths."""
    expected = NumpyTransformer(model.config, model.state_dict()).run(src, tgt)
    with torch.no_grad():
        out = model(torch.tensor([src]), torch.tensor([tgt]))
        fused = model(torch.tensor([src]), torch.tensor([tgt]), need_maps=False)
    close(out.logits[0], expected.logits, tolerance)
    close(fused.logits[0], expected.logits, tolerance)
    assert fused.maps is None and fused.queries is None
    for kind in ATTENTION_KINDS:
        for field in ("maps", "queries"):
            actual, wanted = getattr(getattr(out, field), kind), getattr(getattr(expected, field), kind)
            assert len(actual) == len(wanted)
            for layer, array in zip(actual, wanted, strict=True):
                close(layer[0], array, tolerance)


CONFIGS = {
    "unequal everything": UNEQUAL,
    "no biases": model_config({"d_model": 15, "num_heads": 3}, {"d_model": 14, "num_heads": 7}, bias=False),
    "grouped self-attention": model_config(
        {"d_model": 11, "num_heads": 6, "head_dim": 5, "num_kv_heads": 2},
        {"d_model": 7, "num_heads": 4, "head_dim": 3, "num_kv_heads": 2},
    ),
    "one shared K/V head": model_config(
        {"d_model": 11, "num_heads": 3, "head_dim": 5, "num_kv_heads": 1},
        {"d_model": 7, "num_heads": 5, "head_dim": 2, "num_kv_heads": 1},
    ),
    "direct": model_config(
        {"d_model": 11, "num_heads": 3, "head_dim": 5}, {"d_model": 7, "num_heads": 3, "head_dim": 5}, "direct"
    ),
    "direct, one encoder head": model_config(
        {"d_model": 11, "num_heads": 1, "head_dim": 5}, {"d_model": 7, "num_heads": 3, "head_dim": 5}, "direct"
    ),
    "direct, grouped encoder": model_config(
        {"d_model": 11, "num_heads": 6, "num_kv_heads": 3, "head_dim": 5},
        {"d_model": 7, "num_heads": 3, "head_dim": 5, "num_kv_heads": 1},
        "direct",
    ),
    "projection, more heads": fed(2, 3, "projection", enc_dim=5, dec_dim=13),
    "projection, fewer heads": fed(7, 3, "projection", enc_dim=2, dec_dim=5),
    "projection of mixed heads": fed(2, 3, "projection", "mix"),
    "projection of mixed heads, fewer": fed(7, 3, "projection", "mix"),
    "grouped": fed(3, 6, "grouped"),
    "grouped, one K/V head": fed(1, 5, "grouped"),
    "grouped, equal": fed(3, 3, "grouped"),
    "grouped, pooled": fed(6, 3, "grouped", "pool"),
    "grouped, dropped": fed(6, 2, "grouped", "drop"),
    "extra slots": fed(2, 5, "extra", "slots", num_slots=3),
    "extra states": fed(2, 5, "extra", "states"),
    "extra, none needed": fed(3, 3, "extra"),
    "heads × head size above the width": model_config(
        {"d_model": 64, "num_heads": 4, "head_dim": 24}, {"d_model": 12, "num_heads": 6, "head_dim": 10}
    ),
    "heads × head size below the width": model_config(
        {"d_model": 31, "num_heads": 2, "head_dim": 3}, {"d_model": 29, "num_heads": 1, "head_dim": 5}
    ),
    "widths 48 and 64": model_config({"d_model": 48, "num_heads": 4}, {"d_model": 64, "num_heads": 8}),
    "widths 32 and 64": model_config({"d_model": 32, "num_heads": 2}, {"d_model": 64, "num_heads": 4}, "reproject"),
    "width 1": model_config({"d_model": 1, "num_heads": 1}, {"d_model": 3, "num_heads": 1}),
}


# Those in which something else may happen to padding.
PADDED = (
    "unequal everything", "grouped self-attention", "direct", "projection, more heads", "projection of mixed heads",
    "grouped", "grouped, pooled", "extra slots", "extra states",
)  # fmt: skip


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS.keys())
def test_the_whole_forward_pass_equals_numpy(config):
    model = randomise(EncoderDecoder(config))
    assert_equals_numpy(model, [3, 9, 4, 16, 2], [1, 5, 11])
    assert_equals_numpy(model, [2], [1, 4, 10, 6, 3, 8, 12])


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS.keys())
def test_also_with_the_weights_it_starts_with_in_float32(config):
    model = EncoderDecoder(config, seed=5)
    assert model.decoder.to_logits.weight.dtype == torch.float32
    assert_equals_numpy(model, [3, 9, 4, 16, 2], [1, 5, 11], tolerance=1e-5)


def test_shapes_of_what_comes_out():
    out = EncoderDecoder(UNEQUAL)(pad(SRC), pad(TGT))
    assert out.logits.shape == (2, 7, 23)
    assert [tuple(m.shape) for m in out.maps.encoder] == 3 * [(2, 2, 5, 5)]
    assert [tuple(m.shape) for m in out.maps.decoder] == 2 * [(2, 3, 7, 7)]
    assert [tuple(m.shape) for m in out.maps.cross] == 2 * [(2, 3, 7, 5)]
    assert [tuple(q.shape) for q in out.queries.encoder] == 3 * [(2, 2, 5, 5)]
    assert [tuple(q.shape) for q in out.queries.decoder] == 2 * [(2, 3, 7, 4)]
    assert [tuple(q.shape) for q in out.queries.cross] == 2 * [(2, 3, 7, 4)]


@pytest.mark.parametrize(("enc_heads", "dec_heads"), [(2, 4), (8, 2), (1, 8), (8, 1), (4, 8)])
def test_cross_maps_have_the_decoders_heads(enc_heads, dec_heads):
    config = model_config({"d_model": 8, "num_heads": enc_heads}, {"d_model": 8, "num_heads": dec_heads})
    out = EncoderDecoder(config)(torch.tensor([[5, 6, 7, 8, 2]]), torch.tensor([[1, 9, 4]]))
    for cross, own, encoder in zip(*out.maps[::-1], strict=True):
        assert cross.shape == (1, dec_heads, 3, 5)
        assert own.shape == (1, dec_heads, 3, 3) and encoder.shape == (1, enc_heads, 5, 5)


def test_two_heads_and_three_tokens_give_two_maps():
    """Not one map averaged over the heads."""
    config = model_config({"d_model": 8, "num_heads": 2}, {"d_model": 8, "num_heads": 2})
    out = EncoderDecoder(config)(torch.tensor([[3, 4, 5]] * 7), torch.tensor([[1, 4, 5]] * 7))
    for kind in out.maps:
        for layer in kind:
            assert layer.shape == (7, 2, 3, 3) and not torch.allclose(layer[:, 0], layer[:, 1], atol=1e-3)


def test_both_widths_show_in_the_cross_attention_projections():
    config = model_config({"d_model": 48, "num_heads": 4}, {"d_model": 64, "num_heads": 4, "head_dim": 24})
    cross = EncoderDecoder(config).decoder.layers[0].cross
    assert cross.kv_way.w_k.weight.shape == (96, 48) and cross.kv_way.w_v.weight.shape == (96, 48)
    assert cross.w_q.weight.shape == (96, 64) and cross.w_o.weight.shape == (64, 96)


@pytest.mark.parametrize("kv", ["reproject", "direct"])
def test_biases_are_everywhere_or_nowhere(kv):
    stack = {"d_model": 11, "num_heads": 3, "head_dim": 5}
    for bias in (True, False):
        names = {name for name, _ in EncoderDecoder(model_config(stack, stack, kv, bias)).named_parameters()}
        weights = {name.removesuffix("weight") for name in names if name.endswith("weight") and "tokens" not in name}
        biases = {name.removesuffix("bias") for name in names if name.endswith("bias")}
        assert biases == (weights if bias else set())


@pytest.mark.parametrize("need_maps", [True, False])
@pytest.mark.parametrize("name", PADDED)
def test_a_word_alone_and_in_a_padded_batch_give_the_same(name, need_maps):
    model = randomise(EncoderDecoder(CONFIGS[name]))
    with torch.no_grad():
        batch = model(pad(SRC, 13), pad(TGT, 11), need_maps=need_maps)
        for row, (src, tgt) in enumerate(zip(SRC, TGT, strict=True)):
            alone = model(torch.tensor([src]), torch.tensor([tgt]), need_maps=need_maps)
            close(batch.logits[row, : len(tgt)], alone.logits[0])
            if not need_maps:
                continue
            for kind, rows, columns in (("encoder", src, src), ("decoder", tgt, tgt), ("cross", tgt, src)):
                for padded, single in zip(getattr(batch.maps, kind), getattr(alone.maps, kind), strict=True):
                    # Columns of the decoder's own, where there are any, stand after those of the padded source.
                    own = range(13, 13 + single.shape[-1] - len(columns))
                    filled = padded[row, :, : len(rows), [*range(len(columns)), *own]]
                    close(filled, single[0])
                    close(padded[row, :, : len(rows)].sum(-1), filled.sum(-1))  # padding receives nothing


def test_nothing_looks_ahead():
    """Logits up to a position do not change with what comes after it; those from it on do."""
    model = randomise(EncoderDecoder(UNEQUAL))
    src = torch.tensor([SRC[0]])
    with torch.no_grad():
        one = model(src, torch.tensor([[1, 5, 11, 4, 6]]))
        other = model(src, torch.tensor([[1, 5, 11, 9, 6]]))
    close(one.logits[:, :3], other.logits[:, :3])
    assert ((one.logits[:, 3:] - other.logits[:, 3:]).abs().amax(-1) > 1e-3).all()
    for layer in one.maps.decoder:
        assert (layer.triu(1) == 0).all()
        close(layer[0, :, 0, 0], np.ones(3))


def test_left_padding_under_the_causal_mask_is_finite():
    """["<pad>", "a"]: row 0 has no key at all."""
    model = randomise(EncoderDecoder(UNEQUAL))
    ids = torch.tensor([[0, 5]])
    out = model(ids, ids)
    assert out.logits.isfinite().all()
    close(model(ids, ids, need_maps=False).logits, out.logits.detach())
    for layer in out.maps.decoder:
        close(layer[0].detach(), np.tile([[0.0, 0.0], [0.0, 1.0]], (3, 1, 1)))
    for kind in (out.maps.encoder, out.maps.cross):
        for layer in kind:
            close(layer[0].detach(), np.tile([0.0, 1.0], (layer.shape[1], 2, 1)))


def test_left_padding_equals_numpy():
    model = randomise(EncoderDecoder(UNEQUAL))
    assert_equals_numpy(model, [0, 0, 3, 9, 2], [0, 0, 0, 1, 5, 11])


@pytest.mark.parametrize("need_maps", [True, False])
def test_a_source_of_nothing_but_padding_gives_zeros_and_finite_gradients(need_maps):
    model = randomise(EncoderDecoder(UNEQUAL))
    out = model(torch.tensor([[0, 0, 0], [5, 6, 2]]), torch.tensor([[1, 4], [1, 4]]), need_maps=need_maps)
    loss = torch.nn.functional.cross_entropy(out.logits.flatten(0, 1), torch.tensor([4, 2, 4, 2]))
    loss.backward()
    assert loss.isfinite()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all(), name
    if need_maps:
        for layer in (*out.maps.encoder, *out.maps.cross):
            assert (layer[0] == 0).all()
            close(layer[1].sum(-1).detach(), np.ones(layer.shape[1:3]))


def test_all_padding_equals_numpy():
    assert_equals_numpy(randomise(EncoderDecoder(UNEQUAL)), [0, 0, 0], [0, 0])


def test_one_token_attends_to_itself():
    out = EncoderDecoder(UNEQUAL)(torch.tensor([[2]]), torch.tensor([[1]]))
    for kind, heads in zip(out.maps, (2, 3, 3), strict=True):
        for layer in kind:
            assert layer.tolist() == [[[[1.0]]] * heads]


def test_encode_and_decode_are_the_halves_of_forward():
    model = randomise(EncoderDecoder(UNEQUAL))
    src, tgt = pad(SRC), pad(TGT)
    with torch.no_grad():
        whole, halves = model(src, tgt), model.decode(tgt, model.encode(src))
    assert torch.equal(whole.logits, halves.logits)
    for field in ("maps", "queries"):
        for one, other in zip(getattr(whole, field), getattr(halves, field), strict=True):
            assert len(one) == len(other) and all(map(torch.equal, one, other))


def test_generating_token_by_token_makes_the_same_maps_row_by_row():
    """5 source tokens, 3 generated: heads × rows so far × 5 at each step, equal to the top of the whole map."""
    model = randomise(EncoderDecoder(UNEQUAL))
    src, tgt = torch.tensor([[3, 9, 4, 16, 2]]), torch.tensor([[1, 5, 11]])
    with torch.no_grad():
        whole, encoded = model(src, tgt), model.encode(src)
        for length in (1, 2, 3):
            part = model.decode(tgt[:, :length], encoded)
            close(part.logits, whole.logits[:, :length])
            for now, all_rows in zip(part.maps.cross, whole.maps.cross, strict=True):
                assert now.shape == (1, 3, length, 5)
                close(now, all_rows[:, :, :length])
            for now, all_rows in zip(part.maps.decoder, whole.maps.decoder, strict=True):
                close(now, all_rows[:, :, :length, :length])


heads, sizes, widths = st.integers(1, 7), st.none() | st.integers(1, 6), st.integers(1, 12)
lengths = st.integers(1, 6)


@st.composite
def stacks(draw):
    """Anything somebody may type, so not every draw is a valid stack."""
    return {
        "d_model": draw(widths), "num_heads": draw(heads), "head_dim": draw(sizes),
        "num_layers": draw(st.integers(1, 2)), "num_kv_heads": draw(st.none() | heads), "ffn_dim": draw(lengths),
    }  # fmt: skip


WAYS = [(kv, variant) for kv, variants in KV_VARIANTS.items() for variant in variants or (None,)]


@given(
    encoder=stacks(), decoder=stacks(), way=st.sampled_from(WAYS), bias=st.booleans(),
    agree=st.sampled_from(["no", "size", "heads"]), times=st.integers(1, 3), more=st.booleans(),
    num_slots=st.integers(1, 4),
    src=st.lists(st.integers(0, 18), min_size=1, max_size=6), tgt=st.lists(st.integers(0, 22), min_size=1, max_size=6),
)  # fmt: skip
def test_a_configuration_is_refused_with_both_numbers_or_equals_numpy(
    encoder, decoder, way, bias, agree, times, more, num_slots, src, tgt
):
    if agree != "no":  # else the ways that hand over heads would hardly ever fit
        decoder |= {"head_dim": decoder["head_dim"] or 2}
        encoder |= {"head_dim": decoder["head_dim"], "num_kv_heads": None}
    if agree == "heads":
        many, few = (decoder, encoder) if more else (encoder, decoder)
        many |= {"num_heads": few["num_heads"] * times, "num_kv_heads": None}
    try:
        config = model_config(encoder, decoder, way[0], bias, kv_variant=way[1], num_slots=num_slots)
    except ConfigError:
        return
    try:
        model = EncoderDecoder(config)
    except ConfigError as error:
        enc, dec = config.encoder, config.decoder
        pairs = ((enc.num_kv_heads, dec.num_heads), (enc.head_dim, dec.head_dim))
        assert any(x != y and f"({x})" in str(error) and f"({y})" in str(error) for x, y in pairs)
        return
    model = randomise(model)
    assert_equals_numpy(model, src, tgt)
    with torch.no_grad():
        out = model(torch.tensor([src]), torch.tensor([tgt]))
    for kind, masks, columns in zip(out.maps, out.masks, (src, tgt, src), strict=True):
        for layer, mask in zip(kind, masks, strict=True):
            assert layer.isfinite().all() and (layer >= 0).all() and (layer[~mask.expand_as(layer)] == 0).all()
            # A row without a key is empty: nothing but padding to look at, up to the row itself under the causal mask.
            seen = torch.tensor(columns).ne(0)
            has_key = seen.cumsum(0) > 0 if kind is out.maps.decoder else seen.any().expand(layer.shape[2])
            if kind is out.maps.cross and layer.shape[-1] > len(src):  # surplus heads look elsewhere
                own = torch.tensor(tgt).ne(0).cumsum(0) > 0
                own |= config.kv_variant == "slots"
                reads_source = torch.arange(layer.shape[1])[:, None] < config.encoder.num_kv_heads
                has_key = torch.where(reads_source, has_key, own)
            close(layer.sum(-1), has_key.double().expand(layer.shape[:-1]))


def test_a_model_with_weights_copies_them_and_takes_all_or_none():
    config = ModelConfig(StackConfig(16, 4), StackConfig(16, 2), src_vocab_size=7, tgt_vocab_size=9)
    weights = {name: weight.half() for name, weight in EncoderDecoder(config, seed=5).state_dict().items()}
    model = EncoderDecoder.with_weights(config, weights)
    assert not model.training
    for name, weight in model.state_dict().items():
        assert weight.dtype == torch.float32 and torch.equal(weight, weights[name].float()), name
    with torch.no_grad():
        model.decoder.to_logits.weight.zero_()
    assert weights["decoder.to_logits.weight"].any()
    missing = dict(list(weights.items())[1:])
    for wrong in (missing, {**weights, "more": torch.zeros(1)}):
        with pytest.raises(RuntimeError, match="state_dict"):
            EncoderDecoder.with_weights(config, wrong)
