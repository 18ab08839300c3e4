"""Configurations: what is filled in, what is refused and in which words, and what survives JSON."""

import json
import re
from dataclasses import FrozenInstanceError, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention import ConfigError, EncoderDecoder, ModelConfig, StackConfig


def numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]


def refusal(make, *args, **kwargs) -> str:
    with pytest.raises(ConfigError) as caught:
        make(*args, **kwargs)
    return str(caught.value)


PAIR = {"encoder": StackConfig(d_model=12, num_heads=3), "decoder": StackConfig(d_model=10, num_heads=5)}


def test_fields_left_out_are_filled_in():
    stack = StackConfig(d_model=35, num_heads=7)
    assert (stack.head_dim, stack.num_kv_heads, stack.ffn_dim, stack.num_layers) == (5, 7, 140, 2)
    assert (stack.total_width, stack.kv_width) == (35, 35)


def test_given_fields_are_kept():
    stack = StackConfig(d_model=13, num_heads=6, head_dim=5, num_layers=3, num_kv_heads=2, ffn_dim=17)
    assert (stack.head_dim, stack.num_layers, stack.num_kv_heads, stack.ffn_dim) == (5, 3, 2, 17)
    assert (stack.total_width, stack.kv_width) == (30, 10)


@pytest.mark.parametrize(
    ("d_model", "num_heads", "nearest"),
    # Divisors of 512 are powers of two; 1600 = 2⁶·5², its divisors around 48 are 40 and 50.
    [(512, 12, [8, 16]), (1600, 48, [40, 50]), (768, 10, [8, 12]), (7, 2, [1, 7]), (7, 8, [7]), (13, 5, [1, 13])],
)
def test_heads_that_do_not_divide_name_both_numbers_and_the_nearest_that_do(d_model, num_heads, nearest):
    text = refusal(StackConfig, d_model=d_model, num_heads=num_heads)
    assert numbers(text) == [d_model, num_heads, *nearest]
    for heads in nearest:
        StackConfig(d_model=d_model, num_heads=heads)


def test_a_given_head_size_frees_the_head_count_from_the_width():
    assert StackConfig(d_model=512, num_heads=12, head_dim=64).total_width == 768


def test_kv_heads_that_do_not_divide_name_both_numbers_and_what_is_allowed():
    text = refusal(StackConfig, d_model=60, num_heads=12, num_kv_heads=5)
    assert numbers(text) == [12, 5, 1, 2, 3, 4, 6, 12]


def test_more_kv_heads_than_heads_are_refused():
    assert numbers(refusal(StackConfig, d_model=12, num_heads=2, num_kv_heads=4)) == [2, 4, 1, 2]


@pytest.mark.parametrize("field", ["d_model", "num_heads", "head_dim", "num_layers", "num_kv_heads", "ffn_dim"])
@pytest.mark.parametrize("value", [0, -3, 2.0, "4", True, float("nan"), 10**9 + 0.5])
def test_a_field_that_is_no_positive_whole_number_is_refused_by_name(field, value):
    good = {"d_model": 12, "num_heads": 2, "head_dim": 5, "num_layers": 1, "num_kv_heads": 1, "ffn_dim": 7}
    text = refusal(StackConfig, **{**good, field: value})
    assert field in text and repr(value) in text


def test_an_unknown_way_of_feeding_names_the_known_ones():
    text = refusal(ModelConfig, **PAIR, kv="nothing")
    assert "'nothing'" in text and "reproject" in text and "direct" in text


@pytest.mark.parametrize("kv", ["reproject", "direct"])
def test_a_variant_is_refused_where_there_is_none(kv):
    text = refusal(ModelConfig, **PAIR, kv=kv, kv_variant="mix")
    assert "'mix'" in text and f"'{kv}'" in text


@pytest.mark.parametrize("field", ["src_vocab_size", "tgt_vocab_size"])
@pytest.mark.parametrize("value", [3, 0, -1, 30.0, None])
def test_a_vocabulary_needs_a_token_besides_the_specials(field, value):
    text = refusal(ModelConfig, **PAIR, **{field: value})
    assert field in text and repr(value) in text and "4" in text
    assert getattr(ModelConfig(**PAIR, **{field: 4}), field) == 4


@pytest.mark.parametrize("value", [-0.1, 1.0, 2, float("nan")])
def test_dropout_outside_its_range_is_refused(value):
    assert str(value) in refusal(ModelConfig, **PAIR, dropout=value)


def test_a_config_error_is_a_value_error():
    assert issubclass(ConfigError, ValueError)


def test_configurations_that_do_not_fit_together_can_be_held_but_not_built():
    """A page has to show them, so only the model refuses."""
    config = ModelConfig(**PAIR, kv="direct")
    text = refusal(EncoderDecoder, config)
    # heads 5 against 3, head sizes 2 against 4
    assert numbers(text)[:4] == [5, 3, 2, 4]


@pytest.mark.parametrize(
    ("enc", "dec", "said"),
    [((3, 5), (7, 5), [7, 3]), ((3, 5), (3, 2), [2, 5]), ((2, 5), (7, 3), [7, 2, 3, 5]), ((3, 5), (1, 5), [1, 3])],
)
def test_the_refusal_of_direct_names_every_clash_and_nothing_else(enc, dec, said):
    encoder, decoder = (StackConfig(d_model=11, num_heads=heads, head_dim=size) for heads, size in (enc, dec))
    text = refusal(EncoderDecoder, ModelConfig(encoder=encoder, decoder=decoder, kv="direct"))
    assert numbers(text) == said
    assert "reproject" in text


CONFIGS = [
    ModelConfig(**PAIR),
    ModelConfig(**PAIR, kv="direct", src_vocab_size=29, tgt_vocab_size=43, bias=True, dropout=0.1),
    ModelConfig(
        encoder=StackConfig(d_model=48, num_heads=6, head_dim=5, num_layers=3, num_kv_heads=2, ffn_dim=17),
        decoder=StackConfig(d_model=64, num_heads=4, head_dim=24, num_layers=1),
    ),
]


@pytest.mark.parametrize("config", CONFIGS)
def test_a_config_survives_json(config):
    back = ModelConfig.from_dict(json.loads(json.dumps(config.to_dict())))
    assert back == config and hash(back) == hash(config)


def test_to_dict_holds_the_numbers_that_were_filled_in():
    data = ModelConfig(**PAIR).to_dict()
    assert data["encoder"] == {
        "d_model": 12, "num_heads": 3, "head_dim": 4, "num_layers": 2, "num_kv_heads": 3, "ffn_dim": 48,
    }  # fmt: skip
    assert data["kv"] == "reproject" and data["dropout"] == 0.0 and data["bias"] is False


def test_from_dict_leaves_its_argument_alone():
    data = ModelConfig(**PAIR).to_dict()
    copy = json.loads(json.dumps(data))
    ModelConfig.from_dict(data)
    assert data == copy


@pytest.mark.parametrize(
    "spoil",
    [
        lambda d: d.pop("encoder"),
        lambda d: d.update(heads=4),
        lambda d: d["decoder"].update(heads=4),
        lambda d: d["decoder"].pop("num_heads"),
        lambda d: d.update(encoder=None),
        lambda d: d.update(dropout="0.1"),
        lambda d: d["encoder"].update(num_heads="4"),
        lambda d: d.update(kv=["direct"]),
    ],
)
def test_a_dict_that_is_no_configuration_is_refused(spoil):
    data = ModelConfig(**PAIR).to_dict()
    spoil(data)
    refusal(ModelConfig.from_dict, data)


def test_configs_are_frozen_and_can_be_keys():
    left_out = StackConfig(d_model=12, num_heads=3)
    spelled_out = StackConfig(d_model=12, num_heads=3, head_dim=4, num_layers=2, num_kv_heads=3, ffn_dim=48)
    assert left_out == spelled_out and len({left_out, spelled_out}) == 1
    assert len({ModelConfig(**PAIR), ModelConfig(**PAIR), ModelConfig(**PAIR, kv="direct")}) == 2
    with pytest.raises(FrozenInstanceError):
        left_out.num_heads = 4
    with pytest.raises(FrozenInstanceError):
        CONFIGS[0].kv = "direct"


def test_a_changed_copy_is_checked_again():
    assert numbers(refusal(replace, StackConfig(d_model=12, num_heads=4), num_heads=6)) == [6, 4, 1, 2, 3, 6]


@given(d_model=st.integers(1, 2000), num_heads=st.integers(1, 300))
def test_either_the_heads_divide_or_the_nearest_that_do_are_offered(d_model, num_heads):
    if d_model % num_heads == 0:
        assert StackConfig(d_model=d_model, num_heads=num_heads).head_dim * num_heads == d_model
        return
    said = numbers(refusal(StackConfig, d_model=d_model, num_heads=num_heads))
    valid = [heads for heads in range(1, d_model + 1) if d_model % heads == 0]
    below = max(heads for heads in valid if heads < num_heads)
    above = [heads for heads in valid if heads > num_heads][:1]
    assert said == [d_model, num_heads, below, *above]
