"""The plain way: all heads of the layer as one plotly figure, a subplot for each."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st
import torch
from plotly.subplots import make_subplots

from attention.tasks import get_task
from pages.shared.models import record_of, word_view
from pages.shared.settings import Settings
from pages.shared.situations import apply_situation

heads = st.segmented_control("Decoder heads", (8, 16), default=8, required=True)
settings = apply_situation(Settings(), "equal" if heads == 8 else "problem_1")
view = word_view(record_of(settings), get_task("spelling").read(settings.text))
layer = view.layers["cross"][1]
figure = make_subplots(rows=heads // 4, cols=4, subplot_titles=[f"head {n + 1}" for n in range(heads)])
for n, weights in enumerate(layer.weights):
    trace = go.Heatmap(z=np.flipud(weights), zmin=0, zmax=1, showscale=False)
    figure.add_trace(trace, row=n // 4 + 1, col=n % 4 + 1)
st.plotly_chart(figure, key="heads")
st.markdown(f"{heads} heads, torch {torch.__version__}")
