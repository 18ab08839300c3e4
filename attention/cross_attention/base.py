"""What all K/V ways have in common."""

from typing import ClassVar, NamedTuple

from jaxtyping import Bool, Float
from torch import Tensor, nn

from attention.config import KV_VARIANTS, ModelConfig
from attention.messages import Message


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


# K and V of one side, before it is settled who may look where.
KeyValuePair = tuple[Float[Tensor, "batch kv_heads kv_len dim"], Float[Tensor, "batch kv_heads kv_len dim"]]


class KvWay(nn.Module):
    """One decoder layer's supply of keys and values. Each way overrides as little as it can.

    The supply has two halves: what comes from the source stays the same while the answer grows, and what comes from
    the decoder itself (most ways have none) may grow with it. So a decoder that goes step by step keeps the first.

    Attributes:
        name: as in `ModelConfig.kv`.
        hands_over_heads: the encoder splits its memory into per-head K/V once, for all decoder layers.
        heads_clash: a code for what is wrong where head counts do not fit; pages word it.
        own_grows: what `own_kv` gives has a position for each token read.
    """

    name: ClassVar[str]
    hands_over_heads: ClassVar[bool] = True
    heads_clash: ClassVar[str] = "heads"

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.own_grows = self.own_heads_that_grow(config) > 0

    @staticmethod
    def check(config: ModelConfig) -> None:
        """Raise `ConfigError`, with both numbers, when encoder and decoder do not fit together this way."""

    @classmethod
    def suggestions(cls, config: ModelConfig) -> tuple[tuple[str, dict[str, object]], ...]:
        """What to offer where `config` does not fit: codes for pages to word, and the fields to change.

        By default this way itself, in its usual variant.
        """
        return ((cls.name, {"kv": cls.name, "kv_variant": next(iter(KV_VARIANTS[cls.name]), None)}),)

    @staticmethod
    def trace(tracer, memory, hidden):
        """K and V as the scores meet them, run by a tracer of the shape ledger: by default the encoder's heads.

        In plain PyTorch, without the code below, on purpose: a ledger has to be able to fail.

        Args:
            tracer: a `shapes.tracer.Tracer`. It is handed in, as the ledger imports the K/V ways and not they it.
            memory, hidden: what the encoder made, and the decoder's own hidden states, as `shapes.ledger.Named`.
        """
        return tracer.project_memory(memory, tracer.config.encoder)

    @classmethod
    def text(cls, config: ModelConfig) -> str:
        """Which text explains this way in this configuration: its name, and the variant's where it has any."""
        return f"{cls.name}_{config.kv_variant}" if config.kv_variant else cls.name

    @staticmethod
    def variant_matters(config: ModelConfig) -> bool:
        """Whether the variants of this way differ in this configuration."""
        return True

    @staticmethod
    def kv_heads_shared(config: ModelConfig) -> int:
        """How many K/V heads the decoder's heads share on purpose; as many as it has heads where they share none."""
        return config.decoder.num_heads

    @classmethod
    def kv_heads_read(cls, config: ModelConfig) -> int:
        """How many K/V heads the decoder's heads read, on purpose or not."""
        return cls.kv_heads_shared(config)

    @staticmethod
    def own_columns(config: ModelConfig, tgt_tokens: tuple[str, ...]) -> tuple[Message, ...]:
        """The columns that cross maps have after those of the source; `tgt_tokens` is what was read."""
        return ()

    @staticmethod
    def heads_made_per_layer(config: ModelConfig) -> int:
        """How many K/V heads each layer makes from the source for itself; 0: it uses the encoder's as they are."""
        return 0

    @staticmethod
    def own_heads_that_grow(config: ModelConfig) -> int:
        """How many K/V heads each layer makes from the decoder's hidden states, one position longer at each step."""
        return 0

    def source_kv(self, memory: Memory) -> KeyValuePair:
        """The half that comes from the source: K and V as the encoder handed them over, unless overridden."""
        return memory.k, memory.v

    def own_kv(self, hidden: Float[Tensor, "batch q_len dec_width"]) -> KeyValuePair | None:
        """The half that comes from the decoder: K and V of its (normalised) hidden states, or None."""
        return None

    def join(
        self,
        source: KeyValuePair,
        own: KeyValuePair | None,
        source_mask: Bool[Tensor, "batch 1 1 src_len"],
        own_mask: Bool[Tensor, "batch 1 q_len tgt_len"] | None,
    ) -> KeysValues:
        """Both halves side by side, and who may look where."""
        return KeysValues(*source, source_mask)

    def forward(
        self,
        memory: Memory,
        hidden: Float[Tensor, "batch q_len dec_width"],
        own_mask: Bool[Tensor, "batch 1 q_len tgt_len"] | None,
    ) -> KeysValues:
        """Keys and values for one decoder layer.

        Args:
            memory: what the encoder made.
            hidden: the decoder's own (normalised) hidden states.
            own_mask: where the decoder's queries may look among its own positions.
        """
        return self.join(self.source_kv(memory), self.own_kv(hidden), memory.mask, own_mask)
