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
    """Runs one sequence pair; `weights` is the state dict of a model as NumPy arrays.

    `added` is what each head added in the last run, (heads, rows, d_model), by the name of the attention operation.
    """

    def __init__(self, config, state_dict) -> None:
        self.config = config
        self.weights = {name: tensor.detach().double().numpy() for name, tensor in state_dict.items()}
        self.added = {}

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

    def attention(self, name: str, x, keys, values, allowed, head_dim):
        """Output, maps (heads, rows, columns) and queries (heads, rows, head_dim) of one attention operation.

        `keys`, `values` and `allowed` are lists with one array for each query head.
        """
        all_queries = self.linear(f"{name}.w_q", x)
        maps = np.zeros((len(keys), *allowed[0].shape))
        queries = np.zeros((len(keys), len(x), head_dim))
        mixed = np.zeros((len(x), len(keys) * head_dim))
        for head in range(len(keys)):
            own = slice(head * head_dim, (head + 1) * head_dim)
            queries[head] = all_queries[:, own]
            for row in range(len(x)):
                scores = keys[head] @ queries[head, row] / np.sqrt(head_dim)
                maps[head, row] = softmax_row(scores, allowed[head][row])
                mixed[row, own] = maps[head, row] @ values[head]
        w_o = self.weights[f"{name}.w_o.weight"]
        slices = [slice(head * head_dim, (head + 1) * head_dim) for head in range(len(keys))]
        self.added[name] = np.stack([mixed[:, own] @ w_o[:, own].T for own in slices])
        return self.linear(f"{name}.w_o", mixed), maps, queries

    def projected_heads(self, name: str, x, head_dim: int, letter: str) -> list[np.ndarray]:
        """Keys or values, cut into heads: a list of (rows, head_dim)."""
        features = self.linear(f"{name}.w_{letter}", x)
        return [features[:, start : start + head_dim] for start in range(0, features.shape[1], head_dim)]

    def self_attention(self, name: str, x, allowed, stack):
        group = stack.num_heads // stack.num_kv_heads
        keys, values = (self.projected_heads(name, x, stack.head_dim, letter) for letter in "kv")
        keys, values = ([heads[head // group] for head in range(stack.num_heads)] for heads in (keys, values))
        return self.attention(name, x, keys, values, [allowed] * stack.num_heads, stack.head_dim)

    def cross_attention(self, name: str, x, memory, to_source, to_target):
        enc, dec, kv = self.config.encoder, self.config.decoder, self.config.kv
        allowed = [to_source] * dec.num_heads
        if kv == "reproject":
            group = dec.num_heads // dec.num_kv_heads
            keys, values = (self.projected_heads(f"{name}.kv_way", memory, dec.head_dim, letter) for letter in "kv")
            keys, values = ([heads[head // group] for head in range(dec.num_heads)] for heads in (keys, values))
        else:
            handed = {letter: self.projected_heads("encoder", memory, enc.head_dim, letter) for letter in "kv"}
            keys, values = (self.adapted(f"{name}.kv_way", handed[letter], letter) for letter in "kv")
        if kv == "extra" and dec.num_heads > enc.num_kv_heads:
            keys, values, allowed = self.with_own(f"{name}.kv_way", x, keys, values, to_source, to_target)
        return self.attention(name, x, keys, values, allowed, dec.head_dim)

    def adapted(self, way: str, heads: list[np.ndarray], letter: str) -> list[np.ndarray]:
        """The encoder's K or V heads as the decoder's heads get them, one for each (`extra`: for the first ones)."""
        dec, kv, variant = self.config.decoder, self.config.kv, self.config.kv_variant
        if (kv, variant) == ("projection", "mix"):
            mixture = self.weights[f"{way}.map_{letter}.weight"]
            return [sum(mixture[head, i] * theirs for i, theirs in enumerate(heads)) for head in range(dec.num_heads)]
        if kv == "projection":
            features = self.linear(f"{way}.map_{letter}", np.concatenate(heads, axis=1))
            return [features[:, head * dec.head_dim : (head + 1) * dec.head_dim] for head in range(dec.num_heads)]
        if kv == "extra":
            return heads
        if dec.num_heads >= len(heads):  # grouped; direct with one head or as many
            return [heads[head // (dec.num_heads // len(heads))] for head in range(dec.num_heads)]
        if variant == "drop":
            return heads[: dec.num_heads]
        group = len(heads) // dec.num_heads
        return [np.mean(heads[head * group : (head + 1) * group], axis=0) for head in range(dec.num_heads)]

    def with_own(self, way: str, x, keys, values, to_source, to_target):
        """Source columns first and the decoder's own after them; each head may look at one of the two only."""
        dec, first = self.config.decoder, len(keys)
        if self.config.kv_variant == "slots":
            own = {letter: self.weights[f"{way}.slots_{letter}.weight"] for letter in "kv"}
            to_own = np.ones((len(x), len(own["k"])), dtype=bool)
        else:
            own = {letter: self.linear(f"{way}.w_{letter}", x) for letter in "kv"}
            to_own = to_target
        keys, values = (
            [np.concatenate([theirs, np.full((to_own.shape[1], dec.head_dim), 7.0)]) for theirs in heads]
            + [
                np.concatenate(
                    [np.full((to_source.shape[1], dec.head_dim), 7.0), own[letter][:, start : start + dec.head_dim]]
                )
                for start in range(0, own[letter].shape[1], dec.head_dim)
            ]
            for letter, heads in (("k", keys), ("v", values))
        )  # sevens: what no head may look at must not matter
        allowed = [np.hstack([to_source, to_own & False])] * first
        allowed += [np.hstack([to_source & False, to_own])] * (dec.num_heads - first)
        return keys, values, allowed

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
            change, *seen = self.cross_attention(
                f"{name}.cross", self.norm(f"{name}.norm_cross", y), memory, to_source, causal
            )
            record("cross", *seen)
            y = y + change
            y = y + self.feed_forward(f"{name}.ffn", self.norm(f"{name}.norm_ffn", y))
        out.logits = self.linear("decoder.to_logits", self.norm("decoder.norm", y))
        return out
