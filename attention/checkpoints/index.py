"""One small file of all cards, so that nobody has to open every model to know which there are.

In place of a task's vocabularies, thousands of tokens, it has a digest of them, and a digest of each file: whether a
file is still the one that was scored takes a millisecond to tell, and loading it thirty.
"""

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from attention.training.stored import Card, CheckpointError, read_card, vocabularies

NAME = "index.json"
MAKE = "python -m attention.checkpoints.make"


@dataclass(frozen=True)
class Entry:
    """A model that ships: its card, and the SHA-256 of its file."""

    card: Card
    sha256: str


def entry(card: Card, path: Path) -> dict:
    """What the index says of a model."""
    tokens = json.dumps(vocabularies(card.task), ensure_ascii=False, sort_keys=True)
    digest = hashlib.sha256(tokens.encode()).hexdigest()[:16]
    return card.to_dict() | {"vocabularies": digest, "sha256": sha256_of(path)}


def sha256_of(path: Path) -> str:
    """Of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_index(directory: Path) -> list[str]:
    """Write index.json: a line for each file in the folder that can be read, and never half of it.

    Returns:
        Why files could not be read.
    """
    entries, unread = [], []
    for path in sorted(directory.glob("*.safetensors")):
        try:
            entries.append(entry(read_card(path), path))
        except CheckpointError as error:
            unread.append(str(error))
    lines = [" " + json.dumps(one, ensure_ascii=False, allow_nan=False) for one in entries]
    unfinished = directory / f"{NAME}.{os.getpid()}.unfinished"
    unfinished.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    unfinished.replace(directory / NAME)
    return unread


def read_index(directory: Path) -> list[Entry]:
    """All models of a folder's index. Whether a vocabulary has changed since is seen when weights are loaded.

    Raises:
        CheckpointError: the index is missing or damaged.
    """
    try:
        entries = json.loads((directory / NAME).read_text(encoding="utf-8"))
        return [_entry(one) for one in entries]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise CheckpointError(f"{NAME} cannot be read ({error}); `{MAKE}` makes it again") from error


def _entry(data: dict) -> Entry:
    card = Card.from_dict({key: data[key] for key in data if key not in ("vocabularies", "sha256")})
    return Entry(card, data["sha256"])
