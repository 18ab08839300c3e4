"""Where the settings are those of a published model in miniature: of which one, and what was scaled."""

import streamlit as st

from attention.experiments.published import PublishedModel, changes, copies_of, miniature
from pages.shared.settings import MAX_HEADS, Settings
from pages.shared.texts import label, listed


def what_was_scaled(model: PublishedModel) -> str:
    """What a miniature has in common with its model, and every figure that it changes."""
    changed = [
        label("scaled", "change", what=label("scaled", f"{change.side}_{change.field}"), real=change.published,
              mini=change.scaled)
        for change in changes(model, MAX_HEADS)
    ]  # fmt: skip
    heads = {"encoder": model.encoder.num_heads, "decoder": model.decoder.num_heads}
    kept = "as_published" if max(heads.values()) <= MAX_HEADS else "fewer_heads"
    layers = miniature(model, max_heads=MAX_HEADS).decoder.num_layers
    return " ".join(
        (
            label("scaled", kept, **heads),
            label("scaled", "scaled", changes=listed(changed)),
            label("scaled", "layers", layers=layers),
        )
    )


def draw_miniature_line(settings: Settings) -> None:
    """Where the settings are those of a miniature: of which model, and what was scaled."""
    if models := copies_of(settings.config, MAX_HEADS):
        names = tuple(model.name for model in models)
        st.caption(f"**{label('scaled', 'title', names=names)}.** {what_was_scaled(models[0])}")
