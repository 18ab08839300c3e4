"""The whole forward pass a second time, in NumPy, head by head and row by row.

It follows the formulas of Vaswani et al. (2017) with the norm before each block, and shares nothing with the library
but the names of the weights. Loops instead of reshapes, on purpose: a head that were cut out wrongly would show.
"""

from types import SimpleNamespace

import numpy as np
from scipy.special import erf


def softmax_row(scores: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Softmax over the allowed places of one row; no allowed place: all zeros."""
    row = np.zeros(len(scores))
    if allowed.any():
        powers = np.exp(scores[allowed] - scores[allowed].max())
        row[allowed] = powers / powers.sum()
    return row


def position_code(position: int, width: int) -> np.ndarray:
    """PE(pos, 2i) = sin(pos / 10000^(2i / width)), PE(pos, 2i + 1) = cos of the same."""
    code = np.zeros(width)
    for feature in range(width):
        angle = position / 10_000 ** (2 * (feature // 2) / width)
        code[feature] = np.cos(angle) if feature % 2 else np.sin(angle)
    return code


class NumpyTransformer:
    """Runs one sequence pair; `weights` is the state dict of a model as NumPy arrays."""

    def __init__(self, config, state_dict) -> None:
        self.config = config
        self.weights = {name: tensor.detach().double().numpy() for name, tensor in state_dict.items()}

    def linear(self, name: str, x: np.ndarray) -> np.ndarray:
        return x @ self.weights[f"{name}.weight"].T + self.weights.get(f"{name}.bias", 0.0)

    def norm(self, name: str, x: np.ndarray) -> np.ndarray:
        mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        x = (x - mean) / np.sqrt(variance + 1e-5)
        return x * self.weights[f"{name}.weight"] + self.weights.get(f"{name}.bias", 0.0)

    def embed(self, name: str, ids) -> np.ndarray:
        table = self.weights[f"{name}.embedding.tokens.weight"]
        return np.stack([table[token] + position_code(place, table.shape[1]) for place, token in enumerate(ids)])

    def feed_forward(self, name: str, x: np.ndarray) -> np.ndarray:
        hidden = self.linear(f"{name}.w_up", x)
        return self.linear(f"{name}.w_down", hidden * (1 + erf(hidden / np.sqrt(2))) / 2)

    def attention(self, name: str, x, all_keys, all_values, allowed, *, heads, kv_heads, head_dim):
        """Output, maps (heads, rows, columns) and queries (heads, rows, head_dim) of one attention operation."""
        all_queries = self.linear(f"{name}.w_q", x)
        maps = np.zeros((heads, *allowed.shape))
        queries = np.zeros((heads, len(x), head_dim))
        mixed = np.zeros((len(x), heads * head_dim))
        for head in range(heads):
            own = slice(head * head_dim, (head + 1) * head_dim)
            kv_head = head // (heads // kv_heads)
            theirs = slice(kv_head * head_dim, (kv_head + 1) * head_dim)
            queries[head] = all_queries[:, own]
            for row in range(len(x)):
                scores = all_keys[:, theirs] @ queries[head, row] / np.sqrt(head_dim)
                maps[head, row] = softmax_row(scores, allowed[row])
                mixed[row, own] = maps[head, row] @ all_values[:, theirs]
        return self.linear(f"{name}.w_o", mixed), maps, queries

    def self_attention(self, name: str, x, allowed, stack):
        keys, values = self.linear(f"{name}.w_k", x), self.linear(f"{name}.w_v", x)
        sizes = {"heads": stack.num_heads, "kv_heads": stack.num_kv_heads, "head_dim": stack.head_dim}
        return self.attention(name, x, keys, values, allowed, **sizes)

    def cross_attention(self, name: str, x, memory, allowed):
        dec, direct = self.config.decoder, self.config.kv == "direct"
        maker = "encoder" if direct else f"{name}.feed"
        kv_heads = self.config.encoder.num_kv_heads if direct else dec.num_kv_heads
        keys, values = self.linear(f"{maker}.w_k", memory), self.linear(f"{maker}.w_v", memory)
        sizes = {"heads": dec.num_heads, "kv_heads": kv_heads, "head_dim": dec.head_dim}
        return self.attention(name, x, keys, values, allowed, **sizes)

    def run(self, src_ids, tgt_ids) -> SimpleNamespace:
        """Logits, and lists of maps and queries per layer, for one source and one target."""
        src_ids, tgt_ids = np.asarray(src_ids), np.asarray(tgt_ids)
        out = SimpleNamespace(maps=SimpleNamespace(encoder=[], decoder=[], cross=[]))
        out.queries = SimpleNamespace(encoder=[], decoder=[], cross=[])

        def record(kind: str, maps, queries) -> None:
            getattr(out.maps, kind).append(maps)
            getattr(out.queries, kind).append(queries)

        x, allowed = self.embed("encoder", src_ids), np.tile(src_ids != 0, (len(src_ids), 1))
        for layer in range(self.config.encoder.num_layers):
            name = f"encoder.layers.{layer}"
            change, *seen = self.self_attention(
                f"{name}.attention", self.norm(f"{name}.norm_attention", x), allowed, self.config.encoder
            )
            record("encoder", *seen)
            x = x + change
            x = x + self.feed_forward(f"{name}.ffn", self.norm(f"{name}.norm_ffn", x))
        memory = self.norm("encoder.norm", x)

        y = self.embed("decoder", tgt_ids)
        rows, columns = np.indices((len(tgt_ids), len(tgt_ids)))
        causal = (columns <= rows) & (tgt_ids != 0)
        to_source = np.tile(src_ids != 0, (len(tgt_ids), 1))
        for layer in range(self.config.decoder.num_layers):
            name = f"decoder.layers.{layer}"
            change, *seen = self.self_attention(
                f"{name}.attention", self.norm(f"{name}.norm_attention", y), causal, self.config.decoder
            )
            record("decoder", *seen)
            y = y + change
            change, *seen = self.cross_attention(f"{name}.cross", self.norm(f"{name}.norm_cross", y), memory, to_source)
            record("cross", *seen)
            y = y + change
            y = y + self.feed_forward(f"{name}.ffn", self.norm(f"{name}.norm_ffn", y))
        out.logits = self.linear("decoder.to_logits", self.norm("decoder.norm", y))
        return out
