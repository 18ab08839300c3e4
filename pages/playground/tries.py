"""Three things to try: each sets a whole situation, starting from the default, and one press takes it back."""

from dataclasses import dataclass, replace

import streamlit as st
import torch

from attention.ablation.needed import needed_heads
from attention.config import END
from attention.inspection.heads import Head
from attention.tasks import Tokens, get_task
from pages.shared.answer import output_text, read_text
from pages.shared.caching import made_once
from pages.shared.models import ModelRecord, at_work, record_of, word_view
from pages.shared.session import change, current
from pages.shared.settings import Settings
from pages.shared.situations import apply_situation
from pages.shared.texts import label

SITUATIONS = {"more": "problem_1", "reuse": "mismatch"}
TRIES = ("more", "needed", "reuse")


@dataclass(frozen=True)
class Tried:
    """What was pressed, what it set, and what there was before."""

    name: str
    after: Settings
    before: Settings


def draw_tries(settings: Settings) -> None:
    """A row of buttons; the one whose situation is on the screen takes it back, and its outcome stands below."""
    tried = _tried(settings)
    with st.container(horizontal=True, vertical_alignment="center", key="tries"):
        st.markdown(f"**{label('tries', 'title')}**")
        for name in TRIES:
            if tried and tried.name == name:
                undo = {"icon": ":material/undo:", "type": "primary"}
                st.button(label("tries", "undo"), key=f"try_{name}", on_click=_undo, **undo)
            else:
                st.button(label("tries", name), key=f"try_{name}", on_click=_try, args=(name,))


def outcome(settings: Settings) -> str:
    """What is to be seen of the situation that was tried; "" where none is on the screen."""
    tried = _tried(settings)
    if tried is None:
        return ""
    if tried.name in SITUATIONS:
        return label("tries", f"{tried.name}_outcome")
    source, _ = read_text(settings)
    task = get_task(settings.task)
    whole = word_view(record_of(replace(settings, off=())), source).answer
    without = word_view(record_of(settings), source).answer
    before, after = output_text(task, whole), output_text(task, without)
    if not settings.off:
        return label("tries", "no_head", answer=before)
    (head,) = settings.off
    place = {"kind": head.kind, "layer": head.layer + 1, "head": head.number + 1}
    said = label("tries", "kept" if before == after else "needed_outcome", **place, before=before, after=after)
    if settings.text == tried.after.text != tried.before.text:
        # as the task reads them: what was typed might be taken for Markdown
        texts = (task.join_source(read_text(one)[0]) for one in (tried.before, settings))
        said = f"{label('tries', 'other_word', **dict(zip(('text', 'instead'), texts, strict=True)))} {said}"
    return said


def _tried(settings: Settings) -> Tried | None:
    """What was tried, as long as its model is on the screen, with whatever word."""
    tried = st.session_state.get("tried")
    here = tried and tried.after.same_model(settings) and tried.after.off == settings.off
    return tried if here and tried.after.seed == settings.seed else None


def _try(name: str) -> None:
    before = current()
    start = replace(before.first_visit(), task=before.task, text=before.text)
    after = apply_situation(start, SITUATIONS[name]) if name in SITUATIONS else _without_a_needed_head(start)
    change(after, afresh=True)
    st.session_state["tried"] = Tried(name, current(), before)


def _undo() -> None:
    tried = st.session_state.pop("tried")
    typed = current().text
    change(replace(tried.before, text=tried.before.text if typed == tried.after.text else typed), afresh=True)


def _without_a_needed_head(settings: Settings) -> Settings:
    """The head whose loss changes this answer, taken away, with its layer in view.

    Where no head does, with the first of the task's examples that is answered right and hangs on one.
    """
    task, record = get_task(settings.task), record_of(settings)
    for text in (settings.text, *task.examples):
        source = read_text(replace(settings, text=text))[0]
        is_right = word_view(record, source).answer in task.answers(source)
        if (is_right or text == settings.text) and (needed := _needed(record, source)):
            head = needed[0]
            place = {"kind": head.kind, "layer": head.layer + 1, "head": head.number + 1}
            return replace(settings, text=text, off=(head,), **place)
    return settings


@made_once()
def _needed(record: ModelRecord, source: Tokens) -> tuple[Head, ...]:
    task, view = get_task(record.task), word_view(record, source)
    output = task.tgt_vocab.encode(view.answer) + [END] * view.ended
    with at_work(record) as model:
        return needed_heads(model, torch.tensor([task.encode_source(source)]), torch.tensor(output))
