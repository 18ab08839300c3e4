"""What the pages know of a model before they make it."""

import pytest

from attention import EncoderDecoder, ModelConfig, StackConfig
from pages.parts.models import num_weights


@pytest.mark.parametrize("kv_heads", [None, 1])
def test_weights_are_counted_as_the_model_has_them(kv_heads):
    config = ModelConfig(
        encoder=StackConfig(23, 3, 5, num_layers=1, ffn_dim=31),
        decoder=StackConfig(29, 7, 2, num_layers=3, num_kv_heads=kv_heads),
        src_vocab_size=11,
        tgt_vocab_size=13,
    )
    matrices = [weight for weight in EncoderDecoder(config).parameters() if weight.ndim > 1]
    assert num_weights(config) == sum(weight.numel() for weight in matrices)
