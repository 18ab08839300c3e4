"""What an encoder sends to its decoder, in bytes: hidden states, or keys and values that are already cut into heads."""

from dataclasses import dataclass

from attention.cache import stores
from attention.config import ModelConfig


@dataclass(frozen=True)
class Sent:
    """One source on its way through cross-attention.

    Attributes:
        tokens: source positions.
        d_model: width of the memory.
        layers: sets of keys and values: one for each decoder layer, or a single one that all layers share.
        kv_heads, head_dim: of each set.
        bytes_per_number: 2 for 16-bit numbers.
    """

    tokens: int
    d_model: int
    layers: int
    kv_heads: int
    head_dim: int
    bytes_per_number: int = 2

    @property
    def memory_bytes(self) -> int:
        """The encoder's hidden states, once for all layers."""
        return self.tokens * self.d_model * self.bytes_per_number

    @property
    def kv_bytes(self) -> int:
        """Keys and values (hence the 2), cut into heads."""
        return self.layers * 2 * self.kv_heads * self.head_dim * self.tokens * self.bytes_per_number


# Layers, heads and widths as in the published configurations; a full input each (1,024 tokens, 30 s of sound).
BART_LARGE = Sent(tokens=1024, d_model=1024, layers=12, kv_heads=16, head_dim=64)
WHISPER_LARGE_V3 = Sent(tokens=1500, d_model=1280, layers=32, kv_heads=20, head_dim=64)


def sent_by(config: ModelConfig, tokens: int) -> Sent:
    """The same for any configuration, with 16-bit numbers.

    Where decoder layers project the memory themselves, each makes its own keys and values; where the encoder hands
    them over, there is one set, in the encoder's K/V heads.
    """
    first = next(store for store in stores(config, tokens, 0) if store.name in ("handed_over", "source"))
    heads, _, head_dim = first.shape
    return Sent(tokens, config.encoder.d_model, first.copies // 2, heads, head_dim)
