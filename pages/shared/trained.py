"""The models that ship, as far as they can be read: which settings lead to one, and which is nearest to others."""

from math import log2

from attention import ModelConfig
from attention.checkpoints import find, is_damaged, shipped
from attention.training.stored import Card
from pages.shared.settings import Settings


def card_of(task: str, config: ModelConfig, seed: int) -> Card | None:
    """The card of exactly this one."""
    card = _card(task, config, seed)
    return card if card is not None and not _damaged(card) else None


def is_broken(task: str, config: ModelConfig, seed: int) -> bool:
    """Whether exactly this one ships, but its file is missing or damaged."""
    card = _card(task, config, seed)
    return card is not None and _damaged(card)


def cards_of(task: str) -> list[Card]:
    """Those of a task."""
    return [card for card in shipped().values() if card.task == task and not _damaged(card)]


def nearest_trained(settings: Settings) -> Card | None:
    """The nearest one of this task: with the same K/V way, if there is one, and then the nearest head counts and head
    sizes, as ratios. None where there is no model of the task."""
    return min(cards_of(settings.task), key=lambda card: away(card.config, settings.config), default=None)


def away(one: ModelConfig, other: ModelConfig) -> tuple[bool, float, float]:
    """How far two models are from each other: by their K/V way, then by their head counts, then by their head sizes."""
    sides = ((one.encoder, other.encoder), (one.decoder, other.decoder))
    heads = sum(abs(log2(here.num_heads / there.num_heads)) for here, there in sides)
    sizes = sum(abs(log2(here.head_dim / there.head_dim)) for here, there in sides)
    return one.kv != other.kv, heads, sizes


def with_model_of(card: Card, settings: Settings) -> Settings:
    """These settings with the model of a card."""
    return settings.with_config(card.config).put("seed", card.settings.seed)


def _card(task: str, config: ModelConfig, seed: int) -> Card | None:
    card = find(task, config)
    return card if card is not None and card.settings.seed == seed else None


def _damaged(card: Card) -> bool:
    return is_damaged(card.task, card.config)
