"""Small copies of published models: the same heads, everything else divided by one number.

Head counts and K/V heads stay as they are. Widths and head sizes are divided by the model's `shrink`, so that the
ratio of the two widths, and of heads × head size to width, stays too. Where there are more heads than may be shown,
both sides' heads are divided, and heads become larger by as much.
"""

from dataclasses import dataclass
from functools import lru_cache

from attention.config import ModelConfig, StackConfig
from attention.experiments.published.published_models import PUBLISHED_MODELS, PublishedModel, Side

NUM_LAYERS = 2  # on each side; a layer more or less changes no shape


@dataclass(frozen=True)
class Change:
    """One figure that is another in the miniature; `field` as in `Side`, or "self_kv_heads"."""

    side: str  # "encoder" or "decoder"
    field: str
    published: int
    scaled: int


@lru_cache(maxsize=256)
def miniature(
    model: PublishedModel, src_vocab_size: int = 32, tgt_vocab_size: int = 32, max_heads: int = 32
) -> ModelConfig:
    """A model small enough to be built at once, with the published model's heads.

    Args:
        src_vocab_size, tgt_vocab_size: of the task it is to be looked at with.
        max_heads: more heads than this are divided.
    """
    encoder, decoder = (_stack(side, model, max_heads) for side in (model.encoder, model.decoder))
    return ModelConfig(encoder, decoder, src_vocab_size=src_vocab_size, tgt_vocab_size=tgt_vocab_size, bias=True)


def _stack(side: Side, model: PublishedModel, max_heads: int) -> StackConfig:
    most = max(model.encoder.num_heads, model.decoder.num_heads)
    fewer = -(-most // max_heads)  # rounded up
    return StackConfig(
        d_model=side.d_model // model.shrink,
        num_heads=side.num_heads // fewer,
        head_dim=side.head_dim * fewer // model.shrink,
        num_layers=NUM_LAYERS,
        num_kv_heads=side.num_kv_heads // fewer,
    )


def changes(model: PublishedModel, max_heads: int = 32) -> tuple[Change, ...]:
    """Every figure of `model` that its miniature changes: encoder first, widths first."""
    mini = miniature(model, max_heads=max_heads)
    found = [
        Change(name, field, getattr(side, field), getattr(stack, field))
        for name, side, stack in (("encoder", model.encoder, mini.encoder), ("decoder", model.decoder, mini.decoder))
        for field in ("d_model", "num_heads", "num_kv_heads", "head_dim")
        if getattr(side, field) != getattr(stack, field)
    ]
    # Here the two attentions of a decoder layer have the same K/V heads; cross-attention is what the page is about.
    if model.self_kv_heads is not None:
        found.append(Change("decoder", "self_kv_heads", model.self_kv_heads, mini.decoder.num_kv_heads))
    return tuple(found)


def copies_of(config: ModelConfig, max_heads: int = 32) -> tuple[PublishedModel, ...]:
    """The published models whose miniature this is; two share one when their heads and widths are equal."""
    sizes = (config.src_vocab_size, config.tgt_vocab_size, max_heads)
    return tuple(model for model in PUBLISHED_MODELS if miniature(model, *sizes) == config)
