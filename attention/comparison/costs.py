"""What a model costs, worked out from its configuration: weights, kept K/V, multiply-adds.

Multiply-adds are those of the matrix products, as the explicit path computes them: the whole square of a causal map
counts, and so do cells that a mask hides. Additions of biases, norms, softmax and GELU are left out; they are a small
share, and nobody counts them.
"""

from dataclasses import dataclass

from attention.config import ModelConfig, StackConfig
from attention.cross_attention import num_feed_weights

BYTES = 4  # of a 32-bit number
LENGTH = 8  # source tokens and target tokens of the pass that the table counts: an average word with its end token


@dataclass(frozen=True)
class Costs:
    """What one model costs.

    Attributes:
        parameters: weights and biases, all of them.
        kv_bytes: keys and values that cross-attention keeps per source token, so that no step of the decoding has to
            make any again; 32 bit. Ways that share K/V over the decoder's layers keep them once. Learned slots do not
            grow with the source and are not counted; neither is the decoder's own self-attention.
        source_madds: multiply-adds per source token: the encoder, and making K/V from it for all decoder layers.
        target_madds: multiply-adds per target token: the rest of the decoder, up to the logits.
    """

    parameters: int
    kv_bytes: int
    source_madds: float
    target_madds: float


def costs(config: ModelConfig, length: int = LENGTH) -> Costs:
    """Costs of a configuration that fits together, for `length` source and `length` target tokens."""
    return Costs(
        parameters=num_parameters(config),
        kv_bytes=BYTES * kept_kv(config),
        source_madds=source_madds(config, length) / length,
        target_madds=target_madds(config, length, length) / length,
    )


def num_parameters(config: ModelConfig) -> int:
    """Weights and biases, tied to nothing."""
    enc, dec, bias = config.encoder, config.decoder, config.bias

    def linear(inputs: int, outputs: int) -> int:
        return inputs * outputs + (outputs if bias else 0)

    def norm(width: int) -> int:
        return 2 * width if bias else width

    def block(stack: StackConfig) -> int:
        """Self-attention and feed-forward with their norms."""
        width = stack.d_model
        attention = linear(width, stack.total_width) + 2 * linear(width, stack.kv_width)
        attention += linear(stack.total_width, width)
        return attention + linear(width, stack.ffn_dim) + linear(stack.ffn_dim, width) + 2 * norm(width)

    cross = linear(dec.d_model, dec.total_width) + linear(dec.total_width, dec.d_model) + norm(dec.d_model)
    handed_over = 0 if config.kv == "reproject" else 2 * linear(enc.d_model, enc.kv_width)
    encoder = config.src_vocab_size * enc.d_model + enc.num_layers * block(enc) + norm(enc.d_model) + handed_over
    decoder = config.tgt_vocab_size * dec.d_model + dec.num_layers * (block(dec) + cross) + norm(dec.d_model)
    decoder += num_feed_weights(config)
    return encoder + decoder + linear(dec.d_model, config.tgt_vocab_size)


def kept_kv(config: ModelConfig) -> int:
    """Numbers kept per source token, keys and values of all decoder layers together."""
    enc, dec = config.encoder, config.decoder
    if config.kv == "reproject":
        return 2 * dec.num_layers * dec.kv_width
    if config.kv == "projection":
        return 2 * dec.num_layers * dec.total_width
    if config.kv == "grouped":
        return 2 * min(enc.num_kv_heads, dec.num_heads) * enc.head_dim
    return 2 * enc.kv_width


def source_madds(config: ModelConfig, src_len: int) -> int:
    """Multiply-adds of reading the source, K/V for cross-attention included."""
    enc, dec = config.encoder, config.decoder
    total = enc.num_layers * _block_madds(enc, src_len)
    if config.kv == "reproject":
        return total + src_len * dec.num_layers * 2 * enc.d_model * dec.kv_width
    total += src_len * 2 * enc.d_model * enc.kv_width
    if config.kv == "projection" and config.kv_variant == "mix":
        total += src_len * dec.num_layers * 2 * enc.num_kv_heads * dec.num_heads * enc.head_dim
    elif config.kv == "projection":
        total += src_len * dec.num_layers * 2 * enc.kv_width * dec.total_width
    return total


def target_madds(config: ModelConfig, src_len: int, tgt_len: int) -> int:
    """Multiply-adds of the decoder over `tgt_len` tokens, K/V of the source being there."""
    enc, dec = config.encoder, config.decoder
    own_width = own_len = 0
    if config.kv == "extra" and dec.num_heads > enc.num_kv_heads:
        own_len = config.num_slots if config.kv_variant == "slots" else tgt_len
        own_width = 0 if config.kv_variant == "slots" else (dec.num_heads - enc.num_kv_heads) * dec.head_dim
    cross = tgt_len * 2 * dec.d_model * dec.total_width  # W_Q and W_O
    cross += tgt_len * 2 * dec.d_model * own_width  # W_K and W_V of the decoder's own states
    cross += 2 * tgt_len * (src_len + own_len) * dec.total_width  # scores, and mixing the values
    layers = dec.num_layers * (_block_madds(dec, tgt_len) + cross)
    return layers + tgt_len * dec.d_model * config.tgt_vocab_size


def _block_madds(stack: StackConfig, length: int) -> int:
    """Self-attention and feed-forward of one layer."""
    projections = length * stack.d_model * (2 * stack.total_width + 2 * stack.kv_width)
    attention = 2 * length * length * stack.total_width
    return projections + attention + length * 2 * stack.d_model * stack.ffn_dim
