"""A word decoded step by step, undisturbed and disturbed, as the player shows it."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from attention.cache import sharing_choices, stores
from attention.cross_attention import KV_WAYS
from attention.decoding import Decoding
from attention.tasks import Task, Tokens, get_task
from pages.anchors.address import HIDDEN, LINES, STEP
from pages.anchors.player import Film, Place, Run, player, player_data
from pages.shared.answer import no_skill, notice, output_text
from pages.shared.models import ModelRecord
from pages.shared.session import change, current
from pages.shared.settings import Settings
from pages.shared.texts import catalogue, label
from pages.shared.ways import column_labels
from pages.shared.widgets import choose_setting, segments

CANDIDATES = 5


def cross_layer(settings: Settings) -> int:
    """The decoder layer that is shown, counted from 1: the chosen one, as far as the decoder has it."""
    return min(settings.layer, settings.dec_layers)


def shown_head(settings: Settings) -> int:
    """The head whose lines are shown, counted from 1; 0: all."""
    return min(settings.head, settings.dec_heads) if settings[LINES] == "one" else 0


def choose_layer(settings: Settings) -> None:
    """A row of the decoder's layers, where there are several."""
    if settings.dec_layers == 1:
        return
    layers, shown = tuple(range(1, settings.dec_layers + 1)), cross_layer(settings)
    title = label("anchors", "layer")
    with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
        st.markdown(title, width="content")
        look = {"key": "anchors_layer", "value": shown, "label_visibility": "collapsed"}
        segments("layer", layers, str, take=_take_layer, title=title, **look)


def draw_player(
    settings: Settings,
    record: ModelRecord,
    source: Tokens,
    decodings: Sequence[tuple[str, Decoding]],
    hidden: Sequence[Place] | None,
) -> None:
    """The decodings side by side, each with its title; a step beyond their end is told, and the last one shown.

    hidden: as in `player_data`.
    """
    task, step = get_task(settings.task), settings[STEP] or 1
    steps = max(len(decoding.output) for _, decoding in decodings)
    if step > steps:
        notice(label("anchors", "no_such_step", step=step, steps=steps))
    if not record.is_trained:
        st.caption(no_skill(record))
    runs = [
        Run(_film(task, settings, source, decoding), title, _answer(task, source, decoding))
        for title, decoding in decodings
    ]
    kept = stores(settings.config, len(source) + 1, 1)
    words = catalogue()["player"] | {"source": label(settings.task, "source"), "target": label(settings.task, "target")}
    here = {"step": step, "head": shown_head(settings), "kv_heads": settings.config.decoder.num_kv_heads}
    data = player_data(runs, kept, _sharing(settings, source), words=words, hidden=hidden, **here)
    player(data, key="player", on_rest=_rested, on_hide=partial(choose_setting, HIDDEN))


def _answer(task: Task, source: Tokens, decoding: Decoding) -> str:
    """What a run comes to, with a mark where it is known whether that is right."""
    answer, answers = task.tgt_vocab.decode(decoding.answer), task.answers(source)
    mark = "" if not answers else " ✓" if decoding.ended and answer in answers else " ✗"
    return output_text(task, answer) + ("" if decoding.ended else " …") + mark


def _film(task: Task, settings: Settings, source: Tokens, decoding: Decoding) -> Film:
    output = task.tgt_vocab.decode(decoding.output)
    read = ("<s>", *output[:-1])
    own, longer = (KV_WAYS[settings.kv].own_columns(settings.config, tokens) for tokens in (read, (*read, "x")))
    gold = task.gold_alignment(source, output[:-1]) if decoding.ended else None
    letters = [tuple(sorted(columns)) for columns in gold or ()]
    return Film(
        weights=decoding.cross[cross_layer(settings) - 1].weights,
        source=task.src_vocab.decode(task.encode_source(source)),
        own=column_labels(own),
        own_grows=len(longer) > len(own),
        output=output,
        read=read,
        candidates=[
            [(task.tgt_vocab.tokens[token], share) for token, share in decoding.candidates(step, CANDIDATES)]
            for step in range(1, len(output) + 1)
        ],
        gold=letters + [()] * (len(output) - len(letters)),
    )


def _sharing(settings: Settings, source: Tokens) -> list[tuple[str, int, int, int]]:
    """For each degree of sharing K/V heads: its name, how many there are, the anchor's bytes, own bytes per step."""
    rows = []
    for name, config in sharing_choices(settings.config).items():
        kept = stores(config, len(source) + 1, 1)
        anchor, own = (sum(store.nbytes() for store in kept if store.grows is grows) for grows in (False, True))
        rows.append((name, config.decoder.num_kv_heads, anchor, own))
    return rows


def _take_layer(layer: int) -> None:
    change(replace(current(), kind="cross", layer=layer))


def _rested(step: int, head: int) -> None:
    """The visitor has come to rest at this step, with the lines of this head (0: of all)."""
    settings = current().put(STEP, step).put(LINES, "one" if head else "all")
    change(replace(settings, kind="cross", layer=cross_layer(settings), head=head) if head else settings)
