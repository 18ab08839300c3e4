"""What is compared, as one word of the address bar.

compare=fixes-spelling-8-16-size-5-600    task, encoder and decoder heads, what more heads keep, seeds, steps
compare=sweep-reverse-8-3-250             task, encoder heads, seeds, steps
"""

from dataclasses import asdict

from attention.comparison import Comparison, stored
from attention.comparison.arms import KEEPS
from attention.config import listing
from attention.tasks import TASKS

OPENING = {"fixes": stored.FIXES, "sweep": stored.SWEEP}
HEADS = (1, 2, 4, 8, 16, 32)
MAX_SEEDS = 10
STEPS = (20, 5000)

FIELDS = {
    "fixes": ("task", "enc_heads", "dec_heads", "keep", "num_seeds", "num_steps"),
    "sweep": ("task", "enc_heads", "num_seeds", "num_steps"),
}
ALLOWED = {
    "task": tuple(TASKS),
    "enc_heads": HEADS,
    "dec_heads": HEADS,
    "keep": KEEPS,
    "num_seeds": range(1, MAX_SEEDS + 1),
    "num_steps": range(STEPS[0], STEPS[1] + 1),
}


def to_word(experiment: str, comparison: Comparison) -> str | None:
    """The word for the address; None for what the page opens on."""
    if (experiment, comparison) == ("fixes", OPENING["fixes"]):
        return None
    values = asdict(comparison)
    return "-".join([experiment, *(str(values[field]) for field in FIELDS[experiment])])


def from_word(word: str | None) -> tuple[str, Comparison]:
    """The experiment, and what it is made of.

    Raises:
        ValueError: with one sentence, for a word that `to_word` would not write.
    """
    if word is None:
        return "fixes", OPENING["fixes"]
    experiment, *parts = word.split("-")
    fields = FIELDS.get(experiment)
    if fields is None or len(parts) != len(fields):
        forms = " or ".join("-".join((name, *FIELDS[name])) for name in FIELDS)
        raise ValueError(f"has the form {forms}")
    values = {}
    for field, part in zip(fields, parts, strict=True):
        value = int(part) if part.isascii() and part.isdecimal() and len(part) < 6 else part
        if value not in ALLOWED[field]:
            raise ValueError(f"cannot have {part!r} as {field}: {_listing(ALLOWED[field])} are allowed")
        values[field] = value
    return experiment, Comparison(**values)


def _listing(allowed: tuple | range) -> str:
    if isinstance(allowed, range):
        return f"{allowed.start} to {allowed.stop - 1}"
    return listing(list(allowed))
