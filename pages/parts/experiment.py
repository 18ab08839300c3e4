"""Disturb the anchor: what drifts, what is still said, and how many held-out words are still right."""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from attention import ModelConfig
from attention.anchors import (
    WORD_END,
    Disturbance,
    Experiment,
    Share,
    compare,
    held_out_share,
    mean_row_drift,
    misload,
    other_head_counts,
)
from attention.checkpoints import shipped
from attention.cross_attention import KV_FEEDS
from attention.figures import drift_alt, drift_curve
from attention.stepping import Decoding
from attention.tasks import Tokens, get_task
from pages.parts import sidebar
from pages.parts.chart import draw_chart
from pages.parts.controls import linked
from pages.parts.decoding import cross_layer, shown_head
from pages.parts.models import RANDOM, Trained, model_at_work
from pages.parts.settings import EXPERIMENTS, MAX_HEADS, Settings
from pages.parts.words import label, number, percent, prose, verbatim

NUM_WORDS = 300  # scored in about half a second


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


@st.cache_resource(max_entries=128, show_spinner=False)
def _experiment(task: str, config: ModelConfig, seed: int, origin: str, source: Tokens, change: Change) -> Experiment:
    with model_at_work(task, config, seed, origin) as model, _changed(task, model, change) as other:
        return compare(model, other, get_task(task), source, change.disturbance(seed))


@st.cache_data(max_entries=256, show_spinner=False)
def _share(task: str, config: ModelConfig, seed: int, origin: str, change: Change | None) -> Share:
    words = get_task(task).held_out(NUM_WORDS)
    with model_at_work(task, config, seed, origin) as model, _changed(task, model, change) as other:
        return held_out_share(other, get_task(task), words, change and change.disturbance(seed))


class _changed:
    """The model that the change makes of `model`."""

    def __init__(self, task: str, model, change: Change | None) -> None:
        self.task, self.model, self.change = task, model, change

    def __enter__(self):
        if self.change is not None and self.change.kind == "misuse":
            return misload(self.model, self.change.heads)
        if self.change is not None and self.change.kind == "other":
            with model_at_work(self.task, self.change.config, 0, "shipped") as other:
                return other
        return self.model

    def __exit__(self, *_) -> None:
        pass


@st.fragment
def draw_experiment(settings: Settings, source: Tokens, trained: Trained, theme: str) -> None:
    """Choose a disturbance; see it beside the control."""
    change = _draw_choice(settings, source)
    sidebar.settings_to_address()  # of a fragment that runs by itself nobody else tells it
    if change is None:
        return
    key = (settings.task, settings.config, settings.seed, trained.origin)
    found = _experiment(*key, source, change)
    st.markdown(prose("anchors")[change.kind])
    left, right = st.columns([2, 3], gap="large")
    with left:
        cards = [
            _draw_card("control", label("experiment", "control"), settings, source, found, found.control),
            _draw_card("changed", _name(change), settings, source, found, found.free),
        ]
    with right:
        _draw_drift(settings, change, found, theme)
    # Last, as it takes longest: everything else is on the screen by then.
    for place, scored in zip(cards, (None, change), strict=True):
        if trained is RANDOM:
            place.caption(label("experiment", "random"))
        else:
            place.html(_share_bar(_share(*key, scored)))


def _share_bar(share: Share) -> str:
    """The share as a number, and as a mark on a scale from 0 to 1 with its interval around it."""
    low, high = share.interval
    spread = label("experiment", "spread", low=percent(low), high=percent(high))
    return (
        f'<p class="share"><b>{percent(share.share)}</b> '
        f"{verbatim(label('experiment', 'share', count=share.total))} "
        f'<span class="faint">{verbatim(spread)}</span></p>'
        f'<div class="scale" aria-hidden="true"><i style="left:{100 * low:.1f}%;width:{100 * (high - low):.1f}%"></i>'
        f'<b style="left:{100 * share.share:.1f}%"></b></div>'
    )


def _draw_choice(settings: Settings, source: Tokens) -> Change | None:
    """The widgets; None where the chosen kind has nothing to offer here (and says so)."""
    kind = linked("experiment", EXPERIMENTS, lambda name: label("experiment", name), label("experiment", "label"))
    if kind in ("noise_each", "noise_once"):
        return Change(kind, size=st.slider(label("experiment", "size"), 0.0, 2.0, 0.6, 0.1, key="noise"))
    if kind == "hidden":
        return Change(kind, hidden=_draw_letters(source))
    if kind == "misuse":
        counts = [heads for heads in other_head_counts(settings.config) if heads <= MAX_HEADS]
        if not counts:
            st.caption(label("experiment", "no_misuse"))
            return None
        usual = settings.dec_heads * 2 if settings.dec_heads * 2 in counts else counts[-1]
        title = label("experiment", "misuse_heads", heads=settings.dec_heads)
        key = f"misuse_{settings.dec_heads}_{settings.dec_dim}"
        heads = st.segmented_control(title, counts, default=usual, required=True, key=key, wrap=True)
        return Change(kind, heads=heads)
    if kind == "other":
        configs = _other_models(settings)
        if not configs:
            st.caption(label("experiment", "no_other"))
            return None
        config = st.selectbox(label("experiment", "other_model"), configs, format_func=_model_name, key="other_model")
        return Change(kind, config=config)
    return Change(kind)


def _draw_letters(source: Tokens) -> tuple[int, ...]:
    """A switch for each letter and one for the end token; at the start the first letter is hidden."""
    columns = [*range(len(source)), WORD_END]
    hidden = st.pills(
        label("experiment", "letters"),
        columns,
        format_func=lambda column: "‹/s›" if column == WORD_END else f"{source[column]} {column + 1}",
        selection_mode="multi",
        default=[0],
        key=f"hidden_{''.join(source)}",
    )
    return tuple(sorted(hidden))


def _other_models(settings: Settings) -> list[ModelConfig]:
    """Shipped models of this task that look at the same columns in as many layers, the present one left out."""

    def comparable(config: ModelConfig) -> bool:
        layers = config.decoder.num_layers == settings.dec_layers
        return layers and not KV_FEEDS[config.kv].own_columns(config, ("x",))

    if not comparable(settings.config):
        return []
    configs = [config for task, config in shipped() if task == settings.task and comparable(config)]
    return [config for config in configs if config != settings.config]


def _model_name(config: ModelConfig) -> str:
    enc, dec = config.encoder, config.decoder
    sizes = {"enc": f"{enc.num_heads} × {enc.head_dim}", "dec": f"{dec.num_heads} × {dec.head_dim}"}
    return label("experiment", "model_name", kv=label("kv", config.kv), **sizes)


def _name(change: Change) -> str:
    return label("experiment", f"{change.kind}_card", size=number(change.size, 1), heads=change.heads)


def _draw_card(kind: str, title: str, settings: Settings, source: Tokens, found: Experiment, decoding: Decoding):
    """What is said, and how far the looks are from their letters; gives the place for the accuracy."""
    task = get_task(settings.task)
    said = task.tgt_vocab.decode(decoding.said[:-1] if decoding.ended else decoding.said)
    answers = task.answers(source)
    mark = "" if not answers else " ✓" if decoding.ended and said in answers else " ✗"
    spoken = task.join_target(said) + ("" if decoding.ended else " …")
    spoken = spoken or label("experiment", "silence")
    st.html(
        f'<div class="card {kind}"><p class="faint">{verbatim(title)}</p>'
        f'<p class="spoken">{verbatim(spoken)}{mark}</p></div>'
    )
    away = found.gold_distance(found.control if kind == "control" else found.forced)
    if away is not None and away[0].shape[1] and len(away) >= cross_layer(settings):
        values = away[cross_layer(settings) - 1]
        if not np.isnan(values).all():
            st.caption(label("experiment", "away", away=number(float(np.nanmean(values)), 1)))
    return st.empty()


def _draw_drift(settings: Settings, change: Change, found: Experiment, theme: str) -> None:
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
    tokens = get_task(settings.task).tgt_vocab.decode(found.control.said)
    drift, control = (label("experiment", "drift"), values), (label("experiment", "no_drift"), np.zeros(len(tokens)))
    movement = None if moved is None else (label("experiment", "movement"), moved)
    st.markdown(f"**{label('experiment', 'drift_title')}** · {shown}")
    if np.isnan(values).all():
        st.caption(label("experiment", "no_rows"))
        return
    axes = {"x_title": label("experiment", "x"), "y_title": label("experiment", "y")}
    draw_chart(
        drift_curve(tokens, drift, control, movement, spread=spread, theme=theme, **axes),
        key="drift",
        alt=drift_alt(tokens, drift, control, undefined=label("experiment", "undefined")),
    )


def _mean(heads: np.ndarray) -> np.ndarray:
    """Mean over heads (heads, steps) → (steps,); NaN where a step has no head with a value."""
    known = ~np.isnan(heads)
    count = known.sum(0)
    return np.where(count > 0, np.where(known, heads, 0).sum(0) / np.maximum(count, 1), np.nan)


def _least(heads: np.ndarray) -> np.ndarray:
    """The smallest value of each step, NaN where no head has one."""
    least = np.where(np.isnan(heads), np.inf, heads).min(0)
    return np.where(np.isinf(least), np.nan, least)
