"""The line at the top: what was typed, what the model says, whether that is right, and how good the model is."""

from collections.abc import Iterable

import streamlit as st

from attention.checkpoints import steps_of_shipped
from attention.inspection import WordView
from attention.inspection.heads import Head
from attention.tasks import Refusal, Task, Tokens, get_task
from pages.shared.models import ModelRecord, num_steps_of, scores_of
from pages.shared.presenting import is_presented
from pages.shared.settings import Settings
from pages.shared.switched_off import by_layer
from pages.shared.texts import isolates_as_html, label, percent, say, task_label, verbatim
from pages.shared.trained import is_broken
from pages.shared.ways import model_name


def read_text(settings: Settings) -> tuple[Tokens, tuple[str, ...]]:
    """The typed text as tokens; where the task refuses it, the nearest text that works, and sentences that say so."""
    task = get_task(settings.task)
    try:
        return task.read(settings.text), ()
    except Refusal as refusal:
        nearest = task.nearest(settings.text)
        instead = label("answer", "shown_instead", text=task.join_source(nearest))
        return nearest, (f"{say('refusal', refusal.message, isolate=True)} {instead}",)


def output_text(task: Task, output: Tokens) -> str:
    """What a model gave, as people write it; an empty output says that it is one."""
    return task.join_target(output) or label("answer", "empty")


def notice(*sentences: str) -> None:
    """Something the visitor should know, as plain text: what was typed may be part of it."""
    for sentence in sentences:
        st.html(f'<p class="notice" role="status">{isolates_as_html(sentence)}</p>')


def draw_answer(
    record: ModelRecord, view: WordView, broken: bool, switches_here: bool = False, beside_word: bool = False
) -> None:
    """One line, or two on a phone; `switches_here`: heads can be switched on again right below.

    `beside_word`: the word stands beside it already, in its field. Then the page has a headline of its own, and a place
    for `draw_notes` and `known_of`.
    """
    task = get_task(record.task)
    word = "" if beside_word else f'<span class="word">{verbatim(task.join_source(view.source))}</span>'
    spoken = f'<small class="faint">{verbatim(label(task.name, "answer_is"))}</small>' if beside_word else ""
    if broken:
        said = f'<span class="faint">{verbatim(label("answer", "nothing"))}</span>'
        verdict = ""
    else:
        said = f'<span class="said">{verbatim(output_text(task, view.answer))}</span>{spoken}'
        verdict = f'<span class="verdict">{verbatim(_verdict(task, view))}</span>'
    mark = f'<span class="badge {record.origin}" title="{verbatim(_badge_help(record))}">'
    mark += f"{verbatim(badge(record, short=beside_word and record.origin == 'shipped'))}</span>"
    line = f'{word}<span class="arrow">→</span>{said}{verdict}{mark}'
    role = 'role="status"' if beside_word else 'role="heading" aria-level="2"'
    st.html(f'<div class="answer" {role}>{line}</div>')
    if not beside_word:
        draw_notes(record, switches_here)
        if (known := known_of(record, view)) and not is_presented():
            st.html(f'<p class="faint under">{verbatim(known)}</p>')


def draw_notes(record: ModelRecord, switches_here: bool = False, said_elsewhere: bool = False) -> None:
    """What was done to the model since it was trained, that it is not in the address, or that its file is broken.

    `said_elsewhere`: the page itself tells which head is off, and switches it on again.
    """
    if record.is_random and is_broken(record.task, record.config, record.seed):
        name = model_name(record.config, with_way=record.config.kv != "reproject")
        notice(label("model", "damaged", task=label(record.task, "title"), name=name))
    if record.without and not said_elsewhere:
        off, count = heads_in_words(record.without), len(record.without)
        sentence = label("model", "off", heads=off, by=label("off_by", record.off_by), count=count)
        if not switches_here:
            sentence += f" {label('model', 'off_where', count=count)}"
        st.html(f'<p class="under">{verbatim(sentence)}</p>')
    if record.origin not in ("random", "shipped"):
        st.html(f'<p class="faint under">{verbatim(label("train", "not_in_address"))}</p>')


def heads_in_words(heads: Iterable[Head]) -> tuple[str, ...]:
    """Heads for a sentence, those of a layer together."""
    return tuple(
        label("heads_of", kind, layer=layer + 1, heads=tuple(str(one + 1) for one in numbers), count=len(numbers))
        for (kind, layer), numbers in by_layer(heads).items()
    )


def _verdict(task: Task, view: WordView) -> str:
    if not view.ended:
        return label("answer", "limit", count=len(view.answer))
    answers = task.answers(view.source)
    if not answers:
        return label(task.name, "unknown")
    if view.answer in answers:
        return label(task.name, "right")
    return label(task.name, "wrong", answers=" / ".join(map(task.join_target, answers)))


def badge(record: ModelRecord, short: bool = False) -> str:
    """Whether the weights are trained, for how long, and how well; said beside everything that is drawn from them.

    `short`: without the number of test examples, for where there is little room.
    """
    scores = scores_of(record)
    if record.is_trained and record.without:
        return label("model", "cut", count=len(record.without))
    if scores is None:
        return label("model", record.origin, step=record.step, steps=num_steps_of(record))
    values = {"accuracy": percent(scores.sequence_accuracy), "count": scores.num_examples}
    score = task_label(record.task, "model", "score_short" if short else "score", **values)
    shipped = steps_of_shipped(record.task) if record.origin == "here" else None
    name = "here_beside_shipped" if shipped else record.origin
    return label("model", name, steps=record.step, score=score, shipped=shipped)


def no_skill(record: ModelRecord) -> str:
    """What random and half-trained weights do not show."""
    name = "half_trained_long" if record.is_half_trained else "random_long"
    return label("model", name, step=record.step, steps=num_steps_of(record))


def _badge_help(record: ModelRecord) -> str:
    scores = scores_of(record)
    if record.is_trained and record.without:
        return label("model", "cut_long")
    if scores is None:
        return no_skill(record)
    values = {"count": scores.num_examples, "tokens": percent(scores.token_accuracy)}
    return task_label(record.task, "model", "score_help", **values)


def known_of(record: ModelRecord, view: WordView) -> str:
    """Which part the word belongs to; "" for a model without skill, and for a word that nobody knows."""
    part = get_task(record.task).part_of(view.source) if scores_of(record) is not None else None
    return label(record.task, part) if part else ""
