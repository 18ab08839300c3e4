"""What all ways of feeding the decoder's heads have in common."""

from typing import ClassVar, NamedTuple

from jaxtyping import Bool, Float
from torch import Tensor, nn

from attention.config import ModelConfig


class Memory(NamedTuple):
    """What the encoder hands to the decoder, made once per source.

    `k` and `v` are the encoder's own per-head keys and values; None where the decoder projects the memory itself.
    """

    hidden: Float[Tensor, "batch src_len enc_width"]
    mask: Bool[Tensor, "batch 1 1 src_len"]
    k: Float[Tensor, "batch enc_heads src_len enc_dim"] | None = None
    v: Float[Tensor, "batch enc_heads src_len enc_dim"] | None = None


class KeysValues(NamedTuple):
    """Keys and values that the decoder's query heads meet, and where they may look."""

    k: Float[Tensor, "batch kv_heads kv_len dim"]
    v: Float[Tensor, "batch kv_heads kv_len dim"]
    mask: Bool[Tensor, "batch #heads #q_len kv_len"]


class KvFeed(nn.Module):
    """One decoder layer's supply of keys and values. Each way overrides as little as it can.

    Attributes:
        hands_over_heads: the encoder splits its memory into per-head K/V once, for all decoder layers.
    """

    hands_over_heads: ClassVar[bool] = True

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()

    @staticmethod
    def check(config: ModelConfig) -> None:
        """Raise `ConfigError`, with both numbers, when encoder and decoder do not fit together this way."""

    def forward(self, memory: Memory, hidden: Float[Tensor, "batch q_len dec_width"]) -> KeysValues:
        """Keys and values for one decoder layer.

        Args:
            memory: what the encoder made.
            hidden: the decoder's own (normalised) hidden states, for ways that look at them.
        """
        raise NotImplementedError
