def keys_values(name, memory, x):
    """Each decoder head reads the mean of a group of the encoder's K/V heads."""
    groups = (1, DEC_HEADS, ENC_KV_HEADS // DEC_HEADS, memory.shape[1], ENC_DIM)
    k, v = (kv.view(*groups).mean(2) for kv in handed_over(memory))
    return k, v, None
