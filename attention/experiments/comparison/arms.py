"""What is compared with what: the arms of the experiment, as model configurations.

An arm is one way of building the model. All arms of a comparison are trained on the same batches from the same seeds,
so they can be compared pair by pair; what differs is how the decoder's heads get their keys and values.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from attention.config import ConfigError, ModelConfig, StackConfig, listing
from attention.cross_attention import check_fit
from attention.tasks import get_task
from attention.training import TrainingSettings

KEEPS = ("width", "size")
SWEEP_HEADS = (1, 2, 4, 8, 16, 32)
WAYS = ("reproject", "projection", "grouped", "extra", "direct")  # with unequal heads, in this order
# Two controls: `direct` and the fixes share one set of K/V over all decoder layers, `reproject` does not, and that is
# a difference of its own.
CONTROLS = {"reproject": "equal_reproject", "direct": "equal_direct"}


@dataclass(frozen=True)
class Arm:
    """One way of building the model.

    Attributes:
        name: of the arm; arms of one sweep series share it and differ in their decoder heads.
        error: the sentence that says why this arm cannot be built; empty for one that can.
    """

    name: str
    config: ModelConfig
    error: str = ""


PlannedRun = tuple[Arm, TrainingSettings]


@dataclass(frozen=True)
class Comparison:
    """What a comparison is made of; equal comparisons have equal runs.

    Attributes:
        keep: what stays when the decoder has other heads than the encoder, the total "width" or the head "size".
        num_seeds: runs per arm, with the seeds 0, 1, 2, …
        num_steps: of each training; None: what the task usually takes.
        num_examples: held-out examples that each finished model is scored on.

    Raises:
        ConfigError: a number that no comparison can have.
    """

    task: str
    enc_heads: int = 8
    dec_heads: int = 16
    keep: str = "size"
    num_seeds: int = 3
    num_steps: int | None = None
    num_examples: int = 1000
    width: int = 64
    num_layers: int = 2

    def __post_init__(self) -> None:
        if self.keep not in KEEPS:
            raise ConfigError(f"keep ({self.keep!r}) must be one of {', '.join(KEEPS)}")
        if self.num_steps is None:
            object.__setattr__(self, "num_steps", get_task(self.task).num_steps)
        for name in ("num_seeds", "num_steps", "num_examples"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} ({getattr(self, name)}) must be at least 1")
        self.decoder(self.enc_heads, "width")  # refuses heads that do not divide the width
        self.decoder(self.dec_heads, self.keep)

    @property
    def encoder(self) -> StackConfig:
        return StackConfig(self.width, self.enc_heads, num_layers=self.num_layers)

    def decoder(self, num_heads: int, keep: str) -> StackConfig:
        """A decoder with so many heads, of the encoder's head size or of the encoder's total width."""
        head_dim = self.encoder.head_dim if keep == "size" else None
        return StackConfig(self.width, num_heads, head_dim, num_layers=self.num_layers)

    def arm(self, name: str, num_heads: int, keep: str, kv: str, kv_variant: str | None = None) -> Arm:
        """One arm, with the reason if it cannot be built."""
        task = get_task(self.task)
        config = ModelConfig(
            self.encoder,
            self.decoder(num_heads, keep),
            kv,
            kv_variant,
            src_vocab_size=len(task.src_vocab),
            tgt_vocab_size=len(task.tgt_vocab),
            bias=True,
        )
        try:
            check_fit(config)
        except ConfigError as error:
            return Arm(name, config, str(error))
        return Arm(name, config)

    def settings(self, arm: Arm, seed: int) -> TrainingSettings:
        """What trains one arm with one seed: the recipe of the page's training button, for `num_steps`."""
        return replace(TrainingSettings.quick(get_task(self.task), arm.config, seed), num_steps=self.num_steps)


def fixes(comparison: Comparison) -> tuple[Arm, ...]:
    """The two controls with the encoder's heads on both sides, then every way of feeding the decoder's heads."""
    controls = [comparison.arm(name, comparison.enc_heads, "size", kv) for kv, name in CONTROLS.items()]
    ways = [comparison.arm(kv, comparison.dec_heads, comparison.keep, kv) for kv in WAYS]
    # With equal heads on both sides two of the ways are the controls themselves.
    return (*controls, *(arm for arm in ways if all(arm.config != control.config for control in controls)))


def sweep(comparison: Comparison) -> tuple[Arm, ...]:
    """The head-count sweep: from 1 to 32 decoder heads beside an unchanged encoder.

    `width` and `size` are textbook decoders that keep the total width, or the head size. `pool` and `drop` reuse the
    encoder's K/V heads in groups, and differ where the decoder has fewer heads than the encoder.
    """
    heads = [n for n in SWEEP_HEADS if comparison.width % n == 0]
    if not heads:
        raise ConfigError(f"width ({comparison.width}) allows none of the head counts {listing(list(SWEEP_HEADS))}")
    textbook = [comparison.arm(keep, n, keep, "reproject") for keep in KEEPS for n in heads]
    reused = [
        # With as many heads as the encoder or more, nothing is pooled or dropped: the two are one and the same model.
        comparison.arm(name, n, "size", "grouped", name if n < comparison.enc_heads else "pool")
        for name in ("pool", "drop")
        for n in heads
    ]
    return (*textbook, *(arm for arm in reused if not arm.error))


def planned(comparison: Comparison, arms: Iterable[Arm]) -> list[PlannedRun]:
    """The runs of all arms that can be built, all arms of the first seed first.

    Arms of a sweep may meet in one and the same model; its settings are then equal, and it is run once.
    """
    buildable = [arm for arm in arms if not arm.error]
    return [(arm, comparison.settings(arm, seed)) for seed in range(comparison.num_seeds) for arm in buildable]
