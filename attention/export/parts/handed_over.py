def handed_over(memory):
    """K and V in the encoder's own heads, the same for every decoder layer."""
    return [split_heads(linear(memory, f"encoder.{w}"), ENC_KV_HEADS, ENC_DIM) for w in ("w_k", "w_v")]
