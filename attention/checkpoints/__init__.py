"""The small trained models that ship: NAME.safetensors (16-bit weights) beside NAME.json (what they are).

A state dict does not know how many heads it was trained with: weights of 8 heads load into 16 heads of half the
size without any error, and the model then answers nonsense. So the head counts are stored with the weights, and
`load` refuses to put them into anything else. `python -m attention.checkpoints.make` makes all files here again.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from attention.config import ConfigError, ModelConfig
from attention.evaluation import Scores
from attention.model import EncoderDecoder
from attention.tasks import get_task
from attention.training import TrainingSettings

DIRECTORY = Path(__file__).parent
Key = tuple[str, ModelConfig]

_HEAD_FIELDS = ("num_heads", "head_dim", "num_kv_heads")
_WAY_OUT = "pick the shipped model, or start from fresh weights"


class CheckpointError(ConfigError):
    """Stored weights that cannot be used as asked, as one sentence."""


@dataclass(frozen=True)
class Card:
    """What is known about stored weights.

    Attributes:
        name: of the files, without ending.
        settings: task, model and everything the training depended on.
        scores: of the 16-bit weights as stored, on all held-out examples of the task.
        torch_version: that trained them.
    """

    name: str
    settings: TrainingSettings
    scores: Scores
    torch_version: str

    @property
    def task(self) -> str:
        return self.settings.task

    @property
    def config(self) -> ModelConfig:
        return self.settings.config

    def to_dict(self) -> dict:
        """Plain JSON types; the vocabularies are there for readers that have no `attention` package."""
        task, training = get_task(self.task), asdict(self.settings)
        for said_elsewhere in ("task", "config", "seed", "num_steps"):
            del training[said_elsewhere]
        return {
            "name": self.name,
            "task": self.task,
            "config": self.config.to_dict(),
            "seed": self.settings.seed,
            "steps": self.settings.num_steps,
            "training": training,
            "scores": self.scores.to_dict(),
            "torch": self.torch_version,
            "source_vocabulary": list(task.src_vocab.tokens),
            "target_vocabulary": list(task.tgt_vocab.tokens),
        }

    @classmethod
    def from_dict(cls, data: dict) -> "Card":
        """Read what `to_dict` wrote.

        Raises:
            CheckpointError: something is missing or unknown, or the task's vocabulary has changed since.
        """
        try:
            settings = TrainingSettings(
                task=data["task"],
                config=ModelConfig.from_dict(data["config"]),
                seed=data["seed"],
                num_steps=data["steps"],
                **data["training"],
            )
            card = cls(data["name"], settings, Scores.from_dict(data["scores"]), data["torch"])
            stored = {side: tuple(data[f"{side}_vocabulary"]) for side in ("source", "target")}
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(f"this is not the description of a stored model ({error})") from error
        task = get_task(card.task)
        if stored != {"source": task.src_vocab.tokens, "target": task.tgt_vocab.tokens}:
            raise CheckpointError(f"{card.name} was trained with another vocabulary than {card.task} has now")
        return card


def key(task: str, config: ModelConfig) -> Key:
    """What a shipped model is found by; dropout matters only while training, so it does not count."""
    return task, replace(config, dropout=0.0)


@cache
def shipped() -> Mapping[Key, Card]:
    """All models that ship, by task and config."""
    cards = [read_card(path) for path in sorted(DIRECTORY.glob("*.json"))]
    return MappingProxyType({key(card.task, card.config): card for card in cards})


def find(task: str, config: ModelConfig) -> Card | None:
    """The card of the shipped model of exactly this task and config, if there is one."""
    return shipped().get(key(task, config))


def load(task: str, config: ModelConfig) -> tuple[EncoderDecoder, Card] | None:
    """The shipped model of exactly this task and config, newly made, in evaluation mode, and its card.

    Raises:
        CheckpointError: its file is damaged or belongs to another model.
    """
    card = find(task, config)
    return card and (load_weights(DIRECTORY / f"{card.name}.safetensors", config), card)


def read_card(path: Path) -> Card:
    """Read a NAME.json; CheckpointError when it is damaged."""
    try:
        return Card.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise CheckpointError(f"{path.name} is damaged ({error})") from error
    except CheckpointError as error:
        raise CheckpointError(f"{path.name}: {error}") from error


def save(model: EncoderDecoder, card: Card, directory: Path = DIRECTORY) -> None:
    """Write NAME.safetensors and NAME.json."""
    weights = {name: tensor.to(torch.float16).contiguous() for name, tensor in model.state_dict().items()}
    _require_finite(card.name, weights)
    save_file(weights, directory / f"{card.name}.safetensors", metadata=_header(card.config))
    # one line for each entry: a vocabulary may hold thousands of tokens
    lines = [f" {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in card.to_dict().items()]
    (directory / f"{card.name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def load_weights(path: Path, config: ModelConfig) -> EncoderDecoder:
    """A model of `config` with the weights of a NAME.safetensors, as 32-bit numbers.

    Raises:
        CheckpointError: the weights were trained with other heads, or the file is damaged, or weights are missing
            or have another shape. Nothing is ever loaded in part.
    """
    try:
        with safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
            weights = {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118 (not a dict)
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"{path.name} cannot be read ({error}); fetch or make it again") from error
    _require_same_heads(header, config, path.name)
    _require_same_weights(path.name, weights, EncoderDecoder(config, seed=None).state_dict())
    _require_finite(path.name, weights)
    return EncoderDecoder.with_weights(config, weights)


def _header(config: ModelConfig) -> dict[str, str]:
    """What the shapes of the weights do not tell."""
    sides = {"encoder": config.encoder, "decoder": config.decoder}
    heads = {f"{side}.{field}": str(getattr(sides[side], field)) for side in sides for field in _HEAD_FIELDS}
    return {**heads, "kv": config.kv, "kv_variant": str(config.kv_variant)}


def _require_same_heads(header: dict[str, str], config: ModelConfig, name: str) -> None:
    wanted = _header(config)
    unknown = [field for field in wanted if field not in header]
    if unknown:
        raise CheckpointError(f"{name} does not say its {unknown[0]}, so nobody knows what it fits")
    for side in ("encoder", "decoder"):
        if any(header[f"{side}.{field}"] != wanted[f"{side}.{field}"] for field in _HEAD_FIELDS):
            stored = _heads(side, *(header[f"{side}.{field}"] for field in _HEAD_FIELDS))
            asked = _heads(side, *(wanted[f"{side}.{field}"] for field in _HEAD_FIELDS))
            raise CheckpointError(
                f"these weights were trained with {stored}; {asked} were asked for: even "
                f"where the shapes fit the answers would be wrong; {_WAY_OUT}"
            )
    for field in ("kv", "kv_variant"):
        if header[field] != wanted[field]:
            raise CheckpointError(
                f"these weights were trained with {field}={header[field]}; {wanted[field]} was asked for; {_WAY_OUT}"
            )


def _heads(side: str, num_heads: str, head_dim: str, num_kv_heads: str) -> str:
    """ "8 decoder heads of size 16", with the K/V heads where they differ."""
    shared = "" if num_kv_heads == num_heads else f" on {num_kv_heads} K/V heads"
    return f"{num_heads} {side} heads of size {head_dim}{shared}"


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


__all__ = ["Card", "CheckpointError", "find", "key", "load", "load_weights", "read_card", "save", "shipped"]
