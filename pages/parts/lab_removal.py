"""Taking heads away: switches with the answer and the score before and after, and the curve of all of them."""

from collections import Counter
from collections.abc import Hashable
from dataclasses import replace

import streamlit as st

from attention.figures.lines import lines_alt, lines_chart
from attention.inspection import KINDS
from attention.metrics.heads import Head
from attention.removal_jobs import Study
from attention.tasks import Tokens, get_task
from pages.parts.chart import draw_chart
from pages.parts.controls import choose_many, keep
from pages.parts.lab_table import Cell, draw_table
from pages.parts.measured import NUM_WORDS, Subject, held_out, importance, model_of, removal_service, scored, seen
from pages.parts.settings import Settings
from pages.parts.words import label, number, prose

LOST = 0.01  # how much of the accuracy may go before heads count as missed
MOST_MISSED = 6


def draw(settings: Settings, subject: Subject, source: Tokens) -> None:
    theme = st.context.theme.type or "light"
    st.header(label("switches", "title"), anchor=False)
    off = _draw_switches(settings)
    _draw_before_and_after(subject, replace(subject, without=off), source)
    st.markdown(prose("redundancy")["removal"])
    st.header(label("switches", "curve"), anchor=False)
    if subject.is_random:
        st.caption(label("lab", "map_mark"))
    _draw_study(subject, theme)
    st.markdown(prose("redundancy")["published"])


def _draw_switches(settings: Settings) -> tuple[Head, ...]:
    """A pill for each head of the model; those that are lit are off."""
    st.caption(label("switches", "hint"))
    off: list[Head] = []
    for column, kind in zip(st.columns(3, gap="medium"), KINDS, strict=True):
        with column:
            for layer in range(settings.layers_of(kind)):
                title = label("switches", "row", kind=label("kind", kind), layer=layer + 1)
                heads, name = range(settings.heads_of(kind)), f"off_{kind}_{layer}"
                numbers = choose_many(name, heads, lambda head: str(head + 1), title)
                off += [Head(kind, layer, head) for head in sorted(numbers)]
    if off:
        st.button(label("switches", "reset"), on_click=_switch_on, args=(settings,), type="tertiary")
    return tuple(off)


def _switch_on(settings: Settings) -> None:
    for kind in KINDS:
        for layer in range(settings.layers_of(kind)):
            keep(f"off_{kind}_{layer}", ())


def _draw_before_and_after(whole: Subject, rest: Subject, source: Tokens) -> None:
    task, count = get_task(whole.task), len(rest.without)
    word = label("switches", "answer", word=task.join_source(source))
    rows = []
    answers = [task.join_target(seen(subject, source).answer) or "–" for subject in (whole, rest)]
    rows.append((word, answers[0], Cell(answers[1], "bad" if answers[1] != answers[0] else "")))
    before, after = scored(whole), scored(rest)
    accuracy = label("switches", "accuracy", target_words=task.target_words)
    below = label("switches", "words", count=NUM_WORDS)
    rows.append((Cell(accuracy, below=below), _precise(before.token_accuracy), _precise(after.token_accuracy)))
    rows.append((Cell(label("switches", "loss"), below=below), number(before.loss, 3), number(after.loss, 3)))
    title = label("switches", "off", count=_heads(count)) if count else label("switches", "off_none")
    draw_table(label("switches", "before_after"), ("", label("switches", "on"), title), rows)


def _heads(count: int) -> str:
    return label("switches", "one_head" if count == 1 else "heads", count=count)


def _precise(share: float) -> str:
    return f"{100 * share:.1f}\u00a0%"


def _key(subject: Subject) -> Hashable:
    return replace(subject, weights=None)


def _draw_study(subject: Subject, theme: str) -> None:
    study = removal_service().study(_key(subject))
    if study is not None and study.status == "running":
        _watch(subject, theme)
    elif study is not None and study.status == "done":
        _draw_curve(subject, study, theme)
    else:
        heads = sum(1 for kind in KINDS for _ in _all_heads(subject, kind))
        with st.container(horizontal=True, vertical_alignment="center"):
            title = label("switches", "start" if study is None else "again")
            st.button(title, key="study", on_click=_start, args=(subject,))
            estimate = label("switches", "estimate", heads=heads, steps=2 * heads, count=NUM_WORDS)
            refusal = st.session_state.pop("study_refusal", "")
            st.caption(refusal or (study.message if study else estimate))


def _all_heads(subject: Subject, kind: str) -> range:
    stack = subject.config.encoder if kind == "encoder" else subject.config.decoder
    return range(stack.num_layers * stack.num_heads)


def _start(subject: Subject) -> None:
    study = removal_service().submit(_key(subject), model_of(subject), held_out(subject.task).batch)
    if study.status == "failed":
        st.session_state["study_refusal"] = study.message


@st.fragment(run_every=0.5)
def _watch(subject: Subject, theme: str) -> None:
    """Redraws itself while workers take heads away, and the page once they have."""
    study = removal_service().study(_key(subject))
    if study is None or study.status != "running":
        st.rerun()
    done = len(study.alone) + len(study.curve)
    st.progress(study.share_done, text=label("switches", "under_way", done=done, steps=2 * study.num_heads))
    if study.curve:
        _draw_lines(subject, study, theme)


def _draw_curve(subject: Subject, study: Study, theme: str) -> None:
    texts = prose("redundancy")
    left, right = st.columns([3, 2], gap="large")
    with left:
        _draw_lines(subject, study, theme)
        if not subject.is_random:
            st.markdown(_findings(subject, study))
        st.caption(texts["order"])
    with right:
        _draw_missed(subject, study)
        st.caption(texts["gradient"])


def _draw_lines(subject: Subject, study: Study, theme: str) -> None:
    name = label("switches", "accuracy", target_words=get_task(subject.task).target_words)
    x = {name: list(range(len(study.curve) + 1))}
    y = {name: [study.whole.token_accuracy, *(step.score.token_accuracy for step in study.curve)]}
    notes = [label("switches", "note_gone", head=head_name(step.heads[0])) for step in study.curve]
    notes = {name: [label("switches", "nothing_gone"), *notes]}
    titles = {"x_title": label("switches", "removed"), "y_title": name}
    figure = lines_chart(x, y, top=1.0, last=study.num_heads, notes=notes, theme=theme, **titles)
    draw_chart(figure, key="removal_curve", alt=lines_alt(x, y, **titles))


def head_name(head: Head) -> str:
    """A head in words."""
    return label("switches", "head", kind=label("kind", head.kind), layer=head.layer + 1, head=head.number + 1)


def _findings(subject: Subject, study: Study) -> str:
    """How many could go, and of which kinds the first half was."""
    whole = study.whole.token_accuracy
    stayed = [step.score.token_accuracy >= whole - LOST for step in study.curve]
    could_go = stayed.index(False) if False in stayed else len(stayed)
    first = Counter(step.heads[0].kind for step in study.curve[: study.num_heads // 2])
    kinds = ", ".join(
        label(
            "switches",
            "of_kind",
            count=first[kind],
            all=len(_all_heads(subject, kind)),
            kind=label("kind", kind).lower(),
        )
        for kind in KINDS
    )
    numbers = {"count": could_go, "heads": study.num_heads, "whole": _precise(whole), "limit": _precise(whole - LOST)}
    could = label("switches", "could_go", target_words=get_task(subject.task).target_words, **numbers)
    return f"{could} {label('switches', 'first_to_go', kinds=kinds)}"


def _draw_missed(subject: Subject, study: Study) -> None:
    """The heads that are missed most when only they are gone, and what one backward pass says of them."""
    by_gradient = importance(subject)
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
    draw_table(label("switches", "missed"), [label("switches", name) for name in names], rows)
