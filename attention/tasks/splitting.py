"""Which texts of a fixed collection are kept for testing: about one in 23, chosen by a hash of the text."""

import hashlib

HELD_OUT_ONE_IN = 23


def text_hash(text: str) -> int:
    """A number that depends on the text alone: Python's own hash() changes from run to run."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def is_held_out(text: str) -> bool:
    """Whether a text is kept for testing: on every machine the same ones."""
    return text_hash(text) % HELD_OUT_ONE_IN == 0
