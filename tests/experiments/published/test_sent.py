"""Bytes between encoder and decoder, against published figures and against tensors that are really made."""

import pytest
import torch

from attention import EncoderDecoder, ModelConfig, StackConfig
from attention.config import START
from attention.cross_attention import KV_WAYS
from attention.experiments.published import BART_LARGE, WHISPER_LARGE_V3, sent_by


def test_bart_large_and_whisper_send_what_was_measured():
    """50.3 MB against 2.1 MB for 1,024 tokens, 245.8 MB against 3.8 MB for 1,500 frames, in 16-bit numbers."""
    for sent, kv, memory in ((BART_LARGE, 50.3, 2.1), (WHISPER_LARGE_V3, 245.8, 3.8)):
        assert round(sent.kv_bytes / 1e6, 1) == kv
        assert round(sent.memory_bytes / 1e6, 1) == memory


def test_bart_large_is_as_in_transformers():
    theirs = pytest.importorskip("transformers").BartConfig()
    assert (BART_LARGE.layers, BART_LARGE.d_model) == (theirs.decoder_layers, theirs.d_model)
    assert BART_LARGE.kv_heads == theirs.decoder_attention_heads
    assert BART_LARGE.kv_heads * BART_LARGE.head_dim == theirs.d_model


@pytest.mark.parametrize("kv", ["reproject", "direct"])
def test_as_many_bytes_as_the_tensors_of_a_model_have(kv):
    encoder = StackConfig(d_model=11, num_heads=6, head_dim=5, num_layers=1, num_kv_heads=3)
    decoder = StackConfig(d_model=13, num_heads=3, head_dim=5, num_layers=7, num_kv_heads=1)
    config = ModelConfig(encoder, decoder, kv=kv)
    model, tokens = EncoderDecoder(config), 17
    memory = model.encode(torch.full((1, tokens), 4)).memory
    sent = sent_by(config, tokens)
    assert sent.memory_bytes == memory.hidden.half().nbytes
    if KV_WAYS[kv].hands_over_heads:
        made = [memory.k, memory.v]
    else:
        made = [t for layer in model.decoder.layers for t in layer.cross.kv_way.source_kv(memory)]
    assert sent.kv_bytes == sum(tensor.half().nbytes for tensor in made)
    assert model.decode(torch.tensor([[START]]), model.encode(torch.full((1, tokens), 4))).logits.isfinite().all()
