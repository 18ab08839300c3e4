"""What is written down about published models, compared with the configurations that Hugging Face ships."""

import pytest
import transformers

from attention.experiments.published import EQUAL_MODELS, PUBLISHED_MODELS, Side
from pages.shared.texts import label

MODELS = {model.key: model for model in PUBLISHED_MODELS}


def test_llama_vision_is_as_in_transformers():
    config = transformers.MllamaConfig()
    vision, text = config.vision_config, config.text_config
    model = MODELS["llama_vision"]
    assert model.encoder == Side(
        vision.hidden_size, vision.attention_heads, vision.hidden_size // vision.attention_heads
    )
    assert (model.decoder.d_model, model.decoder.num_heads) == (text.hidden_size, text.num_attention_heads)
    assert model.decoder.num_kv_heads == text.num_key_value_heads
    assert model.decoder.total_width == text.hidden_size


def test_blip_2_is_as_in_transformers():
    config = transformers.Blip2Config()
    sides = (MODELS["blip2"].encoder, config.vision_config), (MODELS["blip2"].decoder, config.qformer_config)
    for side, theirs in sides:
        assert (side.d_model, side.num_heads) == (theirs.hidden_size, theirs.num_attention_heads)
        assert side.total_width == theirs.hidden_size


def test_sam_b_is_as_in_transformers_and_the_others_share_its_decoder():
    config = transformers.SamConfig()
    vision, mask = config.vision_config, config.mask_decoder_config
    model = MODELS["sam_b"]
    assert (model.encoder.d_model, model.encoder.num_heads) == (vision.hidden_size, vision.num_attention_heads)
    assert (model.decoder.d_model, model.decoder.num_heads) == (mask.hidden_size, mask.num_attention_heads)
    assert model.decoder.total_width == mask.hidden_size // mask.attention_downsample_rate
    assert MODELS["sam_l"].decoder == MODELS["sam_h"].decoder == model.decoder


def test_dia_is_as_in_transformers():
    config = transformers.DiaConfig()
    encoder, decoder = config.encoder_config, config.decoder_config
    model = MODELS["dia"]
    assert model.encoder == Side(
        encoder.hidden_size, encoder.num_attention_heads, encoder.head_dim, encoder.num_key_value_heads
    )
    assert model.decoder == Side(
        decoder.hidden_size,
        decoder.cross_num_attention_heads,
        decoder.cross_head_dim,
        decoder.cross_num_key_value_heads,
    )
    assert model.self_kv_heads == decoder.num_key_value_heads


@pytest.mark.parametrize(
    ("name", "config"),
    [("BART-large", "BartConfig"), ("Marian", "MarianConfig"), ("M2M100", "M2M100Config"), ("DETR", "DetrConfig")],
)
def test_models_named_as_equal_are_equal_in_transformers(name, config):
    (model,) = (model for model in EQUAL_MODELS if model.name == name)
    theirs = getattr(transformers, config)()
    assert model.num_heads == theirs.encoder_attention_heads == theirs.decoder_attention_heads


@pytest.mark.parametrize(
    ("key", "encoder", "decoder"),
    [
        ("trocr_small", (384, 6, 64, 6), (256, 8, 32, 8)),
        ("trocr_base", (768, 12, 64, 12), (1024, 16, 64, 16)),
        ("musicgen_s", (768, 12, 64, 12), (1024, 16, 64, 16)),
        ("musicgen_m", (768, 12, 64, 12), (1536, 24, 64, 24)),
        ("musicgen_l", (768, 12, 64, 12), (2048, 32, 64, 32)),
        ("t5gemma", (3584, 16, 256, 8), (2304, 8, 256, 4)),
        ("donut", (1024, 32, 32, 32), (1024, 16, 64, 16)),
        ("t5_11b", (1024, 128, 128, 128), (1024, 128, 128, 128)),
        ("mt5_small", (512, 6, 64, 6), (512, 6, 64, 6)),
    ],
)
def test_figures_that_no_class_has_as_its_defaults(key, encoder, decoder):
    model = MODELS[key]
    for side, figures in ((model.encoder, encoder), (model.decoder, decoder)):
        assert (side.d_model, side.num_heads, side.head_dim, side.num_kv_heads) == figures


def test_inner_widths_that_are_not_the_width():
    assert MODELS["t5_11b"].encoder.total_width == 16384
    assert MODELS["mt5_small"].decoder.total_width == 384
    assert MODELS["dia"].encoder.total_width == 2048


def test_every_model_has_a_source_and_a_key_of_its_own():
    assert len(MODELS) == len(PUBLISHED_MODELS)
    sources = [source for model in PUBLISHED_MODELS for _, source in model.sources]
    for source in (*sources, *(model.source for model in EQUAL_MODELS)):
        assert source.url.startswith("https://")
        assert source.name
        assert source.part


def test_every_figure_has_a_source_and_so_has_the_bridge_where_there_is_one():
    for model in PUBLISHED_MODELS:
        assert model.sources.encoder and model.sources.decoder
        assert bool(model.sources.bridge) == (model.bridge is not None)
        assert model.bridge or model.encoder.d_model == model.decoder.d_model  # an unequal width has to be bridged


def test_a_source_of_several_figures_is_named_once():
    by_key = {model.key: list(model.sources) for model in PUBLISHED_MODELS}
    assert [(of, source.part) for of, source in by_key["trocr_small"]] == [
        (("encoder", "decoder", "bridge"), "trocr/trocr_models.py"),
        (("encoder",), "trocr/deit.py"),
    ]
    assert [(of, source.name) for of, source in by_key["musicgen_m"]] == [
        (("encoder",), "facebookresearch/audiocraft"),
        (("encoder",), "google-t5/t5-base"),
        (("decoder",), "facebookresearch/audiocraft"),
        (("bridge",), "facebookresearch/audiocraft"),
    ]
    assert [source.part for _, source in by_key["t5gemma"]] == ["gemma/research/t5gemma/config.py"]


def test_the_widths_of_llama_s_projection_and_of_sam_s_neck():
    vision = transformers.MllamaConfig().vision_config
    text = transformers.MllamaConfig().text_config
    layers = 1 + len(vision.intermediate_layers_indices)  # the last one's states, and those of some before it
    assert (layers, layers * vision.hidden_size, vision.vision_output_dim) == (6, 7680, 7680)
    assert text.hidden_size == MODELS["llama_vision"].decoder.d_model == 4096
    said = label("published_models", "side_by_side")
    assert "six layers" in said and "7,680" in said and "4,096" in said
    assert transformers.SamConfig().vision_config.output_channels == MODELS["sam_h"].decoder.d_model == 256
    assert "256" in label("published_models", "neck")


def test_both_sides_differ_or_the_width_is_not_what_the_heads_make():
    for model in PUBLISHED_MODELS:
        assert model.encoder != model.decoder or model.encoder.total_width != model.encoder.d_model
