"""Encoder, decoder, and the two together: a small pre-norm Transformer whose every attention map can be seen.

Nothing is kept on a module: maps and query vectors are returned. Read `functional.py` first; the K/V ways are in
`cross_attention/`.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from attention.cache import DecoderCache, LayerCache
from attention.config import PAD, ConfigError, ModelConfig, StackConfig
from attention.cross_attention import KV_WAYS, Memory, check_fit
from attention.functional import attend, causal_mask, described, dropout, merge_heads, split_heads
from attention.layers import Embedding, Linear, initialise


class Recording(NamedTuple):
    """What one attention operation did: its weights, the query vectors it used, and where they were allowed to look.

    `mixed` is each head's output A·V, before W_O. All is None when no maps were asked for.
    """

    weights: Float[Tensor, "batch heads q_len kv_len"] | None = None
    queries: Float[Tensor, "batch heads q_len head_dim"] | None = None
    mask: Bool[Tensor, "batch #heads #q_len kv_len"] | None = None
    keys: Float[Tensor, "batch kv_heads kv_len head_dim"] | None = None
    values: Float[Tensor, "batch kv_heads kv_len head_dim"] | None = None
    mixed: Float[Tensor, "batch heads q_len head_dim"] | None = None


class PerKind(NamedTuple):
    """One tensor per layer, for each of the three kinds of attention."""

    encoder: tuple[Tensor, ...]
    decoder: tuple[Tensor, ...]
    cross: tuple[Tensor, ...]


class Encoded(NamedTuple):
    """The memory, and a recording per encoder layer; none when no maps were asked for."""

    memory: Memory
    recordings: tuple[Recording, ...]


class Output(NamedTuple):
    """Logits, and (unless `need_maps=False`) the maps, query vectors and masks of every layer and head."""

    logits: Float[Tensor, "batch tgt_len tgt_vocab_size"]
    maps: PerKind | None
    queries: PerKind | None
    masks: PerKind | None


class Attention(nn.Module):
    """W_Q and W_O of one attention operation, around whatever keys and values it is given.

    Heads × head size need not equal `d_model`: W_Q leads from the one to the other and W_O back.
    """

    def __init__(self, stack: StackConfig, *, bias: bool, dropout_p: float) -> None:
        super().__init__()
        self.num_heads, self.dropout_p = stack.num_heads, dropout_p
        self.w_q = Linear(stack.d_model, stack.total_width, bias=bias)
        self.w_o = Linear(stack.total_width, stack.d_model, bias=bias)

    def attend(self, x, k, v, mask, need_maps: bool, generator) -> tuple[Tensor, Recording]:
        q = split_heads(self.w_q(x), self.num_heads)  # (batch, heads, q_len, head_dim)
        mixed, weights = attend(q, k, v, mask, need_weights=need_maps, dropout_p=self.dropout_p, generator=generator)
        return self.w_o(merge_heads(mixed)), Recording(weights, q, mask, k, v, mixed) if need_maps else Recording()


class SelfAttention(Attention):
    """Queries, keys and values all come from the same hidden states."""

    def __init__(self, stack: StackConfig, *, bias: bool = False, dropout_p: float = 0.0) -> None:
        super().__init__(stack, bias=bias, dropout_p=dropout_p)
        self.num_kv_heads = stack.num_kv_heads
        self.w_k = Linear(stack.d_model, stack.kv_width, bias=bias)
        self.w_v = Linear(stack.d_model, stack.kv_width, bias=bias)

    def forward(
        self,
        x: Float[Tensor, "batch len d_model"],
        mask: Bool[Tensor, "batch 1 #len len"] | None = None,
        need_maps: bool = True,
        generator: torch.Generator | None = None,
        cache: LayerCache | None = None,
    ) -> tuple[Float[Tensor, "batch len d_model"], Recording]:
        k = split_heads(self.w_k(x), self.num_kv_heads)  # (batch, kv_heads, len, head_dim)
        v = split_heads(self.w_v(x), self.num_kv_heads)
        if cache is not None:
            k, v = cache.extend_own((k, v))
        return self.attend(x, k, v, mask, need_maps, generator)


class CrossAttention(Attention):
    """Queries come from the decoder; keys and values as `config.kv` says."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config.decoder, bias=config.bias, dropout_p=config.dropout)
        self.kv_way = KV_WAYS[config.kv](config)

    def forward(
        self,
        x: Float[Tensor, "batch q_len dec_width"],
        memory: Memory,
        own_mask: Bool[Tensor, "batch 1 q_len tgt_len"] | None,
        need_maps: bool = True,
        generator: torch.Generator | None = None,
        cache: LayerCache | None = None,
    ) -> tuple[Float[Tensor, "batch q_len dec_width"], Recording]:
        supply = (memory, x, own_mask)
        k, v, mask = self.kv_way(*supply) if cache is None else cache.cross(self.kv_way, *supply)
        return self.attend(x, k, v, mask, need_maps, generator)


class FeedForward(nn.Module):
    """Two linear layers with a GELU between them, applied to each position by itself."""

    def __init__(self, stack: StackConfig, *, bias: bool) -> None:
        super().__init__()
        self.w_up = Linear(stack.d_model, stack.ffn_dim, bias=bias)
        self.w_down = Linear(stack.ffn_dim, stack.d_model, bias=bias)

    def forward(self, x: Float[Tensor, "batch len d_model"]) -> Float[Tensor, "batch len d_model"]:
        return self.w_down(nn.functional.gelu(self.w_up(x)))


class EncoderLayer(nn.Module):
    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        stack, self.dropout_p = config.encoder, config.dropout
        self.norm_attention = nn.LayerNorm(stack.d_model, bias=config.bias)
        self.attention = SelfAttention(stack, bias=config.bias, dropout_p=config.dropout)
        self.norm_ffn = nn.LayerNorm(stack.d_model, bias=config.bias)
        self.ffn = FeedForward(stack, bias=config.bias)

    def forward(self, x, mask, need_maps: bool, generator) -> tuple[Tensor, Recording]:
        change, recording = self.attention(self.norm_attention(x), mask, need_maps, generator)
        x = x + dropout(change, self.dropout_p, generator)
        x = x + dropout(self.ffn(self.norm_ffn(x)), self.dropout_p, generator)
        return x, recording


class DecoderLayer(nn.Module):
    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        stack, self.dropout_p = config.decoder, config.dropout
        self.norm_attention = nn.LayerNorm(stack.d_model, bias=config.bias)
        self.attention = SelfAttention(stack, bias=config.bias, dropout_p=config.dropout)
        self.norm_cross = nn.LayerNorm(stack.d_model, bias=config.bias)
        self.cross = CrossAttention(config)
        self.norm_ffn = nn.LayerNorm(stack.d_model, bias=config.bias)
        self.ffn = FeedForward(stack, bias=config.bias)

    def forward(self, x, mask, memory, need_maps: bool, generator, cache=None) -> tuple[Tensor, Recording, Recording]:
        change, own = self.attention(self.norm_attention(x), mask, need_maps, generator, cache)
        x = x + dropout(change, self.dropout_p, generator)
        change, cross = self.cross(self.norm_cross(x), memory, mask, need_maps, generator, cache)
        x = x + dropout(change, self.dropout_p, generator)
        x = x + dropout(self.ffn(self.norm_ffn(x)), self.dropout_p, generator)
        return x, own, cross


class PositionedEmbedding(nn.Module):
    """Token embeddings plus sinusoidal positions (Vaswani et al. 2017, section 3.5), for any length."""

    def __init__(self, vocab_size: int, d_model: int) -> None:
        super().__init__()
        self.tokens = Embedding(vocab_size, d_model)

    def forward(self, ids: Int[Tensor, "batch len"], first: int = 0) -> Float[Tensor, "batch len d_model"]:
        """`first` is the position of the first of these tokens."""
        weight = self.tokens.weight
        try:
            tokens = self.tokens(ids)
        except IndexError:  # asked for afterwards, as looking at all numbers beforehand would cost each step
            low, high, last = int(ids.min()), int(ids.max()), len(weight) - 1
            raise ValueError(f"token ids from {low} to {high} must lie between 0 and {last}") from None
        return tokens + sinusoids(first + ids.shape[1], weight.shape[1])[first:].to(weight)


def _require_ids(name: str, ids: Tensor) -> None:
    if not isinstance(ids, Tensor) or ids.ndim != 2 or ids.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"{name} must be a tensor of int64 or int32 of shape (batch, length), not {described(ids)}")


def sinusoids(length: int, d_model: int) -> Float[Tensor, "length d_model"]:
    """Sines in the even features and cosines in the odd ones, wavelengths from 2π to 10,000 · 2π."""
    rates = torch.exp(torch.arange(0, d_model, 2, dtype=torch.float64) * (-math.log(10_000.0) / d_model))
    angles = torch.arange(length, dtype=torch.float64)[:, None] * rates  # (length, d_model / 2, rounded up)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :d_model]


class Encoder(nn.Module):
    """Reads the source once and leaves the memory."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        stack = config.encoder
        self.num_kv_heads = stack.num_kv_heads
        self.embedding = PositionedEmbedding(config.src_vocab_size, stack.d_model)
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(stack.num_layers))
        self.norm = nn.LayerNorm(stack.d_model, bias=config.bias)
        self.hands_over_heads = KV_WAYS[config.kv].hands_over_heads
        if self.hands_over_heads:
            self.w_k = Linear(stack.d_model, stack.kv_width, bias=config.bias)
            self.w_v = Linear(stack.d_model, stack.kv_width, bias=config.bias)

    def forward(self, src_ids: Int[Tensor, "batch src_len"], need_maps: bool = True, generator=None) -> Encoded:
        _require_ids("src_ids", src_ids)
        mask = (src_ids != PAD)[:, None, None, :]  # (batch, 1, 1, src_len)
        x, recordings = self.embedding(src_ids), []
        for layer in self.layers:
            x, recording = layer(x, mask, need_maps, generator)
            recordings.append(recording)
        return Encoded(self.to_memory(self.norm(x), mask), tuple(recordings) if need_maps else ())

    def to_memory(self, hidden: Float[Tensor, "batch src_len d_model"], mask: Bool[Tensor, "batch 1 1 src_len"]):
        """What the decoder is handed, made from normalised hidden states."""
        if not self.hands_over_heads:
            return Memory(hidden, mask)
        k = split_heads(self.w_k(hidden), self.num_kv_heads)  # (batch, enc_heads, src_len, enc_dim)
        return Memory(hidden, mask, k, split_heads(self.w_v(hidden), self.num_kv_heads))


class Decoder(nn.Module):
    """Predicts at each position the next target token, looking back at its input and across at the memory."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        stack = config.decoder
        self.embedding = PositionedEmbedding(config.tgt_vocab_size, stack.d_model)
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(stack.num_layers))
        self.norm = nn.LayerNorm(stack.d_model, bias=config.bias)
        self.to_logits = Linear(stack.d_model, config.tgt_vocab_size, bias=config.bias)

    def forward(
        self,
        tgt_ids: Int[Tensor, "batch tgt_len"],
        memory: Memory,
        need_maps: bool = True,
        generator: torch.Generator | None = None,
        cache: DecoderCache | None = None,
    ):
        """With a `cache`, `tgt_ids` are only the tokens that follow those read before; it remembers these as well."""
        _require_ids("tgt_ids", tgt_ids)
        if len(tgt_ids) != len(memory.hidden):
            raise ValueError(f"batch of tgt_ids ({len(tgt_ids)}) must equal that of src_ids ({len(memory.hidden)})")
        first, is_token = (0, tgt_ids != PAD) if cache is None else cache.read(tgt_ids != PAD)
        causal = causal_mask(is_token.shape[1], is_token.device)[first:]  # (q_len, tgt_len)
        mask = causal & is_token[:, None, None, :]  # (batch, 1, q_len, tgt_len)
        x, own, cross = self.embedding(tgt_ids, first), [], []
        for number, layer in enumerate(self.layers):
            layer_cache = cache and cache.layers[number]
            x, own_recording, cross_recording = layer(x, mask, memory, need_maps, generator, layer_cache)
            own.append(own_recording)
            cross.append(cross_recording)
        return self.to_logits(self.norm(x)), tuple(own), tuple(cross)


class EncoderDecoder(nn.Module):
    """The whole model.

    Args:
        config: what to build.
        seed: every weight follows from this number and the weight's own name, so two models that share a part
            (the same encoder, say, under another `kv`) start with the same numbers in it. None leaves the weights
            empty, for `with_weights`.

    Raises:
        ConfigError: encoder and decoder do not fit together the way `config.kv` joins them.
    """

    def __init__(self, config: ModelConfig, seed: int | None = 0) -> None:
        if not isinstance(config, ModelConfig):
            raise ConfigError(f"config ({config!r}) must be a ModelConfig")
        check_fit(config)
        super().__init__()
        self.config = config
        self.encoder, self.decoder = Encoder(config), Decoder(config)
        if seed is not None:
            initialise(self, config, seed)

    @classmethod
    def with_weights(cls, config: ModelConfig, weights: Mapping[str, Tensor]) -> "EncoderDecoder":
        """A model with a copy of these weights, in 32 bits, ready for use.

        Raises:
            RuntimeError: a weight is missing, or there is one too many, or one has another shape.
        """
        model = cls(config, seed=None)
        model.load_state_dict(weights)
        return model.eval()

    def forward(
        self,
        src_ids: Int[Tensor, "batch src_len"],
        tgt_ids: Int[Tensor, "batch tgt_len"],
        need_maps: bool = True,
        generator: torch.Generator | None = None,
    ) -> Output:
        """Teacher-forced pass: row t of the logits, and of each decoder map, predicts the token after `tgt_ids[t]`.

        Args:
            src_ids: source tokens, 0 where padded.
            tgt_ids: target tokens beginning with the start token, 0 where padded.
            need_maps: False takes the fused path and returns neither maps nor queries.
            generator: draws the dropout of a training step; without it there is none.

        Raises:
            ValueError: the batches differ, or the ids are no whole numbers of (batch, length) below the vocabulary.
        """
        return self.decode(tgt_ids, self.encode(src_ids, need_maps, generator), need_maps, generator)

    def encode(self, src_ids: Int[Tensor, "batch src_len"], need_maps: bool = True, generator=None) -> Encoded:
        """The encoder's half of `forward`."""
        return self.encoder(src_ids, need_maps, generator)

    def step(self, ids: Int[Tensor, "batch new"], cache: DecoderCache):
        """Read only these tokens, which follow those that `cache` knows: logits, own and cross recordings of theirs."""
        return self.decoder(ids, cache.memory, cache=cache)

    def decode(self, tgt_ids, encoded: Encoded, need_maps: bool = True, generator=None) -> Output:
        """The decoder's half of `forward`; the encoder's maps are those that `encode` was asked for."""
        logits, own, cross = self.decoder(tgt_ids, encoded.memory, need_maps, generator)
        if not need_maps:
            return Output(logits, None, None, None)
        kinds = (encoded.recordings, own, cross)
        # Three fields of every recording, each as (kinds × layers).
        fields = (PerKind(*(tuple(recording[field] for recording in kind) for kind in kinds)) for field in range(3))
        return Output(logits, *fields)
