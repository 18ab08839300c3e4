"""What the decoder's steady look back at the source is worth: disturb it, and see what the model still says.

"Anchored attention" is how one article calls it: the encoder makes a fixed anchor, and the decoder refers to it at
every step. In the textbook Transformer (Vaswani et al. 2017, section 3.2.3) that is cross-attention over a memory that
is worked out once. Here the memory is shaken, or partly hidden, or taken away, with the undisturbed run as a control.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention.config import ConfigError, ModelConfig, divisors, listing
from attention.cross_attention import Memory
from attention.evaluation import decoded_right
from attention.metrics.stability import drift, gold_distance, movement
from attention.model import EncoderDecoder
from attention.stepping import Anchor, Decoding, decode_word
from attention.tasks import Alignment, Example, Task, Tokens

KINDS = ("noise_each", "noise_once", "hidden", "off")
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
        if self.kind not in KINDS:
            raise ValueError(f"kind ({self.kind!r}) must be one of {', '.join(KINDS)}")
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
        free: what it says by itself when disturbed.
        forced: disturbed too, but made to say what `control` says, so that rows can be compared step by step.
        gold: which letters make each token of `control`; None where unknown.
    """

    control: Decoding
    free: Decoding
    forced: Decoding
    gold: Alignment | None

    @cached_property
    def drift(self) -> tuple[np.ndarray, ...]:
        """Per layer (heads, steps), see `stability.drift`; NaN where a head may look nowhere."""
        return tuple(map(drift, self.forced.cross, self.control.cross))

    @cached_property
    def movement(self) -> tuple[np.ndarray, ...]:
        """Per layer (heads, steps): how far each look moved from the step before, undisturbed."""
        return tuple(map(movement, self.control.cross))

    def gold_distance(self, decoding: Decoding) -> tuple[np.ndarray, ...] | None:
        """Per layer (heads, steps), for `control` or `forced`: tokens between the look and the letter that belongs."""
        return None if self.gold is None else tuple(gold_distance(layer, self.gold) for layer in decoding.cross)


def run_experiment(model: EncoderDecoder, task: Task, source: Tokens, disturbance: Disturbance) -> Experiment:
    """One word with and without the disturbance; noise is the same in the free and in the forced run."""
    return compare(model, model, task, source, disturbance)


def compare(
    control_model: EncoderDecoder,
    model: EncoderDecoder,
    task: Task,
    source: Tokens,
    disturbance: Disturbance | None = None,
) -> Experiment:
    """As `run_experiment`, with another model as the thing that changes."""
    src_ids, limit = torch.tensor([task.encode_source(source)]), task.max_tgt_len(len(source))
    control = decode_word(control_model, src_ids, limit)

    def disturbed(forced: tuple[int, ...] | None) -> Decoding:
        moves = disturbance and anchor(model, disturbance)
        return decode_word(model, src_ids, limit, forced=forced, anchor=moves)

    said = task.tgt_vocab.decode(control.said[:-1]) if control.ended else None
    gold = task.gold_alignment(source, said) if said else None
    return Experiment(control, disturbed(None), disturbed(control.said), gold)


def mean_row_drift(experiment: Experiment) -> tuple[np.ndarray, ...]:
    """Per layer (1, steps): drift of the mean row of all heads, for models whose head counts differ."""
    pairs = zip(experiment.forced.cross, experiment.control.cross, strict=True)
    return tuple(drift(forced.mean(0, keepdims=True), control.mean(0, keepdims=True)) for forced, control in pairs)


@dataclass(frozen=True)
class Share:
    """`right` of `total`, and where the share would lie in 95 of 100 such samples (Wilson 1927)."""

    right: int
    total: int

    @property
    def share(self) -> float:
        return self.right / self.total

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's score interval for a binomial share, 95 %."""
        z, n, p = 1.959963984540054, self.total, self.share
        middle = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return max(middle - half, 0.0), min(middle + half, 1.0)


def held_out_share(
    model: EncoderDecoder, task: Task, examples: Sequence[Example], disturbance: Disturbance | None = None
) -> Share:
    """How many of the examples the model answers right by itself, all of one batch under the same disturbance.

    Raises:
        ValueError: no examples.
    """
    if not examples:
        raise ValueError("there is nothing to score: no examples were given")
    moves = disturbance and anchor(model, disturbance)
    return Share(sum(decoded_right(model, task, examples, moves)), len(examples))


def other_head_counts(config: ModelConfig) -> tuple[int, ...]:
    """Decoder head counts into which this model's weights load without a complaint, its own left out."""
    decoder = config.decoder
    if config.kv != "reproject" or decoder.num_kv_heads != decoder.num_heads:
        return ()
    return tuple(heads for heads in divisors(decoder.total_width) if heads != decoder.num_heads)


def misload(model: EncoderDecoder, num_heads: int) -> EncoderDecoder:
    """The same weights in a decoder that cuts them into another number of heads: a misuse, on purpose.

    A state dict does not say how many heads it was trained with, so every shape fits, and the answers are wrong.

    Raises:
        ConfigError: the weights would not fit, or these are the model's own heads.
    """
    config = model.config
    allowed = other_head_counts(config)
    if num_heads not in allowed:
        raise ConfigError(
            f"the weights of {config.decoder.num_heads} decoder heads do not load into {num_heads} as a misuse; "
            f"allowed: {listing(list(allowed)) or 'none, as the keys and values do not come from the decoder'}"
        )
    head_dim = config.decoder.total_width // num_heads
    decoder = replace(config.decoder, num_heads=num_heads, head_dim=head_dim, num_kv_heads=num_heads)
    return EncoderDecoder.with_weights(replace(config, decoder=decoder), model.state_dict())
