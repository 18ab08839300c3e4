"""A miniature has its model's proportions, and is within what the pages allow."""

from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention import EncoderDecoder, trace_shapes
from attention.config import START
from attention.experiments.published import (
    PUBLISHED_MODELS,
    PublishedModel,
    Side,
    Source,
    Sources,
    changes,
    copies_of,
    miniature,
)
from attention.experiments.published.published_models import EQUAL_MODELS

ALL = pytest.mark.parametrize("model", PUBLISHED_MODELS, ids=lambda model: model.key)
SOURCE = Source("somebody", "somewhere", "https://example.org")
SOURCES = Sources((SOURCE,), (SOURCE,))


def sides(model):
    mini = miniature(model)
    return (model.encoder, mini.encoder), (model.decoder, mini.decoder)


@ALL
def test_a_miniature_is_within_the_limits_of_the_pages(model):
    for _, mini in sides(model):
        assert mini.num_heads <= 32
        assert 4 <= mini.head_dim <= 128
        assert mini.d_model <= 512
        assert mini.num_layers <= 6


@ALL
def test_heads_and_kv_heads_and_all_ratios_stay(model):
    (enc, mini_enc), (dec, mini_dec) = sides(model)
    assert Fraction(mini_enc.num_heads, mini_dec.num_heads) == Fraction(enc.num_heads, dec.num_heads)
    assert Fraction(mini_enc.d_model, mini_dec.d_model) == Fraction(enc.d_model, dec.d_model)
    for side, mini in sides(model):
        assert Fraction(mini.num_heads, mini.num_kv_heads) == Fraction(side.num_heads, side.num_kv_heads)
        assert Fraction(mini.total_width, mini.d_model) == Fraction(side.total_width, side.d_model)
        if side.num_heads <= 32:
            assert (mini.num_heads, mini.num_kv_heads) == (side.num_heads, side.num_kv_heads)


@ALL
def test_a_miniature_runs_and_its_maps_have_the_decoder_s_heads(model):
    config = miniature(model, src_vocab_size=7, tgt_vocab_size=11)
    assert trace_shapes(config).ok
    with torch.no_grad():
        maps = EncoderDecoder(config)(torch.tensor([[3, 4, 5]]), torch.tensor([[START, 4]])).maps
    assert maps.encoder[0].shape == (1, config.encoder.num_heads, 3, 3)
    assert maps.cross[-1].shape == (1, config.decoder.num_heads, 2, 3)
    torch.testing.assert_close(maps.cross[-1].sum(-1), torch.ones(1, config.decoder.num_heads, 2))


@ALL
def test_every_figure_that_differs_is_told_and_no_other(model):
    told = {(change.side, change.field): (change.published, change.scaled) for change in changes(model)}
    mini = miniature(model)
    for name in ("encoder", "decoder"):
        for field in ("d_model", "num_heads", "num_kv_heads", "head_dim"):
            pair = getattr(getattr(model, name), field), getattr(getattr(mini, name), field)
            assert told.pop((name, field), (pair[0], pair[0])) == pair
    assert told == ({("decoder", "self_kv_heads"): (4, 16)} if model.key == "dia" else {})


def test_worked_by_hand():
    by_key = {model.key: miniature(model) for model in PUBLISHED_MODELS}
    trocr = by_key["trocr_base"]
    assert (trocr.encoder.d_model, trocr.encoder.num_heads, trocr.encoder.head_dim) == (96, 12, 8)
    assert (trocr.decoder.d_model, trocr.decoder.num_heads, trocr.decoder.head_dim) == (128, 16, 8)
    t5 = by_key["t5_11b"]  # 128 heads of 128 in a width of 1024; 16384 / 1024 = 16
    assert (t5.encoder.num_heads, t5.encoder.head_dim, t5.encoder.d_model) == (32, 32, 64)


@ALL
def test_a_miniature_is_recognised(model):
    assert model in copies_of(miniature(model, 29, 43))


def test_larger_heads_make_it_nobody_s_miniature():
    trocr_with_larger_heads = PublishedModel("x", "x", Side(768, 12, 128), Side(1024, 16, 128), 8, SOURCES)
    assert copies_of(miniature(trocr_with_larger_heads)) == ()


def test_models_that_share_a_miniature_have_equal_figures():
    for model in PUBLISHED_MODELS:
        for twin in copies_of(miniature(model)):
            assert (twin.encoder, twin.decoder) == (model.encoder, model.decoder)


sizes = st.integers(1, 6)


@given(st.integers(1, 32), st.integers(1, 32), sizes, sizes, st.integers(1, 16), st.integers(1, 16))
def test_any_model_with_few_enough_heads_keeps_them(enc_heads, dec_heads, enc_dim, dec_dim, shrink, width):
    model = PublishedModel(
        "x",
        "x",
        Side(width * shrink, enc_heads, enc_dim * shrink),
        Side(2 * width * shrink, dec_heads, dec_dim * shrink, num_kv_heads=1),
        shrink,
        SOURCE,
    )
    mini = miniature(model)
    assert (mini.encoder.num_heads, mini.decoder.num_heads) == (enc_heads, dec_heads)
    assert (mini.encoder.head_dim, mini.decoder.head_dim) == (enc_dim, dec_dim)
    assert (mini.encoder.d_model, mini.decoder.d_model) == (width, 2 * width)
    assert (mini.encoder.num_kv_heads, mini.decoder.num_kv_heads) == (enc_heads, 1)


def test_equal_models_are_not_in_both_lists():
    assert not {model.name for model in EQUAL_MODELS} & {model.name for model in PUBLISHED_MODELS}
