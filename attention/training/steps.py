"""Training in pieces: a state goes in, a later state comes out, and nothing else is touched.

`advance(state, 300)` equals six times `advance(state, 50)` bit for bit, on one machine with one number of
threads: weights, optimisers, random generator and the length of the schedule are all in the state.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention.config import ModelConfig
from attention.layers import named_generator
from attention.model import EncoderDecoder
from attention.tasks import PAD, Batch, Task, get_task
from attention.training.accuracy import token_accuracy
from attention.training.muon import Muon


@dataclass(frozen=True)
class TrainingSettings:
    """All that a training depends on; equal settings give equal weights.

    Attributes:
        seed: of the first weights and of the batches.
        num_steps: length of the schedule; both learning rates are 0 after the last step.
        batch_size: examples in a step.
        learning_rate: of AdamW (Loshchilov and Hutter 2019), which has the embeddings, biases and norms. The highest,
            reached after `warmup` steps, and from there straight down to 0.
        matrix_rate: the same of Muon (`attention.training.muon`), which has all other matrices.
        embedding_rate: learning rate of the token embeddings, as a multiple of `learning_rate`. A rare token has few
            steps to get away from where chance put it.
        weight_decay: for matrices only, embeddings among them; decoupled in both.
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
    learning_rate: float = 5e-3
    warmup: int = 50
    weight_decay: float = 0.01
    max_grad_norm: float = 1.0
    label_smoothing: float = 0.0
    embedding_rate: float = 1.0
    matrix_rate: float = 7e-3

    def __post_init__(self) -> None:
        get_task(self.task)
        for name in ("num_steps", "batch_size", "seed"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Integral):
                raise ValueError(f"{name} ({value!r}) must be a whole number")
        for name in ("num_steps", "batch_size"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} ({getattr(self, name)}) must be at least 1")
        for name in ("learning_rate", "matrix_rate", "warmup", "weight_decay", "max_grad_norm", "embedding_rate"):
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
            matrix_rate=task.matrix_rate,
            warmup=task.warmup,
            embedding_rate=task.embedding_rate,
        )

    def share_of_rate_at(self, step: int) -> float:
        """Which share of both learning rates a step (from 0) takes: up during `warmup`, then linearly down to 0."""
        rising = (step + 1) / (self.warmup + 1)
        falling = (self.num_steps - step) / max(self.num_steps - self.warmup, 1)
        return min(rising, falling, 1.0)


@dataclass(frozen=True)
class StepReport:
    """How one step went, measured on its batch before the weights changed.

    Attributes:
        step: which one, from 0.
        loss: mean cross-entropy in nats, smoothed as the settings say.
        token_accuracy: share of target tokens predicted right, the end token counted, as the loss does.
    """

    step: int
    loss: float
    token_accuracy: float


@dataclass(frozen=True)
class TrainingState:
    """A training at rest: plain tensors and numbers, can be pickled, is never changed."""

    settings: TrainingSettings
    step: int
    weights: dict[str, Tensor]
    optimisers: tuple[dict[str, Any], ...]
    generator: Tensor
    history: tuple[StepReport, ...]

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
        optimisers=_states(make_optimisers(model, settings)),
        generator=named_generator(settings.seed, "training").get_state(),
        history=(),
    )


@torch.inference_mode(False)
@torch.enable_grad()  # whatever the caller has switched off
def advance(state: TrainingState, num_steps: int) -> TrainingState:
    """`num_steps` further steps, or as many as the schedule still has. `state` stays as it is."""
    settings = state.settings
    task = get_task(settings.task)
    model = state.model().train()
    optimisers = make_optimisers(model, settings)
    for optimiser, stored in zip(optimisers, state.optimisers, strict=True):
        optimiser.load_state_dict(_copy(stored))
    generator = torch.Generator()
    generator.set_state(state.generator)
    history = list(state.history)

    last = min(state.step + num_steps, settings.num_steps)
    for step in range(state.step, last):
        set_rates(optimisers, settings.share_of_rate_at(step))
        batch = task.sample_batch(generator, settings.batch_size)
        loss, accuracy = train_step(model, optimisers, batch, generator, settings)
        history.append(StepReport(step, loss, accuracy))

    return TrainingState(
        settings=settings,
        step=max(state.step, last),
        weights=_copy(model.state_dict()),
        optimisers=_states(optimisers),
        generator=generator.get_state(),
        history=tuple(history),
    )


def train_step(model, optimisers, batch: Batch, generator, settings: TrainingSettings) -> tuple[float, float]:
    """One teacher-forced step on one batch. Returns loss and token accuracy as in `StepReport`."""
    logits = model(batch.src_ids, batch.tgt_in, need_maps=False, generator=generator).logits
    loss = F.cross_entropy(
        logits.flatten(0, 1),
        batch.tgt_out.flatten(),
        ignore_index=PAD,
        label_smoothing=settings.label_smoothing,
    )
    update(model, optimisers, loss, settings)
    return loss.item(), token_accuracy(logits.detach(), batch.tgt_out, count_end=True)


def update(model: nn.Module, optimisers: Iterable[torch.optim.Optimizer], loss: Tensor, settings) -> None:
    """One step of all optimisers down the gradient of `loss`, which is shortened as the settings say."""
    for optimiser in optimisers:
        optimiser.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), settings.max_grad_norm, foreach=True)
    for optimiser in optimisers:
        optimiser.step()


def make_optimisers(model: nn.Module, settings: TrainingSettings) -> tuple[torch.optim.Optimizer, ...]:
    """Muon for the matrices, AdamW for token embeddings, biases and norms; their rates wait for `set_rates`."""
    embeddings = {part.weight for part in model.modules() if isinstance(part, nn.Embedding)}
    kinds = {"matrices": [], "embeddings": [], "vectors": []}
    for p in model.parameters():
        kinds["embeddings" if p in embeddings else "matrices" if p.ndim > 1 else "vectors"].append(p)
    decay, rate = settings.weight_decay, settings.learning_rate
    matrices = {"params": kinds["matrices"], "weight_decay": decay, "rate": settings.matrix_rate}
    others = [
        {"params": kinds["embeddings"], "weight_decay": decay, "rate": rate * settings.embedding_rate},
        {"params": kinds["vectors"], "weight_decay": 0.0, "rate": rate},
    ]
    return (
        Muon([matrices], lr=0.0),
        torch.optim.AdamW([group for group in others if group["params"]], lr=0.0, betas=(0.9, 0.95), fused=True),
    )


def set_rates(optimisers: Iterable[torch.optim.Optimizer], share: float) -> None:
    """Let the next step go at this share of each group's highest rate."""
    for optimiser in optimisers:
        for group in optimiser.param_groups:
            group["lr"] = group["rate"] * share


def _states(optimisers: Iterable[torch.optim.Optimizer]) -> tuple[dict[str, Any], ...]:
    return tuple(_copy(optimiser.state_dict()) for optimiser in optimisers)


def _copy(value: Any) -> Any:
    """A deep copy whose tensors share no memory with the original."""
    if isinstance(value, Tensor):
        return value.detach().clone()
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_copy(item) for item in value]
    return value
