"""Another trained model to be put in place of the present one, chosen by its heads."""

from functools import partial

import streamlit as st

from attention import ModelConfig, StackConfig
from attention.cross_attention import KV_WAYS
from pages.anchors.address import OTHER, name_of
from pages.shared.models import record_of
from pages.shared.settings import Settings
from pages.shared.texts import label
from pages.shared.trained import away, cards_of
from pages.shared.ways import heads_name
from pages.shared.widgets import choose_setting, setting

# What a model is chosen by, one after the other: what is chosen later may have to give way.
PARTS = ("encoder", "decoder", "kv")


def other_models(settings: Settings) -> list[ModelConfig]:
    """Those of this task that look at the same columns in as many layers, the present one left out."""

    def comparable(config: ModelConfig) -> bool:
        own_columns = KV_WAYS[config.kv].own_columns(config, ("x",))
        as_many_layers = config.decoder.num_layers == settings.dec_layers
        return as_many_layers and own_columns == KV_WAYS[settings.kv].own_columns(settings.config, ("x",))

    configs = [card.config for card in cards_of(settings.task) if comparable(card.config)]
    is_shipped = record_of(settings).origin == "shipped"  # with another seed the shipped one is another model
    return [config for config in configs if not is_shipped or config != settings.config]


def draw_other_model(settings: Settings) -> ModelConfig | None:
    """A box for the heads of each side, and one for the K/V way where there are several; None where there is no model.

    Without a choice it is the nearest one.
    """
    models = other_models(settings)
    if not models:
        st.caption(label("experiment", "no_other"))
        return None
    named = {name_of(config): config for config in models}
    chosen = named.get(settings[OTHER]) or _nearest(models, settings.config)
    with st.container(horizontal=True, key="other_model"):
        for number, part in enumerate(PARTS):
            like_it = [config for config in models if _parts(config)[:number] == _parts(chosen)[:number]]
            options = sorted({_parts(config)[number] for config in like_it}, key=_order)
            if part == "kv" and len(options) == 1:
                continue
            take = partial(_choose, like_it, chosen, number)
            width = 180 if part == "kv" else 150
            shown = {"options": options, "format_func": _name, "value": _parts(chosen)[number], "width": width}
            setting(st.selectbox, OTHER, label("experiment", f"other_{part}"), key=f"other_{part}", take=take, **shown)
    if settings[OTHER] not in (None, name_of(chosen)):
        st.caption(label("experiment", "other_at", wanted=settings[OTHER], used=name_of(chosen)))
    return chosen


def _choose(like_it: list[ModelConfig], before: ModelConfig, number: int, value: StackConfig | str) -> None:
    """Of the models that have this value, the nearest to the one before."""
    models = [config for config in like_it if _parts(config)[number] == value]
    choose_setting(OTHER, name_of(_nearest(models, before)))


def _nearest(models: list[ModelConfig], wanted: ModelConfig) -> ModelConfig:
    return min(models, key=lambda config: away(config, wanted))


def _parts(config: ModelConfig) -> tuple[StackConfig, StackConfig, str]:
    return tuple(getattr(config, part) for part in PARTS)


def _order(value: StackConfig | str) -> tuple:
    return (value.num_heads, value.head_dim) if isinstance(value, StackConfig) else (tuple(KV_WAYS).index(value),)


def _name(value: StackConfig | str) -> str:
    return heads_name(value) if isinstance(value, StackConfig) else label("kv", value)
