# ---- the rest of the model ----
def norm(x, name):
    return F.layer_norm(x, x.shape[-1:], W[f"{name}.weight"], W.get(f"{name}.bias"))


def feed_forward(x, name):
    return linear(F.gelu(linear(x, f"{name}.w_up")), f"{name}.w_down")


def embed(ids, name):
    """Token embeddings, and sines and cosines of their positions: (1, length, width)"""
    tokens = W[f"{name}.embedding.tokens.weight"][ids]
    length, width = tokens.shape
    angles = torch.arange(length).double()[:, None] / 10_000 ** (torch.arange(0, width, 2).double() / width)
    return (tokens + torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :width].float())[None]


def encode(ids):
    x = embed(ids, "encoder")
    for layer in (f"encoder.layers.{n}" for n in range(ENC_LAYERS)):
        own = norm(x, f"{layer}.norm_attention")
        x = x + self_attention(f"{layer}.attention", own, ENC_HEADS, ENC_KV_HEADS, ENC_DIM)
        x = x + feed_forward(norm(x, f"{layer}.norm_ffn"), f"{layer}.ffn")
    return norm(x, "encoder.norm")


def decode(ids, memory):
    """What comes next after each of these tokens: (length, target tokens)"""
    x, causal = embed(ids, "decoder"), torch.ones(len(ids), len(ids), dtype=torch.bool).tril()
    for layer in (f"decoder.layers.{n}" for n in range(DEC_LAYERS)):
        own = norm(x, f"{layer}.norm_attention")
        x = x + self_attention(f"{layer}.attention", own, DEC_HEADS, DEC_KV_HEADS, DEC_DIM, causal)
        own = norm(x, f"{layer}.norm_cross")
        k, v, mask = keys_values(f"{layer}.cross.kv_way", memory, own)
        x = x + attend(f"{layer}.cross", own, DEC_HEADS, DEC_DIM, k, v, mask)
        x = x + feed_forward(norm(x, f"{layer}.norm_ffn"), f"{layer}.ffn")
    return linear(norm(x, "decoder.norm"), "decoder.to_logits")[0]
