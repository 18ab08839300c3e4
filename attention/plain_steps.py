"""Runs the steps of a pass as plain PyTorch and writes them down, up to the first one that fails.

None of this package's checks stands in front of a step, so what a ledger says of a failure is what PyTorch said.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from attention.config import ModelConfig, StackConfig
from attention.ledger import Clash, Named, Step
from attention.mends import broadcast_note, explain, find_clashes, find_mends

# Well-known coding faults. They follow from no valid configuration, so they are asked for by name.
FAULTS = {
    "indivisible": "W_Q makes one feature too many to be split into heads",
    "w_o_expects_d_model": "W_O is built for d_model inputs instead of heads × head size",
    "w_k_expects_decoder_width": "W_K and W_V are built for the decoder's width, but read the encoder's memory",
}
FEATURES = "heads × head size"


class Stop(Exception):
    """A step failed; nothing after it can run."""


class PlainSteps:
    """Runs steps and writes them down."""

    def __init__(self, config: ModelConfig, fault: str | None) -> None:
        self.config, self.fault = config, fault
        self.fault_note = ""  # said of the next failure, once the fault has really changed a number
        self.steps: list[Step] = []

    def faulty(self, fault: str, wrong: int, right: int) -> int:
        """The number that a coding fault puts in place of the right one, if this is the fault to show."""
        if self.fault != fault or wrong == right:
            return right
        self.fault_note = f"{FAULTS[fault]}: {wrong} where {right} is right."
        return wrong

    def run(
        self,
        part: str,
        name: str,
        formula: str,
        inputs: tuple[Named, ...],
        compute: Callable[..., Tensor],
        out: tuple,
        *,
        latex: str,
        needs: tuple[str, int] | None = None,
    ) -> Named:
        """Compute one step of the pass; `out` is the symbol and dimension names of what comes out.

        `latex` is the formula for those who read mathematics. `needs`: the dimension of the first input, and its size,
        without which a step of one input cannot work.
        """
        shapes = tuple(item.shape for item in inputs)
        try:
            tensor = compute(*(item.tensor for item in inputs))
        except RuntimeError as error:
            clashes = find_clashes(shapes)
            if needs is not None:
                axis = inputs[0].dims.index(needs[0])
                clashes = (Clash(needs[0], (shapes[0].sizes[axis], needs[1]), (axis, None)),)
            kind, note = (self.fault, self.fault_note) if self.fault_note else explain(clashes, self.config)
            # A coding fault is not mended by another configuration.
            mends = () if self.fault_note else find_mends(self.config)
            self.steps.append(Step(part, name, formula, shapes, None, str(error), clashes, note, mends, kind, latex))
            raise Stop from error
        result = Named(*out, tensor)
        note = broadcast_note(shapes, name)
        self.steps.append(Step(part, name, formula, shapes, result.shape, note=note, latex=latex))
        return result

    def project(self, part: str, name: str, x: Named, expects: int, makes: int, feature: str = FEATURES) -> Named:
        """A linear layer without bias: W has `makes` rows and `expects` columns."""
        weight = Named(f"W_{name}", (f"{feature} out", x.dims[-1]), torch.zeros(makes, expects))
        formula = f"{name} = {x.symbol} · W_{name}ᵀ"
        out = (name, (*x.dims[:-1], feature))
        latex = rf"{tex(name)} = {tex(x.symbol)}\,W_{{{tex(name)}}}^{{\top}}"
        return self.run(part, f"project to {name}", formula, (x, weight), F.linear, out, latex=latex)

    def split(self, part: str, x: Named, heads: int, head_dim: int, heads_name: str = "heads") -> Named:
        """(batch, length, features) → (batch, heads, length, head size)."""
        batch, length = x.tensor.shape[:2]
        return self.run(
            part,
            f"split {x.symbol} into heads",
            f"view({batch}, {length}, {heads}, {head_dim}), swap heads and positions",
            (x,),
            lambda t: t.view(batch, length, heads, head_dim).transpose(1, 2),
            (x.symbol, ("batch", heads_name, x.dims[1], "head size")),
            latex=rf"{tex(x.symbol)} \to ({_numbered(x.symbol, 0)}, \dots, {_numbered(x.symbol, heads - 1)})",
            needs=(FEATURES, heads * head_dim),
        )

    def merge(self, part: str, name: str, x: Named) -> Named:
        """(batch, heads, length, head size) → (batch, length, features)."""
        return self.run(
            part,
            name,
            "swap back, heads side by side",
            (x,),
            lambda t: t.transpose(1, 2).flatten(2),
            (x.symbol, ("batch", x.dims[2], FEATURES)),
            latex=(
                rf"{tex(x.symbol)} = \left[{_numbered(x.symbol, 0)} \,\Vert\, \cdots \,\Vert\, "
                rf"{_numbered(x.symbol, x.tensor.shape[1] - 1)}\right]"
            ),
        )

    def share(self, part: str, x: Named, num_heads: int) -> Named:
        """Repeat each K/V head for its group of query heads."""
        group = num_heads // x.tensor.shape[1]
        return self.run(
            part,
            f"share {x.symbol} heads",
            f"head i reads K/V head i // {group}",
            (x,),
            lambda t: t.repeat_interleave(group, dim=1),
            (x.symbol, ("batch", "heads", *x.dims[2:])),
            latex=rf"{_numbered(x.symbol, 'i')} \leftarrow {tex(x.symbol)}_{{\lfloor i/{group} \rfloor}}",
        )

    def attend(self, part: str, q: Named, k: Named, v: Named, stack: StackConfig) -> None:
        """Scores, softmax, mixing, merging and W_O, for one attention operation."""
        q_dim, kv_dim = q.dims[2], k.dims[2]
        if k.dims[1] == "K/V heads":
            k, v = (self.share(part, x, q.tensor.shape[1]) for x in (k, v))
        scores = self.run(
            part,
            "scores",
            "Q · Kᵀ / √head size",
            (q, k),
            lambda q, k: q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5,
            ("scores", ("batch", "heads", q_dim, kv_dim)),
            latex=rf"S_i = {tex(q.symbol)}_i\,{_numbered(k.symbol, 'i')}^{{\top}} / \sqrt{{{q.tensor.shape[-1]}}}",
        )
        weights = self.run(
            part,
            "weights",
            "softmax over keys",
            (scores,),
            lambda t: t.softmax(-1),
            ("A", scores.dims),
            latex=r"A_i = \operatorname{softmax}(S_i)",
        )
        mixed = self.run(
            part,
            "mix values",
            "A · V",
            (weights, v),
            torch.matmul,
            ("Z", ("batch", "heads", q_dim, "head size")),
            latex=rf"Z_i = A_i\,{_numbered(v.symbol, 'i')}",
        )
        merged = self.merge(part, "merge heads", mixed)
        expects = self.faulty("w_o_expects_d_model", stack.d_model, stack.total_width)
        self.project(part, "O", merged, expects, stack.d_model, "width")


def tex(symbol: str) -> str:
    """A symbol of the ledger as LaTeX: single letters as they are, words upright."""
    word = symbol.removesuffix("′")
    if word.startswith("own "):
        return rf"{word.removeprefix('own ')}^{{\text{{own}}}}"
    return (word if len(word) == 1 else rf"\text{{{word}}}") + "'" * symbol.endswith("′")


def _numbered(symbol: str, number: int | str) -> str:
    return rf"{tex(symbol)}_{{{number}}}"
