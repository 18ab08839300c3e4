"""The head counts of published models, as a chart."""

from attention.experiments.published import head_counts
from attention.figures import head_counts_chart
from pages.shared.chart import draw_chart, look
from pages.shared.take_away.taken import Taken
from pages.shared.texts import label

# Where the labels of crowded points stand, by (encoder heads, decoder heads); the others stand to the right.
LABEL_PLACES = {
    (6, 8): "top center",
    (8, 8): "bottom right",
    (12, 8): "top center",
    (12, 16): "middle left",
    (12, 24): "middle left",
    (12, 32): "bottom left",
    (16, 12): "bottom left",
    (16, 16): "bottom right",
    (16, 32): "top center",
    (20, 20): "top left",
    (32, 16): "top center",
}


def draw_head_counts(theme: str) -> None:
    """Encoder heads against decoder heads."""
    models = [(name, *heads) for name, heads in head_counts().items()]
    chart = head_counts_chart(models, label_places=LABEL_PLACES, **look(theme))
    draw_chart(chart, key="head_counts", take=Taken("published-models", label("app", "wild")))
