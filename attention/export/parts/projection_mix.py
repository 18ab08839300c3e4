def keys_values(name, memory, x):
    """Each decoder head reads a learned mixture of the encoder's K/V heads."""
    maps = [W[f"{name}.{w}.weight"] for w in ("map_k", "map_v")]  # (decoder heads, encoder heads)
    k, v = (torch.einsum("bhsd,oh->bosd", kv, w) for kv, w in zip(handed_over(memory), maps))
    return k, v, None
