"""The line at the top: what was typed, what the model says, whether that is right, and how good the model is."""

import streamlit as st

from attention.inspection import WordView
from attention.tasks import Refusal, Task, Tokens, get_task
from pages.parts.models import Trained
from pages.parts.settings import Settings
from pages.parts.words import label, percent, task_label, verbatim


def read_text(settings: Settings) -> tuple[Tokens, str | None]:
    """The typed text as tokens; where the task refuses it, the nearest text that works, and the task's sentence."""
    task = get_task(settings.task)
    try:
        return task.read(settings.text), None
    except Refusal as refusal:
        return task.nearest(settings.text), str(refusal)


def notice(*sentences: str) -> None:
    """Something the visitor should know, as plain text: what was typed may be part of it."""
    for sentence in sentences:
        st.html(f'<p class="notice" role="status">{verbatim(sentence)}</p>')


def draw_answer(settings: Settings, view: WordView, trained: Trained, broken: bool) -> None:
    """One line, or two on a phone."""
    task = get_task(settings.task)
    word = f'<span class="word">{verbatim(task.join_source(view.source))}</span>'
    if broken:
        said = f'<span class="faint">{verbatim(label("answer", "nothing"))}</span>'
        verdict = ""
    else:
        said = f'<span class="said">{verbatim(task.join_target(view.answer))}</span>'
        verdict = f'<span class="verdict">{verbatim(_verdict(task, view))}</span>'
    mark = f'<span class="badge {trained.origin}" title="{verbatim(_badge_help(task, trained))}">'
    mark += f"{verbatim(badge(task, trained))}</span>"
    line = f'{word}<span class="arrow">→</span>{said}{verdict}{mark}'
    st.html(f'<div class="answer" role="heading" aria-level="1">{line}</div>')
    if trained.origin in ("here", "moment", "training", "stopped"):
        st.html(f'<p class="faint under">{verbatim(label("train", "not_in_address"))}</p>')
    if trained.scores is not None and (known := _known(task, view.source)):
        st.html(f'<p class="faint under">{verbatim(known)}</p>')


def _verdict(task: Task, view: WordView) -> str:
    if not view.ended:
        return label("answer", "limit", count=len(view.answer))
    answers = task.answers(view.source)
    if not answers:
        return label(task.name, "unknown")
    if view.answer in answers:
        return label(task.name, "right")
    return label(task.name, "wrong", answers=" / ".join(map(task.join_target, answers)))


def badge(task: Task, trained: Trained) -> str:
    """Whether the weights are trained, and how well; said beside everything that is drawn from them."""
    if trained.scores is None:
        return label("model", trained.origin, step=trained.steps, steps=trained.num_steps)
    return task_label(task.name, "model", trained.origin, accuracy=percent(trained.scores.sequence_accuracy))


def no_skill(trained: Trained) -> str:
    """What random and half-trained weights do not show."""
    name = "half_trained_long" if trained.steps else "random_long"
    return label("model", name, step=trained.steps, steps=trained.num_steps)


def _badge_help(task: Task, trained: Trained) -> str:
    if trained.scores is None:
        return no_skill(trained)
    scores = trained.scores
    return task_label(
        task.name,
        "model",
        "shipped_help",
        tokens=percent(scores.token_accuracy),
        target_words=task.target_words,
        count=scores.num_examples,
        steps=trained.steps,
    )


def _known(task: Task, source: Tokens) -> str:
    seen = task.is_training_word(source)
    if seen is None:
        return ""
    return label(task.name, "in_training" if seen else "held_out")
