"""Plotly figures: arrays in, a `Chart` out, which is a figure and what it shows in words. No Streamlit, no torch.

Figures are transparent and take `theme="light"` or `"dark"` for their own text and colours, and `words` for what they
say by themselves.
"""

from attention.figures.chart import Chart
from attention.figures.drift import drift_chart
from attention.figures.head_counts import head_counts_chart
from attention.figures.heatmap import attention_chart, difference_chart, map_in_words
from attention.figures.lines import comparison_chart, lines_chart, loss_chart
from attention.figures.pairs import pairs_chart, similarity_chart
from attention.figures.seeds import interval_chart, seed_curves_chart, seed_dots_chart
from attention.figures.words import FigureWords

__all__ = [
    "Chart",
    "FigureWords",
    "attention_chart",
    "comparison_chart",
    "difference_chart",
    "drift_chart",
    "head_counts_chart",
    "interval_chart",
    "lines_chart",
    "loss_chart",
    "map_in_words",
    "pairs_chart",
    "seed_curves_chart",
    "seed_dots_chart",
    "similarity_chart",
]
