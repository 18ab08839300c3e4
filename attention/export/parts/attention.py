# ---- attention ----
def linear(x, name):
    return F.linear(x, W[f"{name}.weight"], W.get(f"{name}.bias"))


def split_heads(x, heads, head_dim):
    """(1, length, heads × head_dim) → (1, heads, length, head_dim)"""
    return x.view(1, x.shape[1], heads, head_dim).transpose(1, 2)


def share(x, heads):
    """Each K/V head serves a group of query heads: query head i reads K/V head i // group."""
    return x.repeat_interleave(heads // x.shape[1], dim=1)


def attend(name, x, heads, head_dim, k, v, mask=None):
    """What the heads of one layer add; their maps go to MAPS: (heads, queries, keys), each row sums to 1."""
    q = split_heads(linear(x, f"{name}.w_q"), heads, head_dim)
    scores = q @ k.transpose(-2, -1) / math.sqrt(head_dim)
    if mask is not None:  # True: may look there
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = scores.softmax(-1)
    MAPS[name] = weights[0]
    mixed = weights @ v  # (1, heads, queries, head_dim)
    return linear(mixed.transpose(1, 2).flatten(2), f"{name}.w_o")


def self_attention(name, x, heads, kv_heads, head_dim, mask=None):
    k, v = (split_heads(linear(x, f"{name}.{w}"), kv_heads, head_dim) for w in ("w_k", "w_v"))
    return attend(name, x, heads, head_dim, share(k, heads), share(v, heads), mask)
