"""Taking heads away: switches with the answer and the score before and after, and the curve of all of them."""

from collections import Counter
from collections.abc import Sequence
from functools import partial

import streamlit as st

from attention.config import ATTENTION_KINDS
from attention.inspection.heads import Head, all_heads, num_kv_heads, readers_of
from attention.jobs.removal_service import Study
from attention.tasks import Tokens, get_task
from pages.redundancy.address import OFF_BY
from pages.redundancy.measured import importance, most_constant
from pages.shared.heads_away import (
    LOST,
    could_go,
    draw_lines,
    head_name,
    removal_service,
    scored,
    start_study,
    why_not_now,
)
from pages.shared.models import NUM_WORDS, ModelRecord, word_view
from pages.shared.session import current
from pages.shared.settings import Settings
from pages.shared.table import Cell, draw_table
from pages.shared.texts import label, listed, number, percent, prose, say, task_label
from pages.shared.widgets import choose_setting, linked, pills_of_many

MOST_MISSED = 6
LEAST_CONSTANT = 0.01  # of what a head adds, to be spoken of


def draw(settings: Settings, record: ModelRecord, source: Tokens) -> None:
    theme = st.context.theme.type or "light"
    _draw_switches(settings)
    off_by = settings[OFF_BY]
    _draw_before_and_after(record, record.without_heads(settings.off, off_by), source)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="large"):
        linked(OFF_BY, lambda by: label("off_by", by), label("off_by", "label"))
        if settings.off:
            st.button(label("switches", "reset"), on_click=choose_setting, args=("off", ()))
    st.markdown(prose("redundancy")["removal"])
    head, share = most_constant(record)
    if share >= LEAST_CONSTANT:
        st.caption(label("switches", "constant", share=percent(share), head=head_name(head)))
    st.header(label("switches", "curve"), anchor=False)
    if record.is_random:
        st.caption(label("lab", "map_mark"))
    st.caption(label("off_by", f"study_{off_by}"))
    _draw_study(record, off_by, theme)
    st.markdown(prose("redundancy")["published"])


def _draw_switches(settings: Settings) -> None:
    """A pill for each head of the model; those that were pressed are off, and look so: redundancy.css."""
    shared = any(num_kv_heads(settings.config, kind) < settings.heads_of(kind) for kind in ATTENTION_KINDS)
    st.caption(" ".join(label("switches", name) for name in (("hint", "kv_hint") if shared else ("hint",))))
    for column, kind in zip(st.columns(3, gap="medium"), ATTENTION_KINDS, strict=True):
        with column:
            for layer in range(settings.layers_of(kind)):
                title = label("switches", "row", kind=label("kind", kind), layer=layer + 1)
                heads = range(settings.heads_of(kind))
                off = [head.number for head in settings.off if (head.kind, head.layer) == (kind, layer)]
                take = partial(_switch, kind, layer)
                pills_of_many(f"off_{kind}_{layer}", off, heads, lambda head: str(head + 1), title, take)
                _draw_kv_switches(settings, kind, layer, off)


def _switch(kind: str, layer: int, off: Sequence[int]) -> None:
    """These heads of one layer are to be off, and no others."""
    settings = current()
    rest = {head for head in settings.off if (head.kind, head.layer) != (kind, layer)}
    wanted = rest | {Head(kind, layer, number) for number in off}
    choose_setting("off", tuple(head for head in all_heads(settings.config) if head in wanted))


def _draw_kv_switches(settings: Settings, kind: str, layer: int, off: Sequence[int]) -> None:
    """Where query heads share K/V heads, a pill for each of these, which is off when all that read it are."""
    count = num_kv_heads(settings.config, kind)
    if count == settings.heads_of(kind):
        return
    groups = [[head.number for head in readers_of(settings.config, kind, layer, number)] for number in range(count)]
    gone = [number for number, group in enumerate(groups) if set(group) <= set(off)]

    def switch(wanted: Sequence[int]) -> None:
        changed = {head for number in set(wanted) ^ set(gone) for head in groups[number]}
        away = {head for number in wanted for head in groups[number]}
        _switch(kind, layer, sorted((set(off) - changed) | away))

    title = label("switches", "kv_row", kind=label("kind", kind), layer=layer + 1)
    pills_of_many(f"off_{kind}_{layer}_kv", gone, range(count), lambda number: str(number + 1), title, switch)


def _draw_before_and_after(whole: ModelRecord, rest: ModelRecord, source: Tokens) -> None:
    task, count = get_task(whole.task), len(rest.without)
    word = label("switches", "answer", word=task.join_source(source))
    rows = []
    answers = [task.join_target(word_view(record, source).answer) or "–" for record in (whole, rest)]
    rows.append((word, answers[0], Cell(answers[1], "bad" if answers[1] != answers[0] else "")))
    before, after = scored(whole), scored(rest)
    accuracy = task_label(task.name, "switches", "accuracy")
    below = label("switches", "words", count=NUM_WORDS)
    rows.append((Cell(accuracy, below=below), _precise(before.token_accuracy), _precise(after.token_accuracy)))
    rows.append((Cell(label("switches", "loss"), below=below), number(before.loss, 3), number(after.loss, 3)))
    title = label("switches", "off", count=count) if count else label("switches", "off_none")
    draw_table(label("switches", "before_after"), ("", label("switches", "on"), title), rows)


def _precise(share: float) -> str:
    return percent(share, 1).replace(" ", "\u00a0")


def _draw_study(record: ModelRecord, off_by: str, theme: str) -> None:
    study = removal_service().study((record, off_by))
    if study is not None and study.status == "running":
        _watch(record, off_by, theme)
    elif study is not None and study.status == "done":
        _draw_curve(record, study, theme)
    elif refusal := why_not_now(record):
        st.caption(refusal)
    else:
        heads = sum(1 for kind in ATTENTION_KINDS for _ in _all_heads(record, kind))
        with st.container(horizontal=True, vertical_alignment="center"):
            title = label("switches", "start" if study is None else "again")
            st.button(title, key="study", on_click=start_study, args=(record, off_by))
            estimate = label("switches", "estimate", heads=heads, steps=2 * heads, count=NUM_WORDS)
            refusal = st.session_state.pop("study_refusal", "")
            st.caption(refusal or (say("jobs", study.message) if study else estimate))


def _all_heads(record: ModelRecord, kind: str) -> range:
    stack = record.config.encoder if kind == "encoder" else record.config.decoder
    return range(stack.num_layers * stack.num_heads)


@st.fragment(run_every=0.5)
def _watch(record: ModelRecord, off_by: str, theme: str) -> None:
    """Redraws itself while workers take heads away, and the page once they have."""
    study = removal_service().study((record, off_by))
    if study is None or study.status != "running":
        st.rerun()
    done = len(study.alone) + len(study.curve)
    st.progress(study.share_done, text=label("switches", "under_way", done=done, steps=2 * study.num_heads))
    if study.curve:
        draw_lines({task_label(record.task, "switches", "accuracy"): study}, record.task, theme)


def _draw_curve(record: ModelRecord, study: Study, theme: str) -> None:
    texts = prose("redundancy")
    left, right = st.columns([3, 2], gap="large")
    with left:
        draw_lines({task_label(record.task, "switches", "accuracy"): study}, record.task, theme)
        if not record.is_random:
            st.markdown(_findings(record, study))
        st.caption(texts["order"])
    with right:
        _draw_missed(record, study)
        st.caption(texts["gradient"])


def _findings(record: ModelRecord, study: Study) -> str:
    """How many could go, and of which kinds the first half was."""
    whole = study.whole.token_accuracy
    first = Counter(step.heads[0].kind for step in study.curve[: study.num_heads // 2])
    kinds = listed(
        label(
            "switches",
            "of_kind",
            count=first[kind],
            all=len(_all_heads(record, kind)),
            kind=kind,
        )
        for kind in ATTENTION_KINDS
    )
    numbers = {
        "count": could_go(study),
        "heads": study.num_heads,
        "whole": _precise(whole),
        "limit": _precise(whole - LOST),
    }
    could = task_label(record.task, "switches", "could_go", **numbers)
    return f"{could} {label('switches', 'first_to_go', kinds=kinds)}"


def _draw_missed(record: ModelRecord, study: Study) -> None:
    """The heads that are missed most when only they are gone, and what one backward pass says of them."""
    by_gradient = importance(record)
    missed = sorted(study.alone, key=lambda step: step.score.loss, reverse=True)[:MOST_MISSED]
    rows = [
        (
            head_name(head := step.heads[0]),
            number(step.score.loss - study.whole.loss, 3),
            number(float(by_gradient[head.kind][head.layer, head.number]), 3),
        )
        for step in missed
    ]
    names = ("which", "alone", "gradient")
    draw_table(label("switches", "missed"), [label("switches", name) for name in names], rows, look="figures beside")
