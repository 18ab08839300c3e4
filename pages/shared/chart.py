"""Plotly charts as the pages draw them all."""

import plotly.graph_objects as go
import streamlit as st

from attention.figures import Chart, FigureWords
from pages.shared.presenting import enlarged, is_presented
from pages.shared.take_away import take_away
from pages.shared.take_away.offers import chart_offers
from pages.shared.take_away.taken import Taken, of_settings
from pages.shared.texts import catalogue, form_of


def figure_words() -> FigureWords:
    """What figures say by themselves, in the language of the pages."""
    signs = catalogue()["language"]
    numbers = {name: signs[name] for name in ("minus", "decimal", "percent")}
    return FigureWords(**catalogue()["figures"], **numbers, form=form_of)


def look(theme: str) -> dict:
    """How every figure of the pages looks and speaks."""
    return {"theme": theme, "words": figure_words()}


def draw_chart(chart: Chart, key: str, tools: bool = False, take: Taken | None = None, **selection) -> None:
    """A figure with its own colours (they know the theme), a text for screen readers, and tools where they help.

    take: how it is taken away, where not just by its key and the settings.  selection: what plotly_chart wants to know
    of clicks.
    """
    figure = chart.figure
    if is_presented():
        figure = go.Figure(enlarged(figure.to_dict()), _validate=False)
    st.plotly_chart(
        figure,
        key=key,
        alt=chart.alt,
        theme=None,
        config={"displaylogo": False, "displayModeBar": "hover" if tools else False},
        **selection,
    )
    take = take or of_settings(key.replace("_", "-"))
    offers = chart_offers(chart, take.title, take.about, st.context.theme.type or "light")
    take_away(key, take.name, [*offers, *take.more], take.notes, take.headline or take.title)
