def keys_values(name, memory, x):
    """Surplus decoder heads would read slots of their own. Here the encoder hands over more heads than there are."""
    handed = handed_over(memory)
    own = [torch.zeros(1, DEC_HEADS - ENC_KV_HEADS, SLOTS, DEC_DIM) for _ in handed]
    return join(handed, own, torch.ones(x.shape[1], SLOTS, dtype=torch.bool))
