"""Real models on the pages: the chart, a button and a link for each miniature, and the table."""

from collections.abc import Iterator
from dataclasses import replace

import streamlit as st

from attention.experiments.published import (
    EQUAL_MODELS,
    PUBLISHED_MODELS,
    PublishedModel,
    Side,
    Source,
    Sources,
    miniature,
)
from attention.tasks import get_task
from pages.shared import session
from pages.shared.links import link_to
from pages.shared.settings import MAX_HEADS, Settings
from pages.shared.table import Cell, Html, TableRow, draw_table
from pages.shared.texts import label, listed, verbatim, whole

COLUMNS = ("encoder", "decoder", "known", "miniature", "source")  # of the table, behind the name


def miniature_of(model: PublishedModel, settings: Settings) -> Settings:
    """The settings that show a model's miniature at its last cross-attention; task, text and seed stay."""
    task = get_task(settings.task)
    config = miniature(model, len(task.src_vocab), len(task.tgt_vocab), MAX_HEADS)
    shown = settings.with_config(config)
    return replace(shown, kind="cross", layer=shown.dec_layers, head=1).sound()


def draw_buttons(settings: Settings) -> None:
    """One button per model; a click opens the playground."""
    for group in ("more", "fewer", "equal"):
        st.markdown(f"**{label('published_models', f'{group}_decoder_heads')}**")
        with st.container(horizontal=True, gap="small"):
            for model in filter(lambda model, group=group: _group(model) == group, PUBLISHED_MODELS):
                heads = {"encoder": _heads(model.encoder), "decoder": _heads(model.decoder)}
                wanted = miniature_of(model, settings)
                text = label("published_models", "button", model=model.name, **heads)
                st.button(text, key=f"mini_{model.key}", on_click=session.open_page, args=(wanted, "playground"))


def draw_all_models(settings: Settings) -> None:
    """The figures with their sources, as a table that becomes a list of cards on a phone."""
    st.caption(label("published_models", "legend"))
    names = ("model", *COLUMNS)
    rows = [_row(model, settings) for model in PUBLISHED_MODELS]
    head = [label("published_models", name) for name in names]
    draw_table(label("published_models", "table"), head, rows, look="published", caption=False, cards=True)
    models = listed(
        f"[{label('published_models', 'equal_model', model=model.name, heads=model.num_heads)}]({model.source.url})"
        for model in EQUAL_MODELS
    )
    st.markdown(label("published_models", "equal", models=models))


def _row(model: PublishedModel, settings: Settings) -> TableRow:
    wanted = miniature_of(model, settings)
    mini = _mini(Side(wanted.enc_width, wanted.enc_heads, wanted.enc_dim, wanted.enc_kv_heads))
    mini += f" → {_mini(Side(wanted.dec_width, wanted.dec_heads, wanted.dec_dim, wanted.dec_kv_heads))}"
    opens = f"{model.name}: {label('published_models', 'open')}"
    cells = (
        Html(_side(model.encoder)),
        Html(_side(model.decoder)),
        " ".join(_worth_knowing(model)),
        Html(f'<a href="{verbatim(link_to(wanted.to_address()))}" title="{verbatim(opens)}">{mini}</a>'),
        Html(_sources(model.sources)),
    )
    return model.name, *(Cell(text, mark=name) for text, name in zip(cells, COLUMNS, strict=True))


def _sources(sources: Sources) -> str:
    """One under the other; what each is the source of is said where there are several."""
    every = tuple(sources)
    if len(every) == 1:
        return _source(every[0][1])
    parts = ((label("published_models", "source_of", of=_of(of)), _source(source)) for of, source in every)
    return "".join(f"<div>{verbatim(of)} {source}</div>" for of, source in parts)


def _of(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(label("published_models", f"source_{name}") for name in names)


def _source(source: Source) -> str:
    link = f'<a href="{verbatim(source.url)}" target="_blank" rel="noopener">{verbatim(source.name)}</a>'
    # A long path may be broken after each part of it.
    return f'{link} <span class="faint">{verbatim(source.part).replace("/", "/<wbr>").replace("_", "_<wbr>")}</span>'


def _side(side: Side) -> str:
    figures = label("published_models", "side", heads=f"<b>{_heads(side)}</b>", head_dim=side.head_dim)
    lines = [label("published_models", "in_width", width=side.d_model)]
    if side.total_width != side.d_model:
        lines.insert(0, f"= {whole(side.total_width)}")
    return figures + "".join(f' <span class="faint">{line}</span>' for line in lines)


def _mini(side: Side) -> str:
    return label("published_models", "side", heads=_heads(side), head_dim=side.head_dim)


def _heads(side: Side) -> str:
    """ "16", or "16·8" where 16 query heads share 8 K/V heads."""
    return f"{side.num_heads}" if side.num_kv_heads == side.num_heads else f"{side.num_heads}·{side.num_kv_heads}"


def _worth_knowing(model: PublishedModel) -> Iterator[str]:
    if model.key == "donut":
        yield label("published_models", "donut")
    if model.bridge:
        yield label("published_models", model.bridge)
    if model.self_kv_heads is not None:
        heads = {"heads": model.decoder.num_heads, "kv_heads": model.self_kv_heads}
        yield label("published_models", "self_kv_heads", **heads)


def _group(model: PublishedModel) -> str:
    encoder, decoder = model.encoder.num_heads, model.decoder.num_heads
    return "equal" if encoder == decoder else "more" if decoder > encoder else "fewer"
