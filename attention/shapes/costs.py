"""What a model costs: weights, kept K/V and multiply-adds, counted on the meta device, where tensors have shapes only.

Multiply-adds are those of the matrix products, as the explicit path computes them: the whole square of a causal map
counts, and so do cells that a mask hides. Additions of biases, norms, softmax and GELU are left out; they are a small
share, and nobody counts them.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import torch

from attention.cache import DecoderCache, kept_kv
from attention.config import ModelConfig
from attention.cross_attention import fits
from attention.model import EncoderDecoder

BYTES = 4  # of a 32-bit number
LENGTH = 8  # source tokens and target tokens of the pass that the table counts: an average word with its end token


@dataclass(frozen=True)
class Costs:
    """What one model costs.

    Attributes:
        parameters: weights and biases, all of them.
        kv_bytes: keys and values that cross-attention keeps per source token, so that no step of the decoding has to
            make any again; 32 bit. Learned slots do not grow with the source and are not counted; neither is the
            decoder's own self-attention.
        source_madds: multiply-adds per source token: the encoder, and making K/V from it for all decoder layers.
        target_madds: multiply-adds per target token: the rest of the decoder, up to the logits.
    """

    parameters: int
    kv_bytes: int
    source_madds: float
    target_madds: float


def costs(config: ModelConfig, length: int = LENGTH) -> Costs:
    """Costs of a configuration that fits together, for `length` source and `length` target tokens."""
    source, target = multiply_adds(config, length, length)
    return Costs(num_parameters(config), BYTES * kept_kv(config), source / length, target / length)


@lru_cache(maxsize=1024)
def num_parameters(config: ModelConfig) -> int:
    """Weights and biases, tied to nothing; of a configuration that does not fit together an upper bound.

    The bound is that of the textbook model of these sizes with the W_K and W_V of an encoder that hands over heads.
    """
    if fits(config):
        return _count(_model(config))
    enc = config.encoder
    return num_parameters(replace(config, kv="reproject", kv_variant=None)) + 2 * enc.kv_width * (enc.d_model + 1)


@lru_cache(maxsize=1024)
def num_kv_parameters(config: ModelConfig) -> int:
    """Those of the weights and biases that make cross-attention's keys and values, on both sides; it has to fit."""
    model = _model(config)
    ways = sum(_count(layer.cross.kv_way) for layer in model.decoder.layers)
    return ways + sum(_count(getattr(model.encoder, name)) for name in ("w_k", "w_v") if hasattr(model.encoder, name))


@lru_cache(maxsize=1024)
def multiply_adds(config: ModelConfig, src_len: int, tgt_len: int) -> tuple[int, int]:
    """Multiply-adds of reading the source, its K/V for all decoder layers included, and of the rest of the decoder."""
    from torch.utils.flop_counter import FlopCounterMode  # slow to import, and few visitors ask what anything costs

    model = _model(config)
    src_ids, tgt_ids = (torch.ones(1, length, dtype=torch.long, device="meta") for length in (src_len, tgt_len))
    with torch.no_grad(), FlopCounterMode(display=False) as source:
        memory = model.encode(src_ids).memory
        cache = DecoderCache.empty(config, memory)
        for layer, kept in zip(model.decoder.layers, cache.layers, strict=True):
            kept.source = layer.cross.kv_way.source_kv(memory)
    with torch.no_grad(), FlopCounterMode(display=False) as target:
        model.step(tgt_ids, cache)
    return source.get_total_flops() // 2, target.get_total_flops() // 2


def _model(config: ModelConfig) -> EncoderDecoder:
    with torch.device("meta"):
        return EncoderDecoder(config, seed=None)


def _count(module: torch.nn.Module) -> int:
    return sum(weight.numel() for weight in module.parameters())
