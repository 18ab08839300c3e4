"""Real models on the pages: the chart, a button and a link for each miniature, the table, and what was scaled."""

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlencode

import streamlit as st

from attention.figures import head_counts_alt, head_counts_chart
from attention.tasks import get_task
from attention.wild import EQUAL_MODELS, REAL_MODELS, RealModel, Side, Source, changes, copies_of, miniature
from pages.parts import sidebar
from pages.parts.chart import draw_chart
from pages.parts.settings import MAX_HEADS, Settings
from pages.parts.words import label, verbatim

# Where the labels of crowded points stand, by (encoder heads, decoder heads); the others stand to the right.
LABEL_PLACES = {
    (6, 8): "top center",
    (8, 8): "bottom right",
    (12, 8): "top center",
    (12, 16): "middle left",
    (12, 24): "middle left",
    (12, 32): "middle left",
    (16, 12): "bottom right",
    (16, 16): "bottom right",
    (32, 16): "top center",
}


def miniature_of(model: RealModel, settings: Settings) -> Settings:
    """The settings that show a model's miniature at its last cross-attention; task, text and seed stay."""
    task = get_task(settings.task)
    config = miniature(model, len(task.src_vocab), len(task.tgt_vocab), MAX_HEADS)
    shown = settings.with_config(config)
    return replace(shown, kind="cross", layer=shown.dec_layers, head=1, fault=None)


def link_to(settings: Settings) -> str:
    """The address of the playground with these settings, as seen from a page beside it."""
    return f"./?{urlencode(settings.to_address())}"


def what_was_scaled(model: RealModel) -> str:
    """What a miniature has in common with its model, and every figure that it changes."""
    changed = [
        label("scaled", "change", what=label("scaled", f"{change.side}_{change.field}"), real=f"{change.real:,}",
              mini=change.mini)
        for change in changes(model, MAX_HEADS)
    ]  # fmt: skip
    heads = {"encoder": model.encoder.num_heads, "decoder": model.decoder.num_heads}
    kept = "as_published" if max(heads.values()) <= MAX_HEADS else "fewer_heads"
    layers = miniature(model, max_heads=MAX_HEADS).decoder.num_layers
    return " ".join(
        (
            label("scaled", kept, **heads),
            label("scaled", "scaled", changes=", ".join(changed)),
            label("scaled", "layers", layers=layers),
        )
    )


def draw_miniature_line(settings: Settings) -> None:
    """Where the settings are those of a miniature: of which model, and what was scaled."""
    if models := copies_of(settings.config, MAX_HEADS):
        names = f" {label('scaled', 'and')} ".join(model.name for model in models)
        st.caption(f"**{label('scaled', 'title', names=names)}.** {what_was_scaled(models[0])}")


def draw_head_counts(theme: str) -> None:
    """Encoder heads against decoder heads."""
    models = [(model.name, model.encoder.num_heads, model.decoder.num_heads) for model in REAL_MODELS]
    models += [(model.name, model.num_heads, model.num_heads) for model in EQUAL_MODELS]
    figure = head_counts_chart(models, theme=theme, label_places=LABEL_PLACES)
    draw_chart(figure, key="head_counts", alt=head_counts_alt(models))


def draw_buttons(settings: Settings) -> None:
    """One button per model; a click opens the playground."""
    for group in ("more", "fewer", "equal"):
        st.markdown(f"**{label('real_models', f'{group}_decoder_heads')}**")
        with st.container(horizontal=True, gap="small"):
            for model in filter(lambda model, group=group: _group(model) == group, REAL_MODELS):
                heads = {"encoder": _heads(model.encoder), "decoder": _heads(model.decoder)}
                wanted = miniature_of(model, settings)
                text = label("real_models", "button", model=model.name, **heads)
                st.button(text, key=f"mini_{model.key}", on_click=sidebar.open_playground, args=(wanted,))


def draw_table(settings: Settings) -> None:
    """The figures with their sources, as a table that becomes a list of cards on a phone."""
    st.caption(label("real_models", "legend"))
    names = ("model", "encoder", "decoder", "known", "miniature", "source")
    head = "".join(f'<th role="columnheader" scope="col">{label("real_models", name)}</th>' for name in names)
    rows = "".join(_row(model, settings, names) for model in REAL_MODELS)
    st.html(
        f'<table class="real" role="table" aria-label="{label("real_models", "table")}">'
        f'<thead role="rowgroup"><tr role="row">{head}</tr></thead><tbody role="rowgroup">{rows}</tbody></table>'
    )
    models = ", ".join(
        f"[{label('real_models', 'equal_model', model=model.name, heads=model.num_heads)}]({model.source.url})"
        for model in EQUAL_MODELS
    )
    st.markdown(label("real_models", "equal", models=models))


def _row(model: RealModel, settings: Settings, names: tuple[str, ...]) -> str:
    wanted = miniature_of(model, settings)
    mini = _mini(Side(wanted.enc_width, wanted.enc_heads, wanted.enc_dim, wanted.enc_kv_heads))
    mini += f" → {_mini(Side(wanted.dec_width, wanted.dec_heads, wanted.dec_dim, wanted.dec_kv_heads))}"
    opens = f"{model.name}: {label('real_models', 'open')}"
    cells = (
        _side(model.encoder),
        _side(model.decoder),
        verbatim(" ".join(_worth_knowing(model))),
        f'<a href="{verbatim(link_to(wanted))}" title="{verbatim(opens)}">{mini}</a>',
        _source(model.source),
    )
    said = "".join(
        f'<td role="cell" class="{name}" data-label="{label("real_models", name)}">{cell}</td>'
        for name, cell in zip(names[1:], cells, strict=True)
    )
    return f'<tr role="row"><th role="rowheader" scope="row">{verbatim(model.name)}</th>{said}</tr>'


def _source(source: Source) -> str:
    link = f'<a href="{verbatim(source.url)}" target="_blank" rel="noopener">{verbatim(source.name)}</a>'
    # A long path may be broken after each part of it.
    return f'{link} <span class="faint">{verbatim(source.part).replace("/", "/<wbr>").replace("_", "_<wbr>")}</span>'


def _side(side: Side) -> str:
    figures = label("real_models", "side", heads=f"<b>{_heads(side)}</b>", head_dim=side.head_dim)
    lines = [label("real_models", "in_width", width=f"{side.d_model:,}")]
    if side.total_width != side.d_model:
        lines.insert(0, f"= {side.total_width:,}")
    return figures + "".join(f' <span class="faint">{line}</span>' for line in lines)


def _mini(side: Side) -> str:
    return label("real_models", "side", heads=_heads(side), head_dim=side.head_dim)


def _heads(side: Side) -> str:
    """ "16", or "16·8" where 16 query heads share 8 K/V heads."""
    return f"{side.num_heads}" if side.num_kv_heads == side.num_heads else f"{side.num_heads}·{side.num_kv_heads}"


def _worth_knowing(model: RealModel) -> Iterator[str]:
    if model.key == "donut":
        yield label("real_models", "donut")
    if model.bridge:
        yield label("real_models", model.bridge)
    if model.self_kv_heads is not None:
        heads = {"heads": model.decoder.num_heads, "kv_heads": model.self_kv_heads}
        yield label("real_models", "self_kv_heads", **heads)


def _group(model: RealModel) -> str:
    encoder, decoder = model.encoder.num_heads, model.decoder.num_heads
    return "equal" if encoder == decoder else "more" if decoder > encoder else "fewer"
