def keys_values(name, memory, x):
    """A learned map turns all numbers of the encoder's K/V heads into those of the decoder's heads."""
    merged = [kv.transpose(1, 2).flatten(2) for kv in handed_over(memory)]
    k, v = (linear(kv, f"{name}.{w}") for kv, w in zip(merged, ("map_k", "map_v")))
    return split_heads(k, DEC_HEADS, DEC_DIM), split_heads(v, DEC_HEADS, DEC_DIM), None
