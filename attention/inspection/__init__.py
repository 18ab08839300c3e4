"""What every head of a model did: with one input (`word`), and over a batch (`batch`, `per_head`); heads by name."""

from attention.inspection.word import (
    LayerView,
    WordView,
    decode_source,
    gold_of,
    inspect_reached,
    inspect_word,
    view_of,
)

__all__ = ["LayerView", "WordView", "decode_source", "gold_of", "inspect_reached", "inspect_word", "view_of"]
