"""What a model costs, written out as formulas: an account that is independent of the counting in `shapes.costs`."""

from attention.config import ModelConfig, StackConfig


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
    decoder += dec.num_layers * _way_weights(config)
    return encoder + decoder + linear(dec.d_model, config.tgt_vocab_size)


def _way_weights(config: ModelConfig) -> int:
    """What one decoder layer learns to get its keys and values."""
    enc, dec = config.encoder, config.decoder
    surplus = dec.num_heads - enc.num_kv_heads
    if config.kv == "reproject":
        return 2 * (enc.d_model + config.bias) * dec.kv_width
    if config.kv == "projection":
        mixes = config.kv_variant == "mix"
        return 2 * (enc.num_kv_heads * dec.num_heads if mixes else (enc.kv_width + config.bias) * dec.total_width)
    if config.kv == "extra":
        rows = config.num_slots if config.kv_variant == "slots" else dec.d_model + config.bias
        return 2 * rows * surplus * dec.head_dim
    return 0


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
