"""What only this page has in the address: what is compared, as one word.

compare=fixes-spelling-8-16-size-5-700    task, encoder and decoder heads, what more heads keep, seeds, steps
compare=sweep-reverse-8-5-200             task, encoder heads, seeds, steps
"""

from dataclasses import asdict

from attention.config import listing
from attention.experiments.comparison import Comparison, stored_runs
from attention.experiments.comparison.arms import KEEPS
from attention.messages import Message, MessageError
from attention.tasks import TASKS
from pages.shared.parameters import Word

OPENING = {"fixes": stored_runs.FIXES, "sweep": stored_runs.SWEEP}
HEADS = (1, 2, 4, 8, 16, 32)
MAX_SEEDS = 10
STEPS = (20, 5000)
INSTEAD = "the stored comparison is shown."

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
    return None if (experiment, comparison) == ("fixes", OPENING["fixes"]) else whole_word(experiment, comparison)


def whole_word(experiment: str, comparison: Comparison) -> str:
    """The word for what the page opens on, too."""
    values = asdict(comparison)
    return "-".join([experiment, *(str(values[field]) for field in FIELDS[experiment])])


def from_word(word: str | None) -> tuple[str, Comparison]:
    """The experiment, and what it is made of.

    Raises:
        MessageError: for a word that `to_word` would not write.
    """
    if word is None:
        return "fixes", OPENING["fixes"]
    experiment, *parts = word.split("-")
    fields = FIELDS.get(experiment)
    if fields is None or len(parts) != len(fields):
        forms = {name: "-".join((name, *FIELDS[name])) for name in FIELDS}
        raise MessageError(Message.of("form", f"has the form {' or '.join(forms.values())}; {INSTEAD}", **forms))
    values = {}
    for field, part in zip(fields, parts, strict=True):
        value = int(part) if part.isascii() and part.isdecimal() and len(part) < 6 else part
        if value not in ALLOWED[field]:
            raise MessageError(_not_allowed(part, field, ALLOWED[field]))
        values[field] = value
    return experiment, Comparison(**values)


def _not_allowed(part: str, field: str, allowed: tuple | range) -> Message:
    start, values = f"cannot have {part!r} as {field}", {"part": part, "field": field}
    if isinstance(allowed, range):
        low, high = allowed.start, allowed.stop - 1
        return Message.of("range", f"{start}: {low} to {high} are allowed; {INSTEAD}", **values, low=low, high=high)
    words = listing(list(allowed))
    return Message.of("value", f"{start}: {words} are allowed; {INSTEAD}", **values, allowed=words)


COMPARED = Word("compare", check=from_word)  # None: what the page opens on
PARAMETERS = (COMPARED,)
