"""Plotly figures: arrays in, figure out. No Streamlit, no torch.

`attention_heatmap`, `similarity_heatmap`, `loss_curve`, `drift_curve`, `comparison_chart` and `head_counts_chart` draw;
`attention_alt`, `similarity_alt`, `loss_alt`, `drift_alt`, `comparison_alt` and `head_counts_alt` say the same in
words. Figures are transparent and take `theme="light"` or `"dark"` for their own text and colours.
"""

from attention.figures.alt_text import attention_alt, comparison_alt, loss_alt, similarity_alt
from attention.figures.comparison import comparison_chart
from attention.figures.curves import loss_curve
from attention.figures.drift import drift_alt, drift_curve
from attention.figures.head_counts import head_counts_alt, head_counts_chart
from attention.figures.heatmap import attention_heatmap
from attention.figures.similarity import similarity_heatmap
from attention.figures.words import FigureWords

__all__ = [
    "FigureWords",
    "attention_alt",
    "attention_heatmap",
    "comparison_alt",
    "comparison_chart",
    "drift_alt",
    "drift_curve",
    "head_counts_alt",
    "head_counts_chart",
    "loss_alt",
    "loss_curve",
    "similarity_alt",
    "similarity_heatmap",
]
