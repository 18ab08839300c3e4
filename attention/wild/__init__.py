"""Real encoder-decoder models whose two sides differ, small copies of them, and what an encoder really sends."""

from attention.wild.miniature import Change, changes, copies_of, miniature
from attention.wild.models import EQUAL_MODELS, REAL_MODELS, EqualModel, RealModel, Side, Source
from attention.wild.sent import BART_LARGE, WHISPER_LARGE_V3, Sent, sent_by

__all__ = [
    "BART_LARGE",
    "EQUAL_MODELS",
    "REAL_MODELS",
    "WHISPER_LARGE_V3",
    "Change",
    "EqualModel",
    "RealModel",
    "Sent",
    "Side",
    "Source",
    "changes",
    "copies_of",
    "miniature",
    "sent_by",
]
