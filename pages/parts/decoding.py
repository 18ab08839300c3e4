"""A word said step by step, as the player shows it."""

from dataclasses import replace

import streamlit as st
import torch

from attention import ModelConfig
from attention.cache import sharing_choices, stores
from attention.cross_attention import KV_FEEDS
from attention.stepping import Decoding, decode_word
from attention.tasks import Task, Tokens, get_task
from pages.parts import sidebar
from pages.parts.answer import notice
from pages.parts.models import RANDOM, Trained, model_at_work
from pages.parts.player import Film, film_data, player
from pages.parts.settings import Settings
from pages.parts.words import catalogue, label

CANDIDATES = 5


@st.cache_resource(max_entries=128, show_spinner=False)
def _decoding(task: str, config: ModelConfig, seed: int, origin: str, source: Tokens) -> Decoding:
    the_task = get_task(task)
    src_ids = torch.tensor([the_task.encode_source(source)])
    with model_at_work(task, config, seed, origin) as model:
        return decode_word(model, src_ids, the_task.max_tgt_len(len(source)))


def word_decoding(settings: Settings, source: Tokens, trained: Trained) -> Decoding:
    """The settings' model saying one word."""
    return _decoding(settings.task, settings.config, settings.seed, trained.origin, source)


def cross_layer(settings: Settings) -> int:
    """The decoder layer that is shown, counted from 1: the chosen one, as far as the decoder has it."""
    return min(settings.layer, settings.dec_layers)


def shown_head(settings: Settings) -> int:
    """The head whose lines are shown, counted from 1; 0: all."""
    return min(settings.head, settings.dec_heads) if settings.lines == "one" else 0


def draw_player(settings: Settings, source: Tokens, trained: Trained) -> None:
    """The decoding of the word, with layer to choose; a step beyond its end is told, and the last one shown."""
    task, decoding = get_task(settings.task), word_decoding(settings, source, trained)
    layers = tuple(range(1, settings.dec_layers + 1))
    sidebar.segments("layer", layers, str, choose=_choose_layer, title=label("anchors", "layer"))
    step = settings.step or 1
    if step > len(decoding.said):
        notice(label("anchors", "no_such_step", step=step, steps=len(decoding.said)))
    if trained is RANDOM:
        st.caption(label("model", "random_long"))
    film = _film(task, settings, source, decoding)
    kept = stores(settings.config, len(source) + 1, 1)
    words = catalogue()["player"] | {"source": label(settings.task, "source"), "target": label(settings.task, "target")}
    here = {"step": step, "head": shown_head(settings), "kv_heads": settings.config.decoder.num_kv_heads}
    data = film_data(film, kept, _sharing(settings, source), words=words, **here)
    player(data, key="player", on_rest=_rested)


def _film(task: Task, settings: Settings, source: Tokens, decoding: Decoding) -> Film:
    said = task.tgt_vocab.decode(decoding.said)
    read = ("<s>", *said[:-1])
    gold = task.gold_alignment(source, said[:-1]) if decoding.ended else None
    letters = [tuple(sorted(columns)) for columns in gold or ()]
    return Film(
        weights=decoding.cross[cross_layer(settings) - 1],
        source=task.src_vocab.decode(task.encode_source(source)),
        own=KV_FEEDS[settings.kv].own_columns(settings.config, read),
        said=said,
        read=read,
        candidates=[
            [(task.tgt_vocab.tokens[token], share) for token, share in decoding.candidates(step, CANDIDATES)]
            for step in range(1, len(said) + 1)
        ],
        gold=letters + [()] * (len(said) - len(letters)),
    )


def _sharing(settings: Settings, source: Tokens) -> list[tuple[str, int, int, int]]:
    """For each degree of sharing K/V heads: its name, how many there are, the anchor's bytes, own bytes per step."""
    rows = []
    for name, config in sharing_choices(settings.config).items():
        kept = stores(config, len(source) + 1, 1)
        anchor, own = (sum(store.nbytes() for store in kept if store.grows is grows) for grows in (False, True))
        rows.append((name, config.decoder.num_kv_heads, anchor, own))
    return rows


def _choose_layer() -> None:
    sidebar.change(replace(sidebar.current(), kind="cross", layer=st.session_state["layer"]))


def _rested(step: int, head: int) -> None:
    """The visitor has come to rest at this step, with the lines of this head (0: of all)."""
    settings = replace(sidebar.current(), step=step, lines="one" if head else "all")
    sidebar.change(replace(settings, kind="cross", layer=cross_layer(settings), head=head) if head else settings)
