"""What the shape ledger is made of: shapes with named dimensions, steps, clashes and suggestions.

Parts, steps, symbols and dimensions are codes; pages have words for them, and `str()` is for a notebook.
"""

from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor

from attention.config import ModelConfig
from attention.messages import Message


class Named(NamedTuple):
    """A tensor, what the formulas call it, and the names of its dimensions."""

    symbol: str
    dims: tuple[str, ...]
    tensor: Tensor

    @property
    def shape(self) -> "NamedShape":
        return NamedShape(self.symbol, tuple(zip(self.dims, self.tensor.shape, strict=True)))

    @property
    def tex(self) -> str:
        return tex(self.symbol)


def tex(symbol: str) -> str:
    """A symbol of the ledger as LaTeX: single letters as they are, words upright."""
    word = symbol.removesuffix("′")
    if word.startswith("own_"):
        return rf"{word.removeprefix('own_')}^{{\text{{own}}}}"
    return (word if len(word) == 1 else rf"\text{{{word}}}") + "'" * symbol.endswith("′")


@dataclass(frozen=True)
class NamedShape:
    """A shape with named dimensions: `str()` gives "batch 1, heads 16, source 6, head_dim 32"."""

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

    def __str__(self) -> str:
        return f"{self.dim} {self.sizes[0]} against {self.sizes[1]}"


@dataclass(frozen=True)
class Suggestion:
    """A configuration close to the failing one that works, and what it changes."""

    message: Message
    config: ModelConfig


@dataclass(frozen=True)
class LedgerStep:
    """One line of the ledger.

    Attributes:
        part: "encoder" or "decoder" (its self-attention), or "cross".
        name: what is computed, as a code: "project", "split", "scores", …
        values: what the words for the step, and its formula, name: symbols, sizes and code.
        latex: the formula as mathematics; indices i and j count heads, from 0.
        inputs: the shapes that go in.
        output: the shape that comes out; None where the step failed.
        error: PyTorch's own words where it failed.
        clashes: every pair of sizes that does not fit (PyTorch names only the first).
        note: what the sizes mean here: an explanation of a failure, or of a broadcast that raises nothing.
        suggestions: nearby configurations that work.
        kind: of a failure: "heads", "head_size" or "both"; "one_decoder_head"; what a K/V way calls head counts that
            do not fit ("groups", "surplus"); or the name of the coding fault that was put in.
    """

    part: str
    name: str
    values: tuple[tuple[str, object], ...]
    latex: str
    inputs: tuple[NamedShape, ...]
    output: NamedShape | None
    error: str | None = None
    clashes: tuple[Clash, ...] = ()
    note: Message | None = None
    suggestions: tuple[Suggestion, ...] = ()
    kind: str = ""

    @property
    def ok(self) -> bool:
        return self.error is None

    @property
    def symbol(self) -> str:
        """The symbol that the words for the step name; "" where they name none."""
        return dict(self.values).get("symbol", "")

    def __str__(self) -> str:
        given = "; ".join(f"{shape.symbol} ({shape})" for shape in self.inputs)
        made = f"{self.output.symbol} ({self.output})" if self.output else self.error
        return f"{self.part}, {self.name} {self.symbol}".rstrip() + f": {given} → {made}"


@dataclass(frozen=True)
class Trace:
    """The steps that ran, in order; the last one is the failure if there is one."""

    steps: tuple[LedgerStep, ...]

    @property
    def failure(self) -> LedgerStep | None:
        return next((step for step in self.steps if not step.ok), None)

    @property
    def ok(self) -> bool:
        return self.failure is None
