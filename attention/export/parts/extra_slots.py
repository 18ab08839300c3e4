def keys_values(name, memory, x):
    """The first decoder heads read the encoder's K/V heads, the surplus heads slots that the decoder has learned."""
    slots = [W[f"{name}.slots_{letter}.weight"] for letter in "kv"]  # (slots, surplus heads × head_dim)
    own = [split_heads(kv[None], DEC_HEADS - ENC_KV_HEADS, DEC_DIM) for kv in slots]
    return join(handed_over(memory), own, torch.ones(x.shape[1], len(slots[0]), dtype=torch.bool))
