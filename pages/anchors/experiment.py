"""Disturb the anchor: both runs side by side, what drifts, and how many held-out words are still right."""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from attention import EncoderDecoder, ModelConfig
from attention.checkpoints import find
from attention.experiments.disturbed_memory import (
    WORD_END,
    Disturbance,
    Experiment,
    held_out_right,
    mean_row_drift,
    misload,
    other_head_counts,
    run_experiment,
)
from attention.experiments.paired_answers import PairedAnswers
from attention.figures import drift_chart
from attention.tasks import Tokens, get_task
from pages.anchors.address import EXPERIMENT, HIDDEN, LOADED, STRENGTH
from pages.anchors.other_model import draw_other_model
from pages.anchors.playback import choose_layer, cross_layer, draw_player, shown_head
from pages.shared.caching import made_once
from pages.shared.chart import draw_chart, look
from pages.shared.copy_link import tell_outer_address
from pages.shared.models import ModelRecord, anew, at_work, decoding_of, model_of, shipped_record
from pages.shared.parameters import END
from pages.shared.session import current, page_is_drawn, settings_to_address
from pages.shared.settings import MAX_HEADS, Settings
from pages.shared.take_away.taken import of_settings
from pages.shared.texts import label, listed, number, percent, prose, task_label, verbatim
from pages.shared.turns import aside
from pages.shared.widgets import choose_setting, linked, segments, setting

NUM_WORDS = 300  # scored in about half a second
SMALL = 0.001  # a probability below it is told as such
SPEAKS_OF = {"noise_each": "speaks_of_noise", "noise_once": "speaks_of_noise", "other": "speaks_of_models"}


@dataclass(frozen=True)
class Change:
    """What is done to the run: a disturbance, or the weights in other heads, or another shipped model."""

    kind: str
    size: float = 0.0
    hidden: tuple[int, ...] = ()
    heads: int = 0
    config: ModelConfig | None = None

    def disturbance(self, seed: int) -> Disturbance | None:
        if self.kind in ("misuse", "other"):
            return None
        return Disturbance(self.kind, self.size, frozenset(self.hidden), seed)

    @property
    def keeps_heads(self) -> bool:
        """Whether each head can be compared with itself."""
        return self.kind not in ("misuse", "other")


@made_once(max_bytes=100_000_000)
def _experiment(record: ModelRecord, source: Tokens, change: Change) -> Experiment:
    control = decoding_of(record, source)
    with at_work(record) as model:
        other = _changed(record, model, change)
        return run_experiment(control, other, get_task(record.task), source, change.disturbance(record.seed))


@aside
@made_once()
def _right(record: ModelRecord, change: Change | None) -> tuple[bool, ...]:
    """Whether each held-out word is right: word by word, as the control is compared with the others in pairs."""
    words = get_task(record.task).held_out(NUM_WORDS)
    with at_work(record) as model:
        other = _changed(record, model, change)
        return held_out_right(other, get_task(record.task), words, change and change.disturbance(record.seed))


def _changed(record: ModelRecord, model: EncoderDecoder, change: Change | None) -> EncoderDecoder:
    """The model that the change makes of `model`."""
    if change is not None and change.kind == "misuse":
        return misload(model, change.heads)
    if change is not None and change.kind == "other":
        return model_of(shipped_record(find(record.task, change.config)))
    return model


@st.fragment
def draw_experiment(record: ModelRecord, source: Tokens, theme: str) -> None:
    """Choose a disturbance; play it beside the control, and see what it comes to."""
    settings = current()  # those that the page was drawn with may be older
    with anew():
        change = _draw_choice(settings, source)
        found = change and _experiment(record, source, change)
        runs = [(label("experiment", "control"), found.control if found else decoding_of(record, source))]
        if found:
            runs.append((_name(change, source), found.free))
        hidden = _places(settings, source) if change and change.kind == "hidden" else None
        draw_player(settings, record, source, runs, hidden)
        page_is_drawn()
        settings_to_address()  # of a fragment that runs by itself nobody else tells it
        tell_outer_address("experiment")
        if found:
            _draw_changed(settings, record, source, change, found, theme)


def _draw_changed(
    settings: Settings, record: ModelRecord, source: Tokens, change: Change, found: Experiment, theme: str
) -> None:
    st.markdown(prose("anchors")[change.kind])
    st.header(label("experiment", "title"), anchor=False)
    left, right = st.columns([2, 3], gap="large")
    with left:
        cards = [
            _draw_card("control", label("experiment", "control"), settings, found),
            _draw_card("changed", _name(change, source), settings, found),
        ]
    with right:
        _draw_drift(settings, source, change, found, theme)
    # Last, as it takes longest: everything else is on the screen by then.
    if record.is_random:
        for place in cards:
            place.caption(label("experiment", "random"))
        return
    pairs = PairedAnswers(_right(record, None), _right(record, change))
    for place, right in zip(cards, (pairs.control, pairs.changed), strict=True):
        place.html(_share_bar(settings.task, right))
    with left:
        st.caption(
            " ".join((paired_sentence(settings.task, pairs, change.kind), *_hidden_where(settings.task, change)))
        )


def _share_bar(task: str, right: tuple[bool, ...]) -> str:
    """The share as a number, and as a mark on a scale from 0 to 1."""
    share = sum(right) / len(right)
    said = task_label(task, "experiment", "share", count=len(right))
    return (
        f'<p class="share"><b>{percent(share)}</b> {verbatim(said)}</p>'
        f'<div class="scale" aria-hidden="true"><b style="left:{100 * share:.1f}%"></b></div>'
    )


def paired_sentence(task: str, pairs: PairedAnswers, kind: str) -> str:
    """How the two shares compare word by word, and what that speaks of."""
    total = len(pairs.control)
    if not pairs.lost and not pairs.won:
        return task_label(task, "experiment", "unchanged", count=total)
    p = pairs.p_value
    chance = label("experiment", "p", p=number(p, 3)) if p >= SMALL else label("experiment", "p_small", p=SMALL)
    said = task_label(task, "experiment", "paired", count=total, lost=pairs.lost, won=pairs.won, p=chance)
    return f"{said} {task_label(task, 'experiment', SPEAKS_OF.get(kind, 'speaks_of'))}"


def _hidden_where(task: str, change: Change) -> tuple[str, ...]:
    """That letters are hidden in all of the words, and which."""
    if not change.hidden:
        return ()
    places = [label("experiment", "hidden_end") if place == WORD_END else str(place + 1) for place in change.hidden]
    return (task_label(task, "experiment", "hidden_everywhere", places=listed(places)),)


def _draw_choice(settings: Settings, source: Tokens) -> Change | None:
    """The widgets; None where the chosen kind has nothing to offer here (and says so)."""
    kind = linked(EXPERIMENT, lambda name: label("experiment", name), label("experiment", "label"))
    with st.container(horizontal=True, vertical_alignment="bottom", key="how"):
        choose_layer(settings)
        match kind:
            case "noise_each" | "noise_once":
                ends = {"min_value": STRENGTH.low, "max_value": STRENGTH.high, "step": 0.1, "width": 420}
                setting(st.slider, STRENGTH, label("experiment", "size"), take=_choose_strength, **ends)
                return Change(kind, size=settings[STRENGTH])
            case "hidden":
                places = _places(settings, source)
                return Change(kind, hidden=tuple(WORD_END if place == END else place - 1 for place in places))
            case "misuse":
                return _draw_misuse(settings)
            case "other":
                config = draw_other_model(settings)
                return config and Change("other", config=config)
        return Change(kind)


def _choose_strength(strength: float) -> None:
    choose_setting(STRENGTH, round(strength, 1))


def _places(settings: Settings, source: Tokens) -> tuple[int | str, ...]:
    """The letters to be hidden, as far as the text has them; in the player a click hides and shows them."""
    return tuple(place for place in settings[HIDDEN] if place == END or place <= len(source))


def _letter(source: Tokens, place: int | str) -> str:
    return "‹/s›" if place == END else f"{source[place - 1]} {place}"


def _draw_misuse(settings: Settings) -> Change | None:
    counts = [heads for heads in other_head_counts(settings.config) if heads <= MAX_HEADS]
    if not counts:
        st.caption(label("experiment", "no_misuse"))
        return None
    usual = settings.dec_heads * 2 if settings.dec_heads * 2 in counts else counts[-1]
    wanted = settings[LOADED] or usual
    heads = min(counts, key=lambda count: abs(count - wanted))
    title = label("experiment", "misuse_heads", heads=settings.dec_heads)
    segments(LOADED, counts, str, title=title, value=heads)
    if heads != wanted:
        st.caption(label("experiment", "misuse_at", wanted=wanted, used=heads))
    return Change("misuse", heads=heads)


def _name(change: Change, source: Tokens) -> str:
    if change.kind == "hidden" and not change.hidden:
        return label("experiment", "hidden_none")
    letters = listed(_letter(source, END if column == WORD_END else column + 1) for column in change.hidden)
    values = {"size": number(change.size, 1), "heads": change.heads, "letters": letters}
    return label("experiment", f"{change.kind}_card", **values)


def _draw_card(kind: str, title: str, settings: Settings, found: Experiment):
    """How far the looks are from their letters; gives the place for the accuracy."""
    st.html(f'<div class="card {kind}"><p>{verbatim(title)}</p></div>')
    away = found.gold_distance(found.control if kind == "control" else found.forced)
    place = st.empty()
    if away is not None and away[0].shape[1] and len(away) >= cross_layer(settings):
        values = away[cross_layer(settings) - 1]
        if not np.isnan(values).all():
            st.caption(label("experiment", "away", away=number(float(np.nanmean(values)), 1)))
    return place


def _draw_drift(settings: Settings, source: Tokens, change: Change, found: Experiment, theme: str) -> None:
    layer, head = cross_layer(settings) - 1, shown_head(settings)
    spread = None
    if not change.keeps_heads:
        values, moved = mean_row_drift(found)[layer][0], None
        shown = label("experiment", "of_mean_row", layer=layer + 1)
    elif head:
        values, moved = found.drift[layer][head - 1], found.movement[layer][head - 1]
        shown = label("experiment", "of_head", head=head, layer=layer + 1)
    else:
        heads = found.drift[layer]
        values, moved = _mean(heads), _mean(found.movement[layer])
        spread = np.stack([_least(heads), -_least(-heads)])
        shown = label("experiment", "of_all", layer=layer + 1)
    tokens = get_task(settings.task).tgt_vocab.decode(found.control.output)
    drift, control = (label("experiment", "drift"), values), (label("experiment", "no_drift"), np.zeros(len(tokens)))
    movement = None if moved is None else (label("experiment", "movement"), moved)
    st.markdown(f"**{label('experiment', 'drift_title')}** · {shown}")
    if np.isnan(values).all():
        st.caption(label("experiment", "no_rows"))
        return
    axes = {"x_title": label("experiment", "x"), "y_title": label("experiment", "y")}
    chart = drift_chart(tokens, drift, control, movement, spread=spread, **axes, **look(theme))
    draw_chart(chart, key="drift", take=of_settings("drift", word=get_task(settings.task).join_source(source)))


def _mean(heads: np.ndarray) -> np.ndarray:
    """Mean over heads (heads, steps) → (steps,); NaN where a step has no head with a value."""
    known = ~np.isnan(heads)
    count = known.sum(0)
    return np.where(count > 0, np.where(known, heads, 0).sum(0) / np.maximum(count, 1), np.nan)


def _least(heads: np.ndarray) -> np.ndarray:
    """The smallest value of each step, NaN where no head has one."""
    least = np.where(np.isnan(heads), np.inf, heads).min(0)
    return np.where(np.isinf(least), np.nan, least)
