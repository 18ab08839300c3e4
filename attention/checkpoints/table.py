"""The table of the shipped models in README.md."""

import math
from collections.abc import Iterable

from attention.config import KV_VARIANTS
from attention.tasks import TASKS
from attention.training.evaluation import Accuracy
from attention.training.stored import Card

HEAD = (
    "task", "encoder → decoder heads × size", "K/V way", "steps", "right", "resembling", "the rest", "tokens",
    "best head", "diagonal",
)  # fmt: skip


def markdown_table(cards: Iterable[Card]) -> str:
    """A row for each model, in the order of tasks, head counts and K/V ways."""
    rows = [_row(card) for card in sorted(cards, key=_order)]
    rule = ("---",) * 3 + ("--:",) * (len(HEAD) - 3)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (HEAD, rule, *rows))


def _order(card: Card) -> tuple:
    stacks = card.config.encoder, card.config.decoder
    sizes = [number for stack in stacks for number in (stack.num_heads, stack.head_dim)]
    return list(TASKS).index(card.task), *sizes, list(KV_VARIANTS).index(card.config.kv)


def _row(card: Card) -> tuple[str, ...]:
    stacks, scores = (card.config.encoder, card.config.decoder), card.scores
    parts = (card.apart.resembling, card.apart.rest) if card.apart else (None, None)
    heads = [score for layer in scores.alignment for score in layer if not math.isnan(score)]
    return (
        card.task,
        " → ".join(f"{stack.num_heads} × {stack.head_dim}" for stack in stacks),
        card.config.kv,
        f"{card.settings.num_steps:,}",
        _percent(scores.sequence_accuracy),
        *map(_percent_of, parts),
        _percent(scores.token_accuracy),
        f"{max(heads):.2f}" if heads else "–",
        f"{scores.diagonal:.2f}",
    )


def _percent_of(part: Accuracy | None) -> str:
    return "–" if part is None or not part.num_examples else _percent(part.sequence_accuracy)


def _percent(share: float) -> str:
    """With one decimal; only all of them are 100 %."""
    return f"{min(100 * share, 99.9 if share < 1 else 100):.1f} %"
