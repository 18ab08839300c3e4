"""What a decoder that goes step by step keeps between two steps, and how much that is.

Two stores, and only one of them grows. The *anchor* is what the encoder left: the memory, and the keys and values that
cross-attention makes from it, which stay as they are from the first step to the last. The decoder's *own* keys and
values, of what it has said so far, get one position longer at each step.
"""

from dataclasses import dataclass, field, replace
from math import prod

import torch
from jaxtyping import Bool
from torch import Tensor

from attention.config import ModelConfig
from attention.cross_attention import KV_WAYS, KvWay, Memory
from attention.cross_attention.base import KeysValues, KeyValuePair


@dataclass
class LayerCache:
    """What one decoder layer keeps.

    Attributes:
        own: K and V of its self-attention; grows.
        source: K and V that its cross-attention has from the memory; made once.
        surplus: K and V of the decoder's hidden states that its cross-attention reads too (`kv="extra"`,
            `kv_variant="states"`); grows.
        cross_is_off: no head of its cross-attention may look anywhere, so what goes into W_O is zero.
    """

    own: KeyValuePair | None = None
    source: KeyValuePair | None = None
    surplus: KeyValuePair | None = None
    cross_is_off: bool = False

    def extend_own(self, new: KeyValuePair) -> KeyValuePair:
        """Keep what is new; give all that is kept."""
        self.own = _longer(self.own, new)
        return self.own

    def cross(self, way: KvWay, memory: Memory, hidden: Tensor, own_mask: Tensor) -> KeysValues:
        """What `way` itself would give for all positions read so far, with only the new ones worked out."""
        if self.source is None:
            source = way.source_kv(memory)
            is_the_memorys = memory.k is not None and source[0].data_ptr() == memory.k.data_ptr()
            self.source = source if is_the_memorys else _in_one_piece(source)
        own = way.own_kv(hidden)
        if own is not None and way.own_grows:
            own = self.surplus = _longer(self.surplus, own)
        k, v, mask = way.join(self.source, own, memory.mask, own_mask)
        return KeysValues(k, v, torch.zeros_like(mask) if self.cross_is_off else mask)


@dataclass
class DecoderCache:
    """What all layers keep, the memory they look at, and which of the positions read so far are no padding."""

    memory: Memory
    layers: tuple[LayerCache, ...]
    is_token: Bool[Tensor, "batch len"] | None = None

    @classmethod
    def empty(cls, config: ModelConfig, memory: Memory) -> "DecoderCache":
        """Before the first step."""
        return cls(_ready(memory), tuple(LayerCache() for _ in range(config.decoder.num_layers)))

    def read(self, is_token: Bool[Tensor, "batch new"]) -> tuple[int, Bool[Tensor, "batch len"]]:
        """Note positions that are about to be read: how many there were before, and all there are now."""
        before = 0 if self.is_token is None else self.is_token.shape[1]
        self.is_token = is_token if self.is_token is None else torch.cat([self.is_token, is_token], dim=1)
        return before, self.is_token

    def move_anchor(self, memory: Memory | None) -> None:
        """Look at another memory from the next step on; None switches cross-attention off."""
        for layer in self.layers:
            layer.cross_is_off = memory is None
            layer.source = None if memory is not None else layer.source
        self.memory = self.memory if memory is None else _ready(memory)


def _in_one_piece(pair: KeyValuePair) -> KeyValuePair:
    """Head behind head: as `split_heads` leaves them, PyTorch would copy them again at each step."""
    return tuple(x.contiguous() for x in pair)


def _ready(memory: Memory) -> Memory:
    """With the encoder's keys and values in one piece, if it hands any over; all layers then share them."""
    if memory.k is None:
        return memory
    k, v = _in_one_piece((memory.k, memory.v))
    return memory._replace(k=k, v=v)


def _longer(old: KeyValuePair | None, new: KeyValuePair) -> KeyValuePair:
    """Both, one behind the other: (batch, kv_heads, old + new, dim)."""
    return _in_one_piece(new) if old is None else tuple(torch.cat(pair, dim=2) for pair in zip(old, new, strict=True))


@dataclass(frozen=True)
class Store:
    """Numbers that are kept: `copies` tensors of one `shape`, for one sequence.

    Attributes:
        name: "memory"; "handed_over" (the encoder's own K and V); "source" (K and V of cross-attention, where each
            layer makes them itself); "own" (K and V of decoder self-attention); "surplus" (see `LayerCache`).
        dims: what the numbers in `shape` count.
    """

    name: str
    shape: tuple[int, ...]
    copies: int
    grows: bool = False
    dims: tuple[str, ...] = field(default=("heads", "len", "head_dim"))

    @property
    def numbers(self) -> int:
        return self.copies * prod(self.shape)

    def nbytes(self, bytes_each: int = 4) -> int:
        """In bytes; 4 each as 32-bit numbers."""
        return self.numbers * bytes_each


def stores(config: ModelConfig, src_len: int, tgt_len: int) -> tuple[Store, ...]:
    """What is kept after `tgt_len` steps, from the configuration alone.

    `src_len` counts the end token. Learned slots (`kv="extra"`) are weights of the model and not among it.
    """
    encoder, decoder, way = config.encoder, config.decoder, KV_WAYS[config.kv]
    layers = decoder.num_layers
    kept = [Store("memory", (src_len, encoder.d_model), 1, dims=("len", "width"))]
    if way.hands_over_heads:
        kept.append(Store("handed_over", (encoder.num_kv_heads, src_len, encoder.head_dim), 2))
    if made := way.heads_made_per_layer(config):
        kept.append(Store("source", (made, src_len, decoder.head_dim), 2 * layers))
    kept.append(Store("own", (decoder.num_kv_heads, tgt_len, decoder.head_dim), 2 * layers, grows=True))
    if growing := way.own_heads_that_grow(config):
        kept.append(Store("surplus", (growing, tgt_len, decoder.head_dim), 2 * layers, grows=True))
    return tuple(kept)


def kept_kv(config: ModelConfig) -> int:
    """Numbers kept per source token so that cross-attention need not make its keys and values again, in all layers.

    What the encoder handed over is no longer read where layers have made K/V of their own from it.
    """
    *_, read = (store for store in stores(config, 1, 0) if store.name in ("handed_over", "source"))
    return read.numbers


def occupied_bytes(*tensors: Tensor) -> int:
    """What tensors really occupy: their storages, one that several of them share counted once."""
    storages = {storage.data_ptr(): storage.nbytes() for storage in (x.untyped_storage() for x in tensors)}
    return sum(storages.values())


def kept_tensors(cache: DecoderCache) -> dict[str, list[Tensor]]:
    """The tensors of a cache, by the names of `Store`; of "source" those that are not the memory's own."""
    memory = cache.memory
    handed_over = [x for x in (memory.k, memory.v) if x is not None]
    theirs = {x.untyped_storage().data_ptr() for x in handed_over}
    pairs = {name: [getattr(layer, name) or () for layer in cache.layers] for name in ("source", "own", "surplus")}
    kept = {name: [x for pair in found for x in pair] for name, found in pairs.items()}
    kept["source"] = [x for x in kept["source"] if x.untyped_storage().data_ptr() not in theirs]
    return {"memory": [memory.hidden], "handed_over": handed_over, **kept}


def sharing_choices(config: ModelConfig) -> dict[str, ModelConfig]:
    """The same model with the decoder's K/V heads shared by its query heads in three degrees.

    "MHA": a K/V head for each query head; "MQA": one for all (Shazeer 2019); "GQA": one for each group (Ainslie et al.
    2023): as many as the model has, or about √heads. Where two of them are the same, the plainer name is kept.
    """
    heads, present = config.decoder.num_heads, config.decoder.num_kv_heads
    usual = max((d for d in range(1, heads) if heads % d == 0 and d * d <= heads), default=1)
    groups = present if 1 < present < heads else usual
    counts = {heads: "MHA"} | {n: name for n, name in ((groups, "GQA"), (1, "MQA")) if n < heads}
    return {name: replace(config, decoder=replace(config.decoder, num_kv_heads=n)) for n, name in counts.items()}
