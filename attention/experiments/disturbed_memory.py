"""What the decoder's steady look back at the source is worth: disturb it, and see what the model still answers.

"Anchored attention" is how one article calls it: the encoder makes a fixed anchor, and the decoder refers to it at
every step. In the textbook Transformer (Vaswani et al. 2017, section 3.2.3) that is cross-attention over a memory that
is worked out once. Here the memory is shaken, or partly hidden, or taken away, with the undisturbed run as a control.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention.config import ConfigError, ModelConfig, divisors, listing
from attention.cross_attention import Memory, fits
from attention.decoding import Anchor, Decoding, greedy_decode
from attention.inspection import decode_source, gold_of
from attention.metrics.stability import drift, gold_distance, movement
from attention.model import EncoderDecoder
from attention.tasks import Alignment, Example, Task, Tokens
from attention.training.evaluation import decoded_right

DISTURBANCES = ("noise_each", "noise_once", "hidden", "off")
WORD_END = -1  # in `Disturbance.hidden`: the end token, wherever it stands


@dataclass(frozen=True)
class Disturbance:
    """What is done to the memory before the decoder looks at it.

    Attributes:
        kind: "noise_each", other noise in each step; "noise_once", the same in all steps; "hidden", some source tokens
            cannot be looked at; "off", no head may look anywhere: what goes into W_O is zero, while the residual, the
            norm and W_O's bias stay.
        size: of the noise: its standard deviation, in units of the memory's root mean square.
        hidden: columns that are hidden, counted from 0, and WORD_END.
        seed: of the noise.
    """

    kind: str
    size: float = 0.0
    hidden: frozenset[int] = frozenset()
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in DISTURBANCES:
            raise ValueError(f"kind ({self.kind!r}) must be one of {', '.join(DISTURBANCES)}")
        if not 0.0 <= self.size < float("inf"):
            raise ValueError(f"size ({self.size!r}) must be a number of at least 0")
        if any(column < WORD_END for column in self.hidden):
            raise ValueError(f"hidden ({sorted(self.hidden)}) must be columns from 0 up, or WORD_END ({WORD_END})")


def anchor(model: EncoderDecoder, disturbance: Disturbance) -> Anchor:
    """The disturbance of one decoding, for `decode_steps`; a new decoding needs a new one."""
    match disturbance.kind:
        case "off":
            return lambda number, memory: None
        case "hidden":
            return _once(lambda memory: hide(memory, disturbance.hidden))
    generator = torch.Generator().manual_seed(disturbance.seed)

    def noisy(memory: Memory) -> Memory:
        return model.encoder.to_memory(add_noise(memory, disturbance.size, generator), memory.mask)

    return _once(noisy) if disturbance.kind == "noise_once" else lambda number, memory: noisy(memory)


def _once(change) -> Anchor:
    """Change the memory at the first step, and keep to that."""
    changed: Memory | None = None

    def at_step(number: int, memory: Memory) -> Memory:
        nonlocal changed
        if number == 1:
            changed = change(memory)
        return changed

    return at_step


@torch.no_grad()
def add_noise(memory: Memory, size: float, generator: torch.Generator) -> Float[Tensor, "batch src_len enc_width"]:
    """The memory's hidden states with normal noise of `size` × each sequence's root mean square (padding left out)."""
    hidden, real = memory.hidden, memory.mask[:, 0, 0, :, None]  # real: (batch, src_len, 1)
    squares = (hidden.square() * real).sum((1, 2), keepdim=True) / (real.sum((1, 2), keepdim=True) * hidden.shape[-1])
    noise = torch.randn(hidden.shape, generator=generator, dtype=hidden.dtype)
    return hidden + size * squares.sqrt() * noise


def hide(memory: Memory, hidden: frozenset[int]) -> Memory:
    """The same memory with some columns that nobody may look at; a column that a sequence does not have hides nothing.

    WORD_END stands for the last real column of each sequence.
    """
    mask = memory.mask[:, 0, 0]  # (batch, src_len)
    columns = torch.arange(mask.shape[1])
    closed = torch.isin(columns, torch.tensor(sorted(hidden), dtype=torch.long)).expand_as(mask)
    is_end = columns == (mask.sum(1, keepdim=True) - 1)
    closed = (closed & ~is_end) | (is_end & (WORD_END in hidden))
    return memory._replace(mask=(mask & ~closed)[:, None, None])


@dataclass(frozen=True)
class Experiment:
    """One word, undisturbed and disturbed.

    Attributes:
        control: the model's own answer, undisturbed.
        free: what it answers by itself when disturbed.
        forced: disturbed too, but forced to generate what `control` did, so that rows can be compared step by step.
        gold: which letters make each token of `control`; None where unknown.
    """

    control: Decoding
    free: Decoding
    forced: Decoding
    gold: Alignment | None

    @cached_property
    def drift(self) -> tuple[np.ndarray, ...]:
        """Per layer (heads, steps), see `stability.drift`; NaN where a head may look nowhere."""
        pairs = zip(self.forced.cross, self.control.cross, strict=True)
        return tuple(drift(forced.weights, control.weights) for forced, control in pairs)

    @cached_property
    def movement(self) -> tuple[np.ndarray, ...]:
        """Per layer (heads, steps): how far each look moved from the step before, undisturbed."""
        return tuple(movement(layer.weights) for layer in self.control.cross)

    def gold_distance(self, decoding: Decoding) -> tuple[np.ndarray, ...] | None:
        """Per layer (heads, steps), for `control` or `forced`: tokens between the look and the letter that belongs."""
        return None if self.gold is None else tuple(gold_distance(x.weights, self.gold) for x in decoding.cross)


def run_experiment(
    control: Decoding, model: EncoderDecoder, task: Task, source: Tokens, disturbance: Disturbance | None = None
) -> Experiment:
    """One word beside `control`, its undisturbed decoding by this model or, where the model is what changes, another.

    Noise is the same in the free and in the forced run.
    """

    def disturbed(forced: tuple[int, ...] | None) -> Decoding:
        moves = disturbance and anchor(model, disturbance)
        return decode_source(model, task, source, forced=forced, anchor=moves)

    return Experiment(control, disturbed(None), disturbed(control.output), gold_of(control, task, source))


def hidden_one_by_one(model: EncoderDecoder, task: Task, source: Tokens) -> tuple[tuple[int, ...], ...]:
    """What the model answers with one column hidden: that of each token in turn, and of the end token last.

    The ids of each answer, with the end token where it was reached.
    """
    src_ids = torch.tensor([task.encode_source(source)])
    one_each = torch.eye(src_ids.shape[1], dtype=torch.bool)[:, None, None]  # (columns, 1, 1, columns)
    moves = _once(lambda memory: memory._replace(mask=memory.mask & ~one_each))
    rows = greedy_decode(model, src_ids.repeat(len(one_each), 1), task.max_tgt_len(len(source)), moves)
    return tuple(map(tuple, rows))


def mean_row_drift(experiment: Experiment) -> tuple[np.ndarray, ...]:
    """Per layer (1, steps): drift of the mean row of all heads, for models whose head counts differ."""
    runs = (experiment.forced, experiment.control)
    forced, control = ([layer.weights.mean(0, keepdims=True) for layer in run.cross] for run in runs)
    return tuple(map(drift, forced, control))


def held_out_right(
    model: EncoderDecoder, task: Task, examples: Sequence[Example], disturbance: Disturbance | None = None
) -> tuple[bool, ...]:
    """Whether the model answers each example right by itself, all of one batch under the same disturbance.

    Raises:
        ValueError: no examples.
    """
    if not examples:
        raise ValueError("there is nothing to score: no examples were given")
    moves = disturbance and anchor(model, disturbance)
    return tuple(decoded_right(model, task, examples, moves))


def other_head_counts(config: ModelConfig) -> tuple[int, ...]:
    """Decoder head counts into which this model's weights load without a complaint, its own left out."""
    decoder = config.decoder
    others = (heads for heads in divisors(decoder.total_width) if heads != decoder.num_heads)
    # As many query heads share a K/V head as before, so that W_K and W_V keep their shapes.
    shared_alike = (heads for heads in others if heads * decoder.num_kv_heads % decoder.num_heads == 0)
    return tuple(heads for heads in shared_alike if fits(_cut_into(config, heads)))


def _cut_into(config: ModelConfig, num_heads: int) -> ModelConfig:
    """The same widths in another number of decoder heads."""
    decoder = config.decoder
    kv_heads = num_heads * decoder.num_kv_heads // decoder.num_heads
    head_dim = decoder.total_width // num_heads
    return replace(config, decoder=replace(decoder, num_heads=num_heads, head_dim=head_dim, num_kv_heads=kv_heads))


def misload(model: EncoderDecoder, num_heads: int) -> EncoderDecoder:
    """The same weights in a decoder that cuts them into another number of heads: a misuse, on purpose.

    A state dict does not say how many heads it was trained with, so every shape fits, some answers are wrong, and
    nothing says which.

    Raises:
        ConfigError: the weights would not fit, or these are the model's own heads.
    """
    config = model.config
    allowed = other_head_counts(config)
    if num_heads not in allowed:
        raise ConfigError(
            f"the weights of {config.decoder.num_heads} decoder heads do not load into {num_heads} as a misuse; "
            f"allowed: {listing(list(allowed)) or 'none'}"
        )
    return EncoderDecoder.with_weights(_cut_into(config, num_heads), model.state_dict())
