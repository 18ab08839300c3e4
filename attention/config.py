"""What a model looks like: frozen descriptions that are checked field by field.

Whether an encoder and a decoder fit *together* is not decided here: a page has to be able to hold, and to show,
a configuration that does not work. `attention.shapes.trace_shapes` tells,
`attention.model.EncoderDecoder` enforces.
"""

from dataclasses import asdict, dataclass, fields
from math import isqrt
from numbers import Integral, Real

# Every K/V way, with its variants, the default variant first (none: no variants).
# A further way is one line here and one file in `attention/cross_attention/`.
KV_VARIANTS: dict[str, tuple[str, ...]] = {
    "reproject": (),  # the decoder projects the memory itself: the textbook Transformer
    "direct": (),  # the encoder's per-head K/V are met as they are
    "projection": ("full", "mix"),  # learned maps from the encoder's K/V heads to the decoder's
    "grouped": ("pool", "drop"),  # each K/V head serves a group of decoder heads; the variants are for fewer of those
    "extra": ("slots", "states"),  # surplus decoder heads read K/V of the decoder's own
}

# Encoder self-attention, decoder self-attention, cross-attention: the order of every record with one field for each.
ATTENTION_KINDS = ("encoder", "decoder", "cross")

# The first ids of every vocabulary: padding, the start token and the end token.
PAD, START, END = 0, 1, 2


class ConfigError(ValueError):
    """A configuration that cannot work, as one sentence with the numbers that clash and what is allowed."""


def _count(name: str, value: object, minimum: int = 1) -> int:
    """`value` as an int, NumPy's whole numbers too."""
    # bool is an int in Python; `num_heads=True` is a slip, not a request for one head.
    if isinstance(value, bool) or not isinstance(value, Integral) or value < minimum:
        raise ConfigError(f"{name} ({value!r}) must be a whole number of at least {minimum}")
    return int(value)


def divisors(number: int) -> list[int]:
    """All divisors of a positive number, ascending."""
    small = [candidate for candidate in range(1, isqrt(number) + 1) if number % candidate == 0]
    return sorted({*small, *(number // candidate for candidate in small)})


def nearest_divisors(number: int, wanted: int) -> list[int]:
    """The divisors of `number` closest below and above `wanted`."""
    below = [d for d in divisors(number) if d < wanted]
    above = [d for d in divisors(number) if d > wanted]
    return below[-1:] + above[:1]


def listing(numbers: list[int]) -> str:
    """`[2, 4, 8]` as `"2, 4, 8"`."""
    return ", ".join(map(str, numbers))


@dataclass(frozen=True)
class StackConfig:
    """One side of the model, a stack of equal layers.

    Fields left at None are filled in, so a finished config always has numbers in them:
    `head_dim` becomes `d_model // num_heads` (which must divide), `num_kv_heads` becomes `num_heads`,
    `ffn_dim` becomes `4 * d_model`. `num_heads * head_dim`, the total width, need not equal `d_model`.

    Raises:
        ConfigError: a field is not a positive whole number, or the heads do not divide.
    """

    d_model: int
    num_heads: int
    head_dim: int | None = None
    num_layers: int = 2
    num_kv_heads: int | None = None
    ffn_dim: int | None = None

    def __post_init__(self) -> None:
        self._count("d_model", "num_heads")
        if self.head_dim is None:
            if self.d_model % self.num_heads:
                near = nearest_divisors(self.d_model, self.num_heads)
                raise ConfigError(
                    f"d_model ({self.d_model}) must be a multiple of num_heads ({self.num_heads}) when no head_dim "
                    f"is given; the nearest num_heads that divide it: {listing(near)}"
                )
            object.__setattr__(self, "head_dim", self.d_model // self.num_heads)
        if self.num_kv_heads is None:
            object.__setattr__(self, "num_kv_heads", self.num_heads)
        if self.ffn_dim is None:
            object.__setattr__(self, "ffn_dim", 4 * self.d_model)
        self._count("head_dim", "num_layers", "num_kv_heads", "ffn_dim")
        if self.num_heads % self.num_kv_heads:
            raise ConfigError(
                f"num_heads ({self.num_heads}) must be a multiple of num_kv_heads ({self.num_kv_heads}); "
                f"allowed num_kv_heads: {listing(divisors(self.num_heads))}"
            )

    def _count(self, *names: str) -> None:
        for name in names:
            object.__setattr__(self, name, _count(name, getattr(self, name)))

    @property
    def total_width(self) -> int:
        """Heads × head size: what W_Q produces and W_O takes."""
        return self.num_heads * self.head_dim

    @property
    def kv_width(self) -> int:
        """K/V heads × head size: what W_K and W_V produce."""
        return self.num_kv_heads * self.head_dim


@dataclass(frozen=True)
class ModelConfig:
    """Encoder, decoder, and how the decoder's heads get their keys and values.

    `num_slots` is the number of learned positions of `kv="extra"` with `kv_variant="slots"`.

    Raises:
        ConfigError: a side is not a `StackConfig`, `kv` or `kv_variant` is unknown, a vocabulary has no room for a
            token, there is no slot, `bias` is not a bool, or dropout lies outside 0 … 1.
    """

    encoder: StackConfig
    decoder: StackConfig
    kv: str = "reproject"
    kv_variant: str | None = None
    src_vocab_size: int = 32
    tgt_vocab_size: int = 32
    bias: bool = False
    dropout: float = 0.0
    num_slots: int = 4

    def __post_init__(self) -> None:
        for side in ("encoder", "decoder"):
            if not isinstance(getattr(self, side), StackConfig):
                raise ConfigError(f"{side} ({getattr(self, side)!r}) must be a StackConfig")
        if not isinstance(self.kv, str) or self.kv not in KV_VARIANTS:
            raise ConfigError(f"kv ({self.kv!r}) must be one of {', '.join(KV_VARIANTS)}")
        variants = KV_VARIANTS[self.kv]
        if self.kv_variant is None and variants:
            object.__setattr__(self, "kv_variant", variants[0])
        if self.kv_variant is not None and self.kv_variant not in variants:
            allowed = f"one of {', '.join(variants)}" if variants else "left out"
            raise ConfigError(f"kv_variant ({self.kv_variant!r}) must be {allowed} for kv={self.kv!r}")
        # PAD, START and END are in every vocabulary, so one of fewer than four has no token to say.
        for name in ("src_vocab_size", "tgt_vocab_size"):
            object.__setattr__(self, name, _count(name, getattr(self, name), minimum=4))
        object.__setattr__(self, "num_slots", _count("num_slots", self.num_slots))
        if not isinstance(self.bias, bool):
            raise ConfigError(f"bias ({self.bias!r}) must be True or False")
        if not isinstance(self.dropout, Real) or not 0.0 <= self.dropout < 1.0:
            raise ConfigError(f"dropout ({self.dropout!r}) must be a number of at least 0 and below 1")

    def to_dict(self) -> dict:
        """The config as plain JSON types; `from_dict` reads it back."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict) -> "ModelConfig":
        """Read what `to_dict` wrote.

        Raises:
            ConfigError: a field is missing or unknown.
        """
        data = dict(data)
        try:
            encoder, decoder = (StackConfig(**data.pop(side)) for side in ("encoder", "decoder"))
            return cls(encoder=encoder, decoder=decoder, **data)
        except (KeyError, TypeError) as error:
            known = ", ".join(field.name for field in fields(cls))
            raise ConfigError(f"this is not a model configuration ({error}); its fields are {known}") from error
