def keys_values(name, memory, x):
    """The textbook way: W_K and W_V of each layer project the memory into the decoder's own heads."""
    k, v = (split_heads(linear(memory, f"{name}.{w}"), DEC_KV_HEADS, DEC_DIM) for w in ("w_k", "w_v"))
    return share(k, DEC_HEADS), share(v, DEC_HEADS), None
