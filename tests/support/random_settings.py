"""Settings drawn from a seed: any task, word, K/V way and variant, head counts, sizes, K/V heads, layers, view."""

from dataclasses import replace
from random import Random

from attention.config import ATTENTION_KINDS, KV_VARIANTS, divisors
from attention.cross_attention import fits
from attention.tasks import TASKS, get_task
from pages.shared.settings import Settings


def any_settings(seed: int) -> Settings:
    """They need not fit together. Widths stay small, so that a model of them is built at once."""
    draw = Random(seed)
    heads = {side: draw.choice((1, 1, 2, 3, 4, 4, 6, 8, 8, 16)) for side in ("enc", "dec")}
    dim = draw.choice((4, 5, 8))
    dims = {side: dim if draw.random() < 0.8 else draw.choice((4, 5, 8)) for side in heads}
    task = draw.choice(list(TASKS))
    numbers = {}
    for side in heads:
        numbers |= {
            f"{side}_heads": heads[side],
            f"{side}_dim": dims[side],
            f"{side}_layers": draw.randint(1, 3),
            f"{side}_width": draw.choice((24, 40)),
            f"{side}_kv_heads": draw.choice((None, None, draw.choice(divisors(heads[side])))),
        }
    kv = draw.choice(list(KV_VARIANTS))
    variant = draw.choice(KV_VARIANTS[kv]) if KV_VARIANTS[kv] else None
    text, kind = draw.choice(get_task(task).examples), draw.choice(ATTENTION_KINDS)
    settings = Settings(task=task, text=text, **numbers, kv=kv, kv_variant=variant, seed=draw.randint(0, 99))
    return replace(settings, kind=kind, layer=1, head=1).fitted()


def settings_that_fit(count: int, kv: str | None = None) -> list[Settings]:
    """So many of them, of one K/V way or of any; always the same ones."""
    found, seed = [], 0
    while len(found) < count:
        settings = any_settings(seed)
        if fits(settings.config) and kv in (None, settings.kv):
            found.append(settings)
        seed += 1
    return found
