"""The small trained models that ship. `python -m attention.checkpoints.make` makes all files here again."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType

from attention.checkpoints.index import MAKE, Entry, read_index, sha256_of
from attention.config import ModelConfig
from attention.model import EncoderDecoder
from attention.training.stored import Card, CheckpointError, load_weights

DIRECTORY = Path(__file__).parent
Key = tuple[str, ModelConfig]


def key(task: str, config: ModelConfig) -> Key:
    """What a shipped model is found by; dropout matters only while training, so it does not count."""
    return task, replace(config, dropout=0.0)


@cache
def _index() -> Mapping[Key, Entry]:
    return {key(entry.card.task, entry.card.config): entry for entry in read_index(DIRECTORY)}


@cache
def shipped() -> Mapping[Key, Card]:
    """All models that ship, by task and config."""
    return MappingProxyType({model: entry.card for model, entry in _index().items()})


def find(task: str, config: ModelConfig) -> Card | None:
    """The card of the shipped model of exactly this task and config, if there is one."""
    return shipped().get(key(task, config))


def steps_of_shipped(task: str) -> int | None:
    """After how many steps of training the models of a task ship, which is the same for all; None where none does."""
    return next((card.settings.num_steps for card in shipped().values() if card.task == task), None)


def load(task: str, config: ModelConfig) -> tuple[EncoderDecoder, Card] | None:
    """The shipped model of exactly this task and config, newly made, in evaluation mode, and its card.

    Raises:
        CheckpointError: its file is missing, or damaged, or belongs to another model.
    """
    card = find(task, config)
    if card is None:
        return None
    path = _path(card)
    try:
        model = load_weights(path, config)
        if is_damaged(task, config):
            raise CheckpointError(f"{path.name} is not what the index says it is; `{MAKE}` makes the index again")
    except CheckpointError as error:
        raise CheckpointError(f"the shipped model {_described(card)} cannot be used: {error}") from error
    return model, card


def is_damaged(task: str, config: ModelConfig) -> bool:
    """Whether a model of exactly this task and config ships, but its file is missing, or another than was scored."""
    entry = _index().get(key(task, config))
    if entry is None:
        return False
    path = _path(entry.card)
    try:
        state = path.stat()
    except OSError:
        return True
    return _sha256(path, state.st_mtime_ns, state.st_size) != entry.sha256


@lru_cache(maxsize=1000)
def _sha256(path: Path, *_state: int) -> str:
    """Worked out once for each state of a file."""
    return sha256_of(path)


def _path(card: Card) -> Path:
    return DIRECTORY / f"{card.name}.safetensors"


def _described(card: Card) -> str:
    """ "spelling, 8 × 8 encoder heads and 16 × 8 decoder heads (kv=extra)"."""
    heads = (f"{stack.num_heads} × {stack.head_dim}" for stack in (card.config.encoder, card.config.decoder))
    return "{}, {} encoder heads and {} decoder heads (kv={})".format(card.task, *heads, card.config.kv)
