"""The names that others rely on, used as they are documented."""

import runpy
import sys
from dataclasses import FrozenInstanceError

import app_test
import pytest
import torch

from attention import ConfigError, EncoderDecoder, ModelConfig, StackConfig, trace_shapes

ENCODER = StackConfig(d_model=64, num_heads=4, head_dim=16, num_layers=2)
DECODER = StackConfig(d_model=64, num_heads=8, head_dim=16, num_layers=2)
CONFIG = ModelConfig(encoder=ENCODER, decoder=DECODER, kv="grouped", src_vocab_size=30, tgt_vocab_size=43)


def test_a_model_is_configured_built_and_run():
    model = EncoderDecoder(CONFIG, seed=0)
    src_ids, tgt_ids = torch.tensor([[3, 4, 5, 6, 2, 0], [7, 2, 0, 0, 0, 0]]), torch.tensor([[1, 4, 9], [1, 5, 0]])
    out = model(src_ids, tgt_ids)
    assert out.logits.shape == (2, 3, 43)
    for layer in range(2):
        assert out.maps.encoder[layer].shape == (2, 4, 6, 6)
        assert out.maps.decoder[layer].shape == (2, 8, 3, 3)
        assert out.maps.cross[layer].shape == (2, 8, 3, 6)
        torch.testing.assert_close(out.maps.cross[layer].sum(-1), torch.ones(2, 8, 3))


def test_configurations_are_frozen_keys_with_the_documented_defaults():
    assert {CONFIG: 1}[ModelConfig(ENCODER, DECODER, kv="grouped", src_vocab_size=30, tgt_vocab_size=43)] == 1
    with pytest.raises(FrozenInstanceError):
        CONFIG.kv = "direct"
    stack = StackConfig(d_model=64, num_heads=4)
    assert (stack.head_dim, stack.num_kv_heads) == (16, 4)  # d_model // num_heads; as num_heads
    assert ModelConfig(ENCODER, DECODER, src_vocab_size=30, tgt_vocab_size=43).kv == "reproject"


@pytest.mark.parametrize(
    ("kv", "variants"),
    [("reproject", [None]), ("direct", [None]), ("projection", ["full", "mix"]), ("grouped", ["pool", "drop"]),
     ("extra", ["slots", "states"])],
)  # fmt: skip
def test_every_way_of_getting_keys_and_values_has_its_name_and_its_variants(kv, variants):
    sizes = {"src_vocab_size": 30, "tgt_vocab_size": 43}
    assert ModelConfig(ENCODER, ENCODER, kv=kv, **sizes).kv_variant == variants[0]
    for variant in variants:
        config = ModelConfig(ENCODER, DECODER if kv != "direct" else ENCODER, kv=kv, kv_variant=variant, **sizes)
        assert trace_shapes(config).ok
        EncoderDecoder(config)


def test_what_cannot_work_together_is_told_by_the_trace_and_refused_by_the_model():
    config = ModelConfig(ENCODER, DECODER, kv="direct", src_vocab_size=30, tgt_vocab_size=43)
    trace = trace_shapes(config, src_len=6, tgt_len=5, fault=None)
    assert not trace.ok and trace.steps and trace.failure is not None
    assert issubclass(ConfigError, ValueError)
    with pytest.raises(ConfigError, match=r"\(8\).*\(4\)"):
        EncoderDecoder(config)


@pytest.mark.parametrize("fault", ["indivisible", "w_o_expects_d_model", "w_k_expects_decoder_width"])
def test_a_fault_is_put_in_by_its_name(fault):
    narrow = StackConfig(d_model=48, num_heads=8, head_dim=16, num_layers=2)
    config = ModelConfig(ENCODER, narrow, src_vocab_size=30, tgt_vocab_size=43)
    assert trace_shapes(config).ok and not trace_shapes(config, fault=fault).ok


@pytest.mark.parametrize("command", ["attention.compare", "attention.checkpoints.make"])
@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")
def test_the_commands_have_their_names(command, monkeypatch, capsys):
    """As `python -m` runs them."""
    monkeypatch.setattr(sys, "argv", [command, "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(command, run_name="__main__", alter_sys=True)
    assert ended.value.code == 0 and "usage: " in capsys.readouterr().out


SETTINGS = {
    "task": "reverse", "text": "abc", "enc_heads": 2, "enc_dim": 4, "enc_layers": 1, "enc_width": 16, "dec_heads": 4,
    "dec_dim": 4, "dec_layers": 3, "dec_width": 24, "kv": "grouped", "kv_variant": "pool", "keep": "size",
    "kind": "encoder", "layer": 1, "head": 2, "step": 2, "seed": 5,
}  # fmt: skip


def test_an_address_has_the_same_names_everywhere():
    app = app_test.open_page(**SETTINGS)
    config = app_test.settings_of(app).config
    assert (config.encoder.num_heads, config.encoder.head_dim, config.encoder.d_model) == (2, 4, 16)
    assert (config.decoder.num_heads, config.decoder.head_dim, config.decoder.d_model) == (4, 4, 24)
    assert (config.encoder.num_layers, config.decoder.num_layers) == (1, 3)
    assert (config.kv, config.kv_variant) == ("grouped", "pool")
    assert "is not known" not in app_test.texts(app)
    config = app_test.settings_of(app_test.open_page(width=32)).config
    assert config.encoder.d_model == config.decoder.d_model == 32


@pytest.mark.parametrize("page", ["", "anchors", "shapes", "compare", "redundancy", "wild"])
def test_the_addresses_of_the_pages_stay(page):
    app_test.open_page(page)
