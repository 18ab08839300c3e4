"""The K/V ways, one by one: what each is equal to, what it never reads, what it refuses."""

import pytest
import torch
import torch.nn.functional as F
from random_numbers import randn, randomise

from attention import ConfigError, EncoderDecoder, ModelConfig, StackConfig
from attention.cross_attention import KV_WAYS, Memory, sharing_name
from attention.functional import attend
from attention.training import TrainingSettings
from attention.training.evaluation import Scores
from attention.training.stored import Card, CheckpointError, load_weights, save

SRC = torch.tensor([[3, 9, 4, 16, 2], [7, 5, 2, 0, 0]])
TGT = torch.tensor([[1, 5, 11], [1, 4, 0]])


def config_of(enc_heads, dec_heads, kv, kv_variant=None, enc_dim=5, dec_dim=5, bias=True, **more) -> ModelConfig:
    return ModelConfig(
        StackConfig(11, enc_heads, enc_dim, num_layers=1, ffn_dim=3),
        StackConfig(7, dec_heads, dec_dim, num_layers=2, ffn_dim=3),
        kv=kv, kv_variant=kv_variant, src_vocab_size=19, tgt_vocab_size=23, bias=bias, **more,
    )  # fmt: skip


def keys_values(config, k=None):
    """What the first decoder layer's heads meet, of random per-head K/V."""
    enc = config.encoder
    shape = (2, enc.num_kv_heads, 5, enc.head_dim)
    memory = Memory(
        randn(2, 5, 11), (SRC != 0)[:, None, None], randn(*shape, seed=1) if k is None else k, randn(*shape, seed=2)
    )
    way = randomise(KV_WAYS[config.kv](config), seed=3)
    own_mask = torch.ones(3, 3, dtype=torch.bool).tril() & (TGT != 0)[:, None, None]
    return way, memory, way(memory, randn(2, 3, 7, seed=4), own_mask)


@pytest.mark.parametrize(("enc_heads", "dec_heads"), [(2, 4), (1, 5), (3, 3), (3, 12)])
def test_grouped_equals_enable_gqa(enc_heads, dec_heads):
    _, memory, (k, v, mask) = keys_values(config_of(enc_heads, dec_heads, "grouped"))
    assert k is memory.k and v is memory.v
    q = randn(2, dec_heads, 3, 5, seed=7)
    expected = F.scaled_dot_product_attention(q, memory.k, memory.v, attn_mask=memory.mask, enable_gqa=True)
    for need_weights in (True, False):
        torch.testing.assert_close(attend(q, k, v, mask, need_weights=need_weights)[0], expected, rtol=0, atol=1e-12)


def test_grouped_equals_direct_with_equal_heads_and_with_one():
    """The degenerate ends: group size 1 is plain attention, one K/V head is the broadcast."""
    for enc_heads, dec_heads in ((3, 3), (1, 3)):
        outs = []
        for kv in ("grouped", "direct", "extra") if enc_heads == dec_heads else ("grouped", "direct"):
            model = randomise(EncoderDecoder(config_of(enc_heads, dec_heads, kv)))
            outs.append(model(SRC, TGT))
        for other in outs[1:]:
            assert torch.equal(outs[0].logits, other.logits)
            assert all(map(torch.equal, outs[0].maps.cross, other.maps.cross))


def test_pooling_takes_means_of_neighbours_and_dropping_leaves_the_last_heads_unread():
    k = torch.arange(6.0).double()[None, :, None, None].expand(2, 6, 5, 5)  # head h is filled with the number h
    assert keys_values(config_of(6, 2, "grouped", "pool"), k)[2].k[0, :, 0, 0].tolist() == [1.0, 4.0]
    assert keys_values(config_of(6, 3, "grouped", "pool"), k)[2].k[0, :, 0, 0].tolist() == [0.5, 2.5, 4.5]
    assert keys_values(config_of(6, 2, "grouped", "drop"), k)[2].k[0, :, 0, 0].tolist() == [0.0, 1.0]
    assert keys_values(config_of(6, 6, "grouped", "drop"), k)[2].k[0, :, 0, 0].tolist() == [
        0.0,
        1.0,
        2.0,
        3.0,
        4.0,
        5.0,
    ]


@pytest.mark.parametrize(
    ("variant", "read"), [("drop", [True, True, False, False, False, False]), ("pool", [True] * 6)]
)
def test_what_is_dropped_gets_no_gradient_and_what_is_pooled_does(variant, read):
    model = randomise(EncoderDecoder(config_of(6, 2, "grouped", variant)))
    model(SRC, TGT).logits.pow(2).sum().backward()
    for w in (model.encoder.w_k, model.encoder.w_v):
        per_head = w.weight.grad.unflatten(0, (6, 5)).abs().sum((1, 2)) > 0
        assert per_head.tolist() == read


def test_the_full_projection_of_handed_heads_is_a_projection_of_the_memory():
    """Two linear maps after one another are one: what a textbook decoder's own W_K and W_V do."""
    config = config_of(2, 3, "projection", enc_dim=13, dec_dim=5)
    model = randomise(EncoderDecoder(config))
    twin = randomise(EncoderDecoder(config_of(2, 3, "reproject", enc_dim=13, dec_dim=5)))
    weights = {name: tensor for name, tensor in model.state_dict().items() if name in twin.state_dict()}
    for layer in range(2):
        for letter in "kv":
            first = getattr(model.encoder, f"w_{letter}")
            second = getattr(model.decoder.layers[layer].cross.kv_way, f"map_{letter}")
            name = f"decoder.layers.{layer}.cross.kv_way.w_{letter}"
            weights[f"{name}.weight"] = second.weight @ first.weight
            weights[f"{name}.bias"] = second.weight @ first.bias + second.bias
    twin.load_state_dict(weights)
    torch.testing.assert_close(twin(SRC, TGT).logits, model(SRC, TGT).logits, rtol=0, atol=1e-10)


def test_a_mixture_of_heads_by_hand():
    way, memory, (k, v, _) = keys_values(config_of(2, 3, "projection", "mix"))
    a, b, c, d = way.map_k.weight[0, 0], way.map_k.weight[0, 1], way.map_v.weight[2, 0], way.map_v.weight[2, 1]
    torch.testing.assert_close(k[:, 0], a * memory.k[:, 0] + b * memory.k[:, 1], rtol=0, atol=1e-12)
    torch.testing.assert_close(v[:, 2], c * memory.v[:, 0] + d * memory.v[:, 1], rtol=0, atol=1e-12)


def test_weights_of_each_way():
    """What a decoder layer learns to adapt what it is handed: the counts shown on the page, worked out by hand."""

    def count(*arguments, **options):
        config = config_of(*arguments, **options)
        model = EncoderDecoder(config)
        made = sum(p.numel() for layer in model.decoder.layers for p in layer.cross.kv_way.parameters())
        return made // 2  # two decoder layers

    assert count(8, 16, "reproject") == 2 * (11 * 80 + 80)
    assert count(8, 8, "direct") == count(8, 16, "grouped") == count(8, 8, "extra") == 0
    assert count(8, 16, "projection") == 2 * (40 * 80 + 80)
    assert count(8, 16, "projection", bias=False) == 2 * 40 * 80
    assert count(8, 16, "projection", "mix") == 2 * 8 * 16
    assert count(8, 16, "extra", num_slots=3) == 2 * 3 * 40
    assert count(8, 16, "extra", "states") == 2 * (7 * 40 + 40)


@pytest.mark.parametrize("variant", ["slots", "states"])
def test_extra_heads_read_only_their_own_columns(variant):
    model = randomise(EncoderDecoder(config_of(2, 5, "extra", variant, num_slots=3)))
    out = model(SRC, TGT)
    for weights, mask in zip(out.maps.cross, out.masks.cross, strict=True):
        assert weights.shape == (2, 5, 3, 5 + 3)
        assert (weights[:, :2, :, 5:] == 0).all() and (weights[:, 2:, :, :5] == 0).all()
        # First word, all real: the encoder's heads may look at all of the source, the others at what is their own.
        assert mask[0, :2, :, :5].all() and not mask[0, :2, :, 5:].any() and not mask[0, 2:, :, :5].any()
        own = torch.ones(3, 3).bool() if variant == "slots" else torch.ones(3, 3).bool().tril()
        assert torch.equal(mask[0, 3, :, 5:], own)
        torch.testing.assert_close(weights[0].sum(-1), torch.ones(5, 3).double(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("variant", ["slots", "states"])
def test_surplus_heads_do_not_depend_on_the_source(variant):
    model = randomise(EncoderDecoder(config_of(2, 5, "extra", variant)))
    first = [model(src, TGT[:1]).maps.cross[0] for src in (torch.tensor([[3, 9, 2]]), torch.tensor([[8, 4, 2]]))]
    assert torch.equal(first[0][:, 2:, :, 3:], first[1][:, 2:, :, 3:])
    assert not torch.allclose(first[0][:, :2], first[1][:, :2], atol=1e-3)


def test_own_columns_are_labelled():
    labels = KV_WAYS["extra"].own_columns
    slots = labels(config_of(2, 5, "extra", num_slots=2), ("<s>", "n"))
    assert [(one.code, one.values) for one in slots] == [("slot", (("number", n),)) for n in (1, 2)]
    states = labels(config_of(2, 5, "extra", "states"), ("<s>", "n"))
    assert [(one.code, one.values) for one in states] == [("own", (("token", token),)) for token in ("<s>", "n")]
    assert labels(config_of(2, 2, "extra"), ("<s>", "n")) == ()
    assert KV_WAYS["grouped"].own_columns(config_of(2, 4, "grouped"), ("<s>",)) == ()


REFUSED = [
    ((4, 6, "grouped"), r"decoder num_heads \(6\) .* K/V heads \(4\).* 1, 2, 4, 8, 12, 16 and further multiples of 4"),
    ((6, 4, "grouped", "drop"), r"\(4\) .* \(6\).* allowed: 1, 2, 3, 6, 12, 18, 24"),
    ((4, 6, "grouped", None, 5, 3), r"\(6\) .* \(4\).*, and decoder head_dim \(3\) must equal encoder head_dim \(5\)"),
    ((4, 8, "grouped", None, 5, 3), r"^decoder head_dim \(3\) must equal encoder head_dim \(5\)"),
    ((8, 4, "extra"), r"decoder num_heads \(4\) must be at least the encoder's K/V heads \(8\)"),
    ((4, 8, "extra", "states", 5, 3), r"decoder head_dim \(3\) must equal encoder head_dim \(5\)"),
    ((4, 8, "projection", "mix", 5, 3), r'decoder head_dim \(3\) must equal encoder head_dim \(5\) .*full"'),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "words"), REFUSED)
def test_what_does_not_fit_is_refused_with_both_numbers(arguments, words):
    with pytest.raises(ConfigError, match=words):
        EncoderDecoder(config_of(*arguments))


def test_the_full_projection_fits_any_pair():
    for enc_heads, dec_heads, enc_dim, dec_dim in ((7, 3, 2, 5), (3, 7, 5, 2), (1, 1, 1, 13), (5, 1, 3, 3)):
        config = config_of(enc_heads, dec_heads, "projection", enc_dim=enc_dim, dec_dim=dec_dim)
        assert EncoderDecoder(config)(SRC, TGT).maps.cross[1].shape == (2, dec_heads, 3, 5)


@pytest.mark.parametrize("slots", [0, -1, 1.5, True, "4"])
def test_a_number_of_slots_that_is_none_is_refused(slots):
    with pytest.raises(ConfigError, match="num_slots"):
        config_of(2, 5, "extra", num_slots=slots)


def test_names_of_sharing():
    """MQA only when there is a single K/V head."""
    assert sharing_name(8, 2) == "grouped-query"
    assert sharing_name(8, 1) == "multi-query"
    assert sharing_name(8, 8) == "multi-head"
    assert sharing_name(1, 1) == "single-head"


# Asked for, instead of the 2 → 4 heads, kv="grouped", that are in the file: what fits every shape, and what does not.
OTHERS = {
    "8 decoder heads": (2, 8, "grouped"),
    "1 encoder head": (1, 4, "grouped", None, 10),
    "kv=extra": (2, 4, "extra"),
    "kv=direct": (2, 2, "direct", None, 5, 10),
    "kv_variant=drop": (2, 4, "grouped", "drop"),
}


@pytest.mark.parametrize("asked", OTHERS.values(), ids=OTHERS.keys())
def test_weights_of_another_model_are_refused_and_never_loaded_in_part(asked, tmp_path):
    config = config_of(2, 4, "grouped")
    scores = Scores(0.0, 0.0, 1, (), 0.0, 0.0, 0)
    save(
        EncoderDecoder(config),
        Card("tiny", TrainingSettings("reverse", config, num_steps=1, batch_size=1), scores, "0"),
        tmp_path,
    )
    path = tmp_path / "tiny.safetensors"
    assert load_weights(path, config).config == config
    with pytest.raises(CheckpointError, match="were trained with"):
        load_weights(path, config_of(*asked))
