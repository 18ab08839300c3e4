"""Published encoder-decoder models whose two sides differ, small copies of them, and what an encoder really sends."""

from attention.experiments.published.miniature import Change, changes, copies_of, miniature
from attention.experiments.published.published_models import (
    EQUAL_MODELS,
    PUBLISHED_MODELS,
    EqualModel,
    PublishedModel,
    Side,
    Source,
    Sources,
    head_counts,
)
from attention.experiments.published.sent import BART_LARGE, WHISPER_LARGE_V3, Sent, sent_by

__all__ = [
    "BART_LARGE",
    "EQUAL_MODELS",
    "PUBLISHED_MODELS",
    "WHISPER_LARGE_V3",
    "Change",
    "EqualModel",
    "PublishedModel",
    "Sent",
    "Side",
    "Source",
    "Sources",
    "changes",
    "copies_of",
    "head_counts",
    "miniature",
    "sent_by",
]
