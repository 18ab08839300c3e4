"""Plotly charts as the pages draw them all."""

import plotly.graph_objects as go
import streamlit as st


def draw_chart(figure: go.Figure, key: str, alt: str, tools: bool = False) -> None:
    """A figure with its own colours (they know the theme), a text for screen readers, and tools where they help."""
    st.plotly_chart(
        figure,
        key=key,
        alt=alt,
        theme=None,
        config={"displaylogo": False, "displayModeBar": "hover" if tools else False},
    )
