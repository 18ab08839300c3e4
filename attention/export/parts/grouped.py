def keys_values(name, memory, x):
    """Each of the encoder's K/V heads serves a group of decoder heads."""
    k, v = handed_over(memory)
    return share(k, DEC_HEADS), share(v, DEC_HEADS), None
