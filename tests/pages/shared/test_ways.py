"""What a page says of a K/V way is so: compared with the keys that heads of a real model meet, at 100 settings."""

import pytest
import torch
from random_settings import settings_that_fit

from attention import EncoderDecoder
from pages.shared.settings import Settings
from pages.shared.texts import label, task_prose
from pages.shared.ways import way_text

SRC = torch.tensor([[3, 4, 5, 2]])
SETTINGS = settings_that_fit(100)


class Met:
    """What cross-attention's heads meet in the first decoder layer, and what the encoder handed over."""

    @torch.no_grad()
    def __init__(self, settings: Settings) -> None:
        model = EncoderDecoder(settings.config, seed=settings.seed)
        self.memory = model.encode(SRC).memory
        hidden = torch.randn(1, 3, settings.dec_width, generator=torch.Generator().manual_seed(1))
        causal = torch.ones(1, 1, 3, 3, dtype=torch.bool).tril()
        self.ways = [layer.cross.kv_way for layer in model.decoder.layers]
        self.k, self.v, self.mask = self.ways[0](self.memory, hidden, causal)
        again, _, _ = self.ways[-1](self.memory, hidden, causal)
        self.same_in_all_layers = torch.equal(again, self.k)
        self.asking = settings.dec_heads

    @property
    def of_each_query_head(self) -> torch.Tensor:
        """The keys that each query head meets: (heads, kv_len, dim)."""
        return self.k[0].repeat_interleave(self.asking // self.k.shape[1], 0)


def handed(met: Met) -> torch.Tensor:
    return met.memory.k[0]


def is_direct(met: Met) -> bool:
    """The encoder's as they are, in all layers, a K/V head for each query head."""
    return met.same_in_all_layers and torch.equal(met.of_each_query_head, handed(met))


def is_broadcast(met: Met) -> bool:
    return len(handed(met)) == 1 < met.asking and torch.equal(met.k[0], handed(met))


def is_grouped(met: Met) -> bool:
    group = met.asking // len(handed(met))
    return group > 1 and torch.equal(met.of_each_query_head, handed(met).repeat_interleave(group, 0))


def is_pooled(met: Met) -> bool:
    group = len(handed(met)) // met.asking
    return group > 1 and torch.allclose(met.k[0], handed(met).unflatten(0, (met.asking, group)).mean(1))


def is_dropped(met: Met) -> bool:
    return len(handed(met)) > met.asking and torch.equal(met.k[0], handed(met)[: met.asking])


def has_surplus(met: Met) -> bool:
    """The first heads read the encoder's, one each; the others read columns of their own, and nobody both."""
    count, src_len = len(handed(met)), SRC.shape[1]
    rows = met.mask[0].expand(met.asking, -1, -1)  # (heads, q_len, kv_len)
    return (
        met.asking > count
        and torch.equal(met.k[0, :count, :src_len], handed(met))
        and rows[:count, :, :src_len].all()
        and not rows[:count, :, src_len:].any()
        and not rows[count:, :, :src_len].any()
        and rows[count:, -1, src_len:].all()
    )


def is_projected(met: Met) -> bool:
    """Each layer's own, made from all that was handed over: another key head makes other keys."""
    with torch.no_grad():
        less = met.memory._replace(k=met.memory.k * 0.5, v=met.memory.v)
        other = met.ways[0].source_kv(less)[0]
    return met.k.shape[1] == met.asking and not torch.equal(other, met.k)


IS_SO = {
    "direct": is_direct,
    "direct_broadcast": is_broadcast,
    "grouped": is_grouped,
    "grouped_equal": is_direct,
    "grouped_pool": is_pooled,
    "grouped_drop": is_dropped,
    "extra_equal": is_direct,
    "extra_slots": has_surplus,
    "extra_states": has_surplus,
    "projection_full": is_projected,
    "projection_mix": is_projected,
}


def nobodys_heads(met: Met) -> bool:
    return met.memory.k is None


@pytest.mark.sample(20)
@pytest.mark.parametrize("number", range(100))
def test_what_is_said_of_the_way_is_so(number):
    settings = SETTINGS[number]
    section, values = way_text(settings.config)
    met = Met(settings)
    assert {"reproject": nobodys_heads, **IS_SO}[section](met), (section, settings)
    assert "{" not in task_prose("playground", section, settings.task, **values)
    if section == "grouped":
        assert values["group"] * len(handed(met)) == met.asking
    if section == "grouped_pool":
        assert values["group"] * met.asking == len(handed(met))
    if section.startswith("extra_s"):
        assert values["own"] == label("way", "own", count=len(handed(met)))
        assert values["surplus"] == label("way", "surplus", count=met.asking - len(handed(met)))


def test_the_hundred_settings_have_every_text_among_them():
    assert {way_text(settings.config)[0] for settings in SETTINGS} == {"reproject", *IS_SO}


@pytest.mark.sample(20)
@pytest.mark.parametrize("number", range(100))
def test_heads_that_are_said_to_share_meet_the_same_keys(number):
    """The caption "K/V head" numbers them by `shared_by`."""
    settings = SETTINGS[number]
    met = Met(settings)
    shared = settings.shared_by("cross")
    keys = met.of_each_query_head.view(shared, settings.dec_heads // shared, *met.k.shape[2:])
    assert torch.equal(keys, keys[:, :1].expand_as(keys))
