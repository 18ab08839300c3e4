"""A model as one file, NAME.safetensors: its weights, and in the header a card that says what they are.

A state dict does not know how many heads it was trained with: weights of 8 heads load into 16 heads of half the
size without any error, and the model then outputs nonsense. So the card is stored with the weights, and `load_weights`
refuses to put them into anything else. Readers without this package find the card, as JSON, under "card" in the file's
metadata, with the vocabularies.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, asdict, dataclass, fields
from numbers import Real
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_bytes
from torch import Tensor

from attention.config import ConfigError, ModelConfig, StackConfig
from attention.model import EncoderDecoder
from attention.tasks import get_task
from attention.training.evaluation import Accuracy, Apart, Scores
from attention.training.steps import TrainingSettings

# Keys of a card, with those that only a file has, and those settings of a training that are not among its "training".
_CARD = ("name", "task", "config", "seed", "steps", "training", "scores", "apart", "torch")
_VOCABULARIES = ("source_vocabulary", "target_vocabulary")
_WHERE_UNFINISHED = ("reached",)
_SAID_ELSEWHERE = ("task", "config", "seed", "num_steps")
_WAY_OUT = "pick the shipped model, or start from fresh weights"


class CheckpointError(ConfigError):
    """Stored weights that cannot be used as asked, as one sentence."""


@dataclass(frozen=True)
class Card:
    """What is known about stored weights.

    Attributes:
        name: of the file, without ending.
        settings: task, model and everything the training depended on.
        scores: of the weights as stored, on all test examples of the task; None where nobody has scored them.
        torch_version: that trained them.
        apart: the accuracies apart for test examples that resemble training examples, and for the rest; None where
            the task cannot tell.
        reached: the steps of this training that are behind the weights, where these are not all.
    """

    name: str
    settings: TrainingSettings
    scores: Scores | None
    torch_version: str
    apart: Apart | None = None
    reached: int | None = None

    @property
    def task(self) -> str:
        return self.settings.task

    @property
    def config(self) -> ModelConfig:
        return self.settings.config

    def to_dict(self) -> dict:
        """Plain JSON types."""
        training = asdict(self.settings)
        for name in _SAID_ELSEWHERE:
            del training[name]
        said = {
            "name": self.name,
            "task": self.task,
            "config": self.config.to_dict(),
            "seed": self.settings.seed,
            "steps": self.settings.num_steps,
            "training": training,
            "scores": self.scores and self.scores.to_dict(),
            "apart": self.apart and self.apart.to_dict(),
            "torch": self.torch_version,
        }
        return said if self.reached is None else said | {"reached": self.reached}

    @classmethod
    def from_dict(cls, data: dict) -> "Card":
        """Read what `to_dict` wrote.

        Raises:
            CheckpointError: a key is missing or unknown, or has no number where one belongs.
        """
        _require_keys("a card", data, _CARD + _WHERE_UNFINISHED, _WHERE_UNFINISHED)
        _require_fields("config", data["config"], ModelConfig)
        _require_fields("training", data["training"], TrainingSettings, without=_SAID_ELSEWHERE)
        for side in ("encoder", "decoder"):
            _require_fields(f"config.{side}", data["config"][side], StackConfig)
        _require_numbers("", {name: data[name] for name in ("seed", "steps", *_WHERE_UNFINISHED) if name in data}, int)
        _require_numbers("training.", data["training"], Real)
        if data["scores"] is not None:
            _require_fields("scores", data["scores"], Scores)
            _require_scores("scores.", {**data["scores"], "alignment": 0})
        if data["apart"] is not None:
            _require_fields("apart", data["apart"], Apart)
            for part, accuracy in data["apart"].items():
                _require_fields(f"apart.{part}", accuracy, Accuracy)
                _require_scores(f"apart.{part}.", accuracy)
        try:
            settings = TrainingSettings(
                task=data["task"],
                config=ModelConfig.from_dict(data["config"]),
                seed=data["seed"],
                num_steps=data["steps"],
                **data["training"],
            )
            scores = data["scores"] and Scores.from_dict(data["scores"])
            apart = data["apart"] and Apart.from_dict(data["apart"])
            return cls(data["name"], settings, scores, data["torch"], apart, data.get("reached"))
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(f"this is not the description of a stored model ({error})") from error


def vocabularies(task: str) -> dict[str, list[str]]:
    """The tokens of a task by their ids: what a reader of its weights has to know."""
    sides = get_task(task).src_vocab, get_task(task).tgt_vocab
    return {name: list(side.tokens) for name, side in zip(_VOCABULARIES, sides, strict=True)}


def _require_fields(level: str, data: object, described: type, without: tuple[str, ...] = ()) -> None:
    """The fields of a dataclass, of which those with a default may be left out."""
    own = [field for field in fields(described) if field.name not in without]
    optional = [field.name for field in own if field.default is not MISSING]
    _require_keys(level, data, [field.name for field in own], optional)


def _require_keys(level: str, data: object, known: Iterable[str], optional: Iterable[str] = ()) -> None:
    if not isinstance(data, dict):
        raise CheckpointError(f"{level} ({data!r}) must be a table of {', '.join(known)}")
    for key in data:
        if key not in known:
            raise CheckpointError(f"{level} has an unknown key {key!r}; its keys are {', '.join(known)}")
    for key in known:
        if key not in data and key not in optional:
            raise CheckpointError(f"{level} lacks its key {key!r}")


def _require_numbers(level: str, data: dict, kind: type) -> None:
    for name, value in data.items():
        if isinstance(value, bool) or not isinstance(value, kind):
            raise CheckpointError(f"{level}{name} ({value!r}) must be a {'whole ' if kind is int else ''}number")


def _require_scores(level: str, data: dict) -> None:
    """A number, or null for what is not one."""
    _require_numbers(level, {name: value for name, value in data.items() if value is not None}, Real)


def packed(weights: Mapping[str, Tensor], card: Card) -> bytes:
    """The file: equal bytes for equal weights and cards. 16 bits for weights that lose nothing by it, else 32."""
    _require_finite(card.name, weights)
    said = card.to_dict() | vocabularies(card.task)
    # One entry alone: the file format has the weights in order, but the entries of its metadata in any.
    metadata = {"card": json.dumps(said, ensure_ascii=False, allow_nan=False, sort_keys=True)}
    return to_bytes({name: _short(tensor) for name, tensor in weights.items()}, metadata)


def _short(tensor: Tensor) -> Tensor:
    half, whole = tensor.to(torch.float16), tensor.to(torch.float32)
    return (half if half.float().equal(whole) else whole).contiguous()


def save(model: EncoderDecoder, card: Card, directory: Path) -> None:
    """Write NAME.safetensors with weights rounded to 16 bits; its NAME is the card's. Never half a file."""
    weights = {name: tensor.to(torch.float16) for name, tensor in model.state_dict().items()}
    unfinished = directory / f"{card.name}.{os.getpid()}.unfinished"
    unfinished.write_bytes(packed(weights, card))
    unfinished.replace(directory / f"{card.name}.safetensors")


def read_card(path: Path) -> Card:
    """Read the card of a NAME.safetensors.

    Raises:
        CheckpointError: the file or the card is damaged, or the task's vocabulary has changed since.
    """
    with _opened(path) as file:
        return _card_of(file, path.name)


def load_weights(path: Path, config: ModelConfig) -> EncoderDecoder:
    """A model of `config` with the weights of a NAME.safetensors, as 32-bit numbers.

    Raises:
        CheckpointError: the weights were trained with other heads, or the file or its card is damaged, or weights
            are missing or have another shape. Nothing is ever loaded in part.
    """
    with _opened(path) as file:
        card = _card_of(file, path.name)
        weights = {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118 (not a dict)
    _require_same_heads(card.config, config)
    _require_same_weights(path.name, weights, EncoderDecoder(config, seed=None).state_dict())
    _require_finite(path.name, weights)
    return EncoderDecoder.with_weights(config, weights)


@contextmanager
def _opened(path: Path) -> Iterator:
    try:
        with safe_open(path, framework="pt") as file:
            yield file
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"{path.name} cannot be read ({error}); fetch or make it again") from error


def _card_of(file, name: str) -> Card:
    metadata = file.metadata() or {}
    if "card" not in metadata:
        raise CheckpointError(f"{name} has no card, so nobody knows what its weights fit")
    try:
        data = json.loads(metadata["card"])
    except json.JSONDecodeError as error:
        raise CheckpointError(f"the card of {name} is damaged ({error})") from error
    try:
        _require_keys("a card", data, _CARD + _VOCABULARIES + _WHERE_UNFINISHED, _WHERE_UNFINISHED)
        stored = {key: data.pop(key) for key in _VOCABULARIES}
        card = Card.from_dict(data)
    except CheckpointError as error:
        raise CheckpointError(f"{name}: {error}") from error
    if stored != vocabularies(card.task):
        raise CheckpointError(f"{name} was trained with another vocabulary than {card.task} has now")
    return card


def _require_same_heads(stored: ModelConfig, asked: ModelConfig) -> None:
    for side in ("encoder", "decoder"):
        found, wanted = (_heads(side, getattr(config, side)) for config in (stored, asked))
        if found != wanted:
            raise CheckpointError(
                f"these weights were trained with {found}; {wanted} were asked for: even "
                f"where the shapes fit, some answers would be wrong; {_WAY_OUT}"
            )
    for field in ("kv", "kv_variant"):
        found, wanted = getattr(stored, field), getattr(asked, field)
        if found != wanted:
            raise CheckpointError(
                f"these weights were trained with {field}={found}; {wanted} was asked for; {_WAY_OUT}"
            )


def _heads(side: str, stack: StackConfig) -> str:
    """ "8 decoder heads of size 16", with the K/V heads where they differ."""
    shared = "" if stack.num_kv_heads == stack.num_heads else f" on {stack.num_kv_heads} K/V heads"
    return f"{stack.num_heads} {side} heads of size {stack.head_dim}{shared}"


def _require_same_weights(name: str, found: dict, wanted: dict) -> None:
    missing, surplus = sorted(wanted.keys() - found.keys()), sorted(found.keys() - wanted.keys())
    if missing or surplus:
        first = f"{missing[0]} is missing" if missing else f"{surplus[0]} is not part of this model"
        raise CheckpointError(
            f"{name} has {len(found)} weights where this model has {len(wanted)}; {first}; {_WAY_OUT}"
        )
    for weight, tensor in wanted.items():
        if found[weight].shape != tensor.shape:
            raise CheckpointError(
                f"{name}: {weight} has shape {tuple(found[weight].shape)} where this model has "
                f"{tuple(tensor.shape)}; {_WAY_OUT}"
            )


def _require_finite(name: str, weights: dict) -> None:
    for weight, tensor in weights.items():
        if not tensor.isfinite().all():
            raise CheckpointError(f"{name}: {weight} has numbers that are not finite; {_WAY_OUT}")
