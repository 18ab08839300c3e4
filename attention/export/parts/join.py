def join(handed, own, own_mask):
    """Both side by side: a head has zeros, which its mask hides, in the columns that it does not read."""
    src_len, own_len = handed[0].shape[2], own[0].shape[2]
    k, v = (torch.cat([F.pad(h, (0, 0, 0, own_len)), F.pad(o, (0, 0, src_len, 0))], dim=1) for h, o in zip(handed, own))
    reads_source = torch.arange(DEC_HEADS)[:, None, None] < ENC_KV_HEADS  # (heads, 1, 1)
    source_mask = torch.ones(len(own_mask), src_len, dtype=torch.bool)
    return k, v, torch.cat([source_mask & reads_source, own_mask & ~reads_source], dim=-1)
