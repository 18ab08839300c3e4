def keys_values(name, memory, x):
    """The decoder's heads read the first of the encoder's K/V heads; the others are not used."""
    groups = (1, ENC_KV_HEADS // DEC_HEADS, DEC_HEADS, memory.shape[1], ENC_DIM)
    k, v = (kv.view(*groups)[:, 0] for kv in handed_over(memory))
    return k, v, None
