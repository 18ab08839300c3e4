"""Training in pieces: a state goes in, a later state comes out, and nothing else is touched.

`advance(state, 300)` equals six times `advance(state, 50)` bit for bit, on one machine with one number of
threads: weights, optimiser, random generator and the length of the schedule are all in the state.
"""

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from attention.config import ModelConfig
from attention.layers import named_generator
from attention.model import EncoderDecoder
from attention.tasks import PAD, Batch, Task, get_task


@dataclass(frozen=True)
class TrainingSettings:
    """All that a training depends on; equal settings give equal weights.

    Attributes:
        seed: of the first weights and of the batches.
        num_steps: length of the schedule; the learning rate is 0 after the last step.
        batch_size: examples in a step.
        learning_rate: the highest, reached after `warmup` steps, and from there straight down to 0.
        embedding_rate: learning rate of the token embeddings, as a multiple of that of all other weights. A rare token
            has few steps to get away from where chance put it.
        weight_decay: of AdamW (Loshchilov and Hutter 2019), for matrices only.
        max_grad_norm: longer gradients are shortened to this.
        label_smoothing: share of each label spread over all tokens (Szegedy et al. 2016, section 7).

    Raises:
        ValueError: a number that no training can have.
    """

    task: str
    config: ModelConfig
    num_steps: int
    batch_size: int
    seed: int = 0
    learning_rate: float = 3e-3
    warmup: int = 100
    weight_decay: float = 0.01
    max_grad_norm: float = 1.0
    label_smoothing: float = 0.0
    embedding_rate: float = 1.0

    def __post_init__(self) -> None:
        get_task(self.task)
        for name in ("num_steps", "batch_size"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} ({getattr(self, name)}) must be at least 1")
        for name in ("learning_rate", "warmup", "weight_decay", "max_grad_norm", "embedding_rate"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} ({getattr(self, name)}) must not be negative")
        if not 0 <= self.label_smoothing < 1:
            raise ValueError(f"label_smoothing ({self.label_smoothing}) must be at least 0 and below 1")

    @classmethod
    def quick(cls, task: Task, config: ModelConfig, seed: int = 0) -> "TrainingSettings":
        """What the page's button does: a model that has learnt something in seconds."""
        return cls(
            task.name,
            config,
            num_steps=task.num_steps,
            batch_size=task.batch_size,
            seed=seed,
            learning_rate=task.learning_rate,
            warmup=task.warmup,
            embedding_rate=task.embedding_rate,
        )

    def learning_rate_at(self, step: int) -> float:
        """The learning rate of a step (from 0): up during `warmup`, then linearly down to 0."""
        rising = (step + 1) / (self.warmup + 1)
        falling = (self.num_steps - step) / max(self.num_steps - self.warmup, 1)
        return self.learning_rate * min(rising, falling, 1.0)


@dataclass(frozen=True)
class Moment:
    """How one step went, measured on its batch before the weights changed."""

    step: int
    loss: float
    token_accuracy: float


@dataclass(frozen=True)
class TrainingState:
    """A training at rest: plain tensors and numbers, can be pickled, is never changed."""

    settings: TrainingSettings
    step: int
    weights: dict[str, Tensor]
    optimiser: dict[str, Any]
    generator: Tensor
    history: tuple[Moment, ...]

    @property
    def done(self) -> bool:
        return self.step >= self.settings.num_steps

    def model(self) -> EncoderDecoder:
        """A model with this state's weights, of its own."""
        return EncoderDecoder.with_weights(self.settings.config, self.weights)


def start(settings: TrainingSettings) -> TrainingState:
    """The state before the first step."""
    model = EncoderDecoder(settings.config, settings.seed)
    return TrainingState(
        settings=settings,
        step=0,
        weights=_copy(model.state_dict()),
        optimiser=_copy(_optimiser(model, settings).state_dict()),
        generator=named_generator(settings.seed, "training").get_state(),
        history=(),
    )


def advance(state: TrainingState, num_steps: int) -> TrainingState:
    """`num_steps` further steps, or as many as the schedule still has. `state` stays as it is."""
    settings = state.settings
    task = get_task(settings.task)
    model = state.model().train()
    optimiser = _optimiser(model, settings)
    optimiser.load_state_dict(_copy(state.optimiser))
    generator = torch.Generator()
    generator.set_state(state.generator)
    history = list(state.history)

    last = min(state.step + num_steps, settings.num_steps)
    for step in range(state.step, last):
        for group in optimiser.param_groups:
            group["lr"] = settings.learning_rate_at(step) * group["rate"]
        batch = task.sample_batch(generator, settings.batch_size)
        loss, accuracy = train_step(model, optimiser, batch, generator, settings)
        history.append(Moment(step, loss, accuracy))

    return TrainingState(
        settings=settings,
        step=max(state.step, last),
        weights=_copy(model.state_dict()),
        optimiser=_copy(optimiser.state_dict()),
        generator=generator.get_state(),
        history=tuple(history),
    )


def train_step(model, optimiser, batch: Batch, generator, settings: TrainingSettings) -> tuple[float, float]:
    """One step on one batch, by teacher forcing. Returns loss and token accuracy from before the step."""
    logits = model(batch.src_ids, batch.tgt_in, need_maps=False, generator=generator).logits
    loss = F.cross_entropy(
        logits.flatten(0, 1),
        batch.tgt_out.flatten(),
        ignore_index=PAD,
        label_smoothing=settings.label_smoothing,
    )
    optimiser.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), settings.max_grad_norm)
    optimiser.step()
    real = batch.tgt_out != PAD
    right = (logits.detach().argmax(-1) == batch.tgt_out) & real
    return loss.item(), (right.sum() / real.sum()).item()


def _optimiser(model: EncoderDecoder, settings: TrainingSettings) -> torch.optim.AdamW:
    embeddings = [p for name, p in model.named_parameters() if name.endswith("embedding.tokens.weight")]
    others = [p for name, p in model.named_parameters() if not name.endswith("embedding.tokens.weight")]
    groups = [
        {"params": [p for p in others if p.ndim > 1], "weight_decay": settings.weight_decay, "rate": 1.0},
        {"params": embeddings, "weight_decay": settings.weight_decay, "rate": settings.embedding_rate},
        {"params": [p for p in others if p.ndim <= 1], "weight_decay": 0.0, "rate": 1.0},  # biases and norms
    ]
    return torch.optim.AdamW([g for g in groups if g["params"]], lr=0.0, betas=(0.9, 0.98), fused=True)


def _copy(value: Any) -> Any:
    """A deep copy whose tensors share no memory with the original."""
    if isinstance(value, Tensor):
        return value.detach().clone()
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_copy(item) for item in value]
    return value
