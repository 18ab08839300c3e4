def keys_values(name, memory, x):
    """The first decoder heads read the encoder's K/V heads, the surplus heads the decoder's own states up to here."""
    own = [split_heads(linear(x, f"{name}.{w}"), DEC_HEADS - ENC_KV_HEADS, DEC_DIM) for w in ("w_k", "w_v")]
    return join(handed_over(memory), own, torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril())
