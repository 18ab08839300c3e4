"""Whether values have a say in where heads look: what the article says, and the present model with other values."""

import streamlit as st

from attention.cross_attention import fits
from attention.experiments.other_values import OtherValues, with_other_values
from attention.tasks import Tokens, get_task
from pages.shared.answer import read_text
from pages.shared.caching import made_once
from pages.shared.claims import draw_claim
from pages.shared.models import ModelRecord, anew, at_work, record_of
from pages.shared.settings import Settings
from pages.shared.texts import label, percent
from pages.shared.turns import aside


@aside
@made_once(max_bytes=1_000_000)
def _tried(record: ModelRecord, source: Tokens) -> OtherValues:
    """The last decoder layer's cross-attention."""
    with at_work(record) as model:
        return with_other_values(model, get_task(record.task), source, record.config.decoder.num_layers - 1)


def draw_values(settings: Settings) -> None:
    """Under a title to be opened."""
    with st.expander(label("shapes", "values"), key="values", on_change="rerun") as values:
        if not values.open:
            return
        draw_claim("A4")
        if not fits(settings.config):
            st.markdown(label("shapes", "values_not_here"))
            return
        with anew():
            found = _tried(record_of(settings), read_text(settings)[0])
        numbers = {"weights": found.num_weights, "changed": found.num_changed, "change": percent(found.output_change)}
        st.markdown(label("shapes", "values_tried", layer=settings.dec_layers, **numbers))
