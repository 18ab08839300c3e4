"""Questions about which head has what: features, K/V heads that are shared, pooled or dropped, and what is kept."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

import torch

from attention.cache import kept_kv, stores
from attention.config import ModelConfig, StackConfig, divisors
from attention.cross_attention import KV_WAYS, Memory, sharing_name
from attention.experiments.what_is_read import what_is_read
from attention.functional import share_kv_heads, split_heads
from attention.model import EncoderDecoder
from attention.quiz.question import Question, a_number, in_order, message, offered, question, some_heads

KV_HEADS, GROUPS = (2, 3, 4), (2, 3, 4)


def _groups(rng: Random) -> tuple[int, int, tuple[int, ...]]:
    """Query heads, K/V heads, and the K/V head that each query head reads, counted from 1."""
    kv_heads, group = rng.choice(KV_HEADS), rng.choice(GROUPS)
    numbered = torch.arange(1, kv_heads + 1).view(1, kv_heads, 1, 1)
    read = share_kv_heads(numbered, kv_heads * group).flatten().tolist()
    return kv_heads * group, kv_heads, tuple(read)


def kv_head_of(rng: Random) -> Question:
    heads, kv_heads, read = _groups(rng)
    head = rng.choice([n for n in range(1, heads + 1) if read[n - 1] != (n - 1) % kv_heads + 1])
    wrong = [n for n in range(1, kv_heads + 1) if n != read[head - 1]]
    choices = offered(rng, read[head - 1], [*wrong, head], a_number)
    values = {"heads": heads, "kv_heads": kv_heads, "head": head}
    return question("kv_head_of", values, choices, read=", ".join(map(str, read)))


def who_shares(rng: Random) -> Question:
    heads, kv_heads, read = _groups(rng)
    kv_head = rng.randint(1, kv_heads)
    group = heads // kv_heads
    right = tuple(n for n in range(1, heads + 1) if read[n - 1] == kv_head)
    tiled = tuple(range(kv_head, heads + 1, kv_heads))
    shifted = tuple(n % heads + 1 for n in right)
    wrong = (tiled, shifted, (kv_head,), tuple(range(1, group + 1)), tuple(range(heads - group + 1, heads + 1)))
    values = {"heads": heads, "kv_heads": kv_heads, "kv_head": kv_head}
    return question("who_shares", values, offered(rng, right, wrong, some_heads), read=", ".join(map(str, read)))


def name_of_sharing(rng: Random) -> Question:
    heads = rng.choice((4, 8, 12, 16))
    kv_heads = rng.choice([rng.choice(divisors(heads)), 1, heads])
    names = ("multi-head", "grouped-query", "multi-query")
    found = sharing_name(heads, kv_heads)
    values = {"heads": heads, "kv_heads": kv_heads}
    return question("name_of_sharing", values, in_order(found, names), group=heads // kv_heads)


def _reused(handed: int, asking: int, kv: str, variant: str | None = None) -> ModelConfig:
    encoder, decoder = StackConfig(32, handed, 8, 1), StackConfig(32, asking, 8, 1)
    return ModelConfig(encoder, decoder, kv, variant)


def pooled_from(rng: Random) -> Question:
    """Each K/V head is a direction of its own, so that a mean says what it was made of."""
    asking, group = rng.choice((2, 3, 4)), rng.choice((2, 3))
    handed, head = asking * group, rng.randint(1, asking)
    way = KV_WAYS["grouped"](_reused(handed, asking, "grouped", "pool"))
    keys = torch.eye(handed).view(1, handed, 1, handed)
    pooled, _ = way.source_kv(Memory(torch.zeros(1, 1, 32), torch.ones(1, 1, 1, 1, dtype=torch.bool), keys, keys))
    right = tuple((pooled[0, head - 1, 0].nonzero().flatten() + 1).tolist())
    wrong = (
        tuple(range(head, handed + 1, asking)),
        (head,),
        tuple(n % handed + 1 for n in right),
        tuple(range(1, handed + 1)),
    )
    values = {"handed": handed, "asking": asking, "head": head}
    return question("pooled_from", values, offered(rng, right, wrong, some_heads), group=group)


def heads_that_are_read(rng: Random) -> Question:
    asking, group = rng.choice((1, 2, 3)), rng.choice((2, 3, 4))
    handed = asking * group
    found = what_is_read(_reused(handed, asking, "grouped", "drop"))
    wrong = (handed, group, 1, asking + 1, 0)
    values = {"handed": handed, "asking": asking}
    choices = offered(rng, found.read, wrong, a_number)
    return question("heads_that_are_read", values, choices, read=found.read)


def numbers_of_memory_read(rng: Random) -> Question:
    """A textbook decoder reads the whole memory, however few heads it has."""
    width, enc_heads, dec_heads = rng.choice((24, 32, 48)), rng.choice((4, 8)), rng.choice((1, 2))
    config = ModelConfig(StackConfig(width, enc_heads, num_layers=1), StackConfig(32, dec_heads, 4, 1))
    found = what_is_read(config)
    wrong = (width // enc_heads * dec_heads, dec_heads * 4, width // enc_heads, width // 2)
    values = {"width": width, "enc_heads": enc_heads, "dec_heads": dec_heads, "dim": 4}
    return question("numbers_of_memory_read", values, offered(rng, found.read, wrong, a_number), read=found.read)


def _extra(rng: Random) -> tuple[ModelConfig, int, int, int, torch.Tensor]:
    """A model with learned slots, its head counts, the source's length, and where its heads may look."""
    handed, asking, length = rng.choice((2, 4)), rng.choice((5, 6, 8)), rng.randint(3, 9)
    config = replace(_reused(handed, asking, "extra", "slots"), num_slots=rng.choice((2, 3, 4, 5)))
    ids = torch.full((1, length), 3)
    return config, handed, asking, length, EncoderDecoder(config)(ids, torch.tensor([[1, 3]])).masks.cross[0]


def heads_on_the_source(rng: Random) -> Question:
    config, handed, asking, length, mask = _extra(rng)
    right = int(mask[0, :, :, :length].any(-1).any(-1).sum())
    wrong = (asking, asking - handed, config.num_slots, handed + config.num_slots)
    values = {"handed": handed, "asking": asking, "slots": config.num_slots}
    choices = offered(rng, right, wrong, a_number)
    return question("heads_on_the_source", values, choices, right=right, others=asking - right)


def columns_with_slots(rng: Random) -> Question:
    config, handed, asking, length, mask = _extra(rng)
    right = mask.shape[-1]
    wrong = (length, config.num_slots, length + asking - handed, length + config.num_slots * (asking - handed))
    values = {"handed": handed, "asking": asking, "slots": config.num_slots, "source": length}
    return question("columns_with_slots", values, offered(rng, right, wrong, a_number), right=right)


def features_of_head(rng: Random) -> Question:
    heads, dim = rng.choice((4, 8, 16)), rng.choice((4, 8, 16))
    head = rng.randint(2, heads)
    numbered = torch.arange(heads * dim).view(1, 1, heads * dim)
    owned = split_heads(numbered, heads)[0, head - 1, 0].tolist()
    right = (owned[0], owned[-1])
    first = head * dim
    wrong = (
        (first, first + dim - 1),
        (head - 1, (dim - 1) * heads + head - 1),
        (right[0] + 1, right[1] + 1),
        (0, dim - 1),
    )
    choices = offered(rng, right, wrong, lambda ends: message("range", first=ends[0], last=ends[1]))
    return question("features_of_head", {"heads": heads, "dim": dim, "head": head, "total": heads * dim}, choices)


def kept_for_each_token(rng: Random) -> Question:
    """Keys and values of cross-attention, for one source token."""
    layers, heads, dim, handed = rng.choice((2, 3, 6)), rng.choice((8, 16)), rng.choice((8, 16, 64)), rng.choice((2, 4))
    kv = rng.choice(("reproject", "grouped"))
    decoder = StackConfig(64, heads, dim, layers)
    config = ModelConfig(StackConfig(64, handed, dim, layers), decoder, kv)
    right = kept_kv(config)
    wrong = (
        2 * layers * heads * dim,
        2 * handed * dim,
        layers * heads * dim,
        2 * heads * dim,
        2 * layers * handed * dim,
    )
    values = {"layers": layers, "dec_heads": heads, "dim": dim, "enc_heads": handed, "kv": kv}
    return question("kept_for_each_token", values, offered(rng, right, wrong, a_number), right=right)


def cache_that_shrinks(rng: Random) -> Question:
    """The decoder's own keys and values, with fewer K/V heads than query heads."""
    heads = rng.choice((8, 12, 16))
    kv_heads = rng.choice([n for n in divisors(heads) if n < heads])
    full = ModelConfig(StackConfig(64, 8), StackConfig(64, heads, 8))
    fewer = replace(full, decoder=replace(full.decoder, num_kv_heads=kv_heads))
    sizes = [next(x for x in stores(each, 5, 7) if x.name == "own").numbers for each in (full, fewer)]
    right = sizes[0] // sizes[1]
    wrong = (1, kv_heads, heads, 2 * right, right + 1)
    values = {"heads": heads, "kv_heads": kv_heads}
    return question("cache_that_shrinks", values, offered(rng, right, wrong, a_number), full=sizes[0], fewer=sizes[1])


ABOUT_SHARING: dict[str, Callable[[Random], Question]] = {
    make.__name__: make
    for make in (
        kv_head_of,
        who_shares,
        name_of_sharing,
        pooled_from,
        heads_that_are_read,
        numbers_of_memory_read,
        heads_on_the_source,
        columns_with_slots,
        features_of_head,
        kept_for_each_token,
        cache_that_shrinks,
    )
}
