"""What the shape ledger is made of: shapes with named dimensions, steps, clashes and mends."""

from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor

from attention.config import ModelConfig


class Named(NamedTuple):
    """A tensor, what the formulas call it, and the names of its dimensions."""

    symbol: str
    dims: tuple[str, ...]
    tensor: Tensor

    @property
    def shape(self) -> "NamedShape":
        return NamedShape(self.symbol, tuple(zip(self.dims, self.tensor.shape, strict=True)))


@dataclass(frozen=True)
class NamedShape:
    """A shape in words: `str()` gives "batch 1, heads 16, source 6, head size 32"."""

    symbol: str
    dims: tuple[tuple[str, int], ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(size for _, size in self.dims)

    def __str__(self) -> str:
        return ", ".join(f"{name} {size}" for name, size in self.dims)


@dataclass(frozen=True)
class Clash:
    """Two sizes of one dimension that had to agree. `axes` are their places in the two inputs' shapes.

    Where a single input has the wrong size, the second size is the one it would need, and has no place.
    """

    dim: str
    sizes: tuple[int, int]
    axes: tuple[int, int | None]


@dataclass(frozen=True)
class Mend:
    """A configuration close to the failing one that works, and a label for the button that applies it."""

    label: str
    config: ModelConfig


@dataclass(frozen=True)
class Step:
    """One line of the ledger.

    Attributes:
        part: "encoder self-attention", "decoder self-attention" or "cross-attention".
        name, formula: what is computed, in words and code.
        latex: the same as mathematics; indices i and j count heads, from 0.
        inputs: the shapes that go in.
        output: the shape that comes out; None where the step failed.
        error: PyTorch's own words where it failed.
        clashes: every pair of sizes that does not fit (PyTorch names only the first).
        note: what the sizes mean here: an explanation of a failure, or of a broadcast that raises nothing.
        mends: nearby configurations that work.
        kind: of a failure: "heads", "head_size" or "both"; "one_decoder_head"; "groups" (they do not divide);
            "surplus" (there is none, but too few heads); or the name of the coding fault that was put in.
    """

    part: str
    name: str
    formula: str
    inputs: tuple[NamedShape, ...]
    output: NamedShape | None
    error: str | None = None
    clashes: tuple[Clash, ...] = ()
    note: str = ""
    mends: tuple[Mend, ...] = ()
    kind: str = ""
    latex: str = ""

    @property
    def ok(self) -> bool:
        return self.error is None


@dataclass(frozen=True)
class Trace:
    """The steps that ran, in order; the last one is the failure if there is one."""

    steps: tuple[Step, ...]

    @property
    def failure(self) -> Step | None:
        return next((step for step in self.steps if not step.ok), None)

    @property
    def ok(self) -> bool:
        return self.failure is None
