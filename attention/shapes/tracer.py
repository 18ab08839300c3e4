"""Runs the steps of a pass as plain PyTorch and writes them down, up to the first one that fails.

None of this package's checks stands in front of a step, so what a ledger says of a failure is what PyTorch said.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from attention.config import ModelConfig, StackConfig
from attention.messages import Message
from attention.shapes.failures import broadcast_note, explain, find_clashes
from attention.shapes.ledger import Clash, LedgerStep, Named, tex
from attention.shapes.suggestions import find_suggestions

# Well-known coding faults. They follow from no valid configuration, so they are asked for by name.
FAULTS = (
    "indivisible",  # W_Q makes one feature too many to be split into heads
    "w_o_expects_d_model",  # W_O is built for d_model inputs instead of heads × head size
    "w_k_expects_decoder_width",  # W_K and W_V are built for the decoder's width, but read the encoder's memory
)


class Stop(Exception):
    """A step failed; nothing after it can run."""


class Tracer:
    """Runs steps and writes them down.

    Attributes:
        config: whose pass it is.
        part: of the pass, in which the next steps are.
        steps: those that ran so far.
    """

    def __init__(self, config: ModelConfig, fault: str | None) -> None:
        self.config, self.fault, self.part = config, fault, ""
        self.fault_note: Message | None = None  # of the next failure, once the fault has really changed a number
        self.steps: list[LedgerStep] = []

    def faulty(self, fault: str, wrong: int, right: int) -> int:
        """The number that a coding fault puts in place of the right one, if this is the fault to show."""
        if self.fault != fault or wrong == right:
            return right
        self.fault_note = Message.of("fault", f"{fault}: {wrong} for {right}", fault=fault, wrong=wrong, right=right)
        return wrong

    def tensor(self, symbol: str, **dims: int) -> Named:
        """Something that is not computed, such as weights."""
        return Named(symbol, tuple(dims), torch.zeros(*dims.values()))

    def run(
        self,
        name: str,
        inputs: tuple[Named, ...],
        compute: Callable[..., Tensor],
        out: tuple[str, tuple[str, ...]],
        *,
        latex: str,
        needs: tuple[str, int] | None = None,
        **values: object,
    ) -> Named:
        """Compute one step of the pass; `out` is the symbol and dimension names of what comes out.

        `latex` and `values` as in `LedgerStep`. `needs`: the dimension of the first input, and its size, without
        which a step of one input cannot work.
        """
        shapes = tuple(item.shape for item in inputs)
        step = (self.part, name, tuple(values.items()), latex, shapes)
        try:
            tensor = compute(*(item.tensor for item in inputs))
        except RuntimeError as error:
            clashes = find_clashes(shapes)
            if needs is not None:
                axis = inputs[0].dims.index(needs[0])
                clashes = (Clash(needs[0], (shapes[0].sizes[axis], needs[1]), (axis, None)),)
            kind, note = (self.fault, self.fault_note) if self.fault_note else explain(clashes, self.config)
            # Another configuration is no help against a coding fault.
            suggestions = () if self.fault_note else find_suggestions(self.config)
            self.steps.append(LedgerStep(*step, None, str(error), clashes, note, suggestions, kind))
            raise Stop from error
        result = Named(*out, tensor)
        self.steps.append(LedgerStep(*step, result.shape, note=broadcast_note(shapes, name)))
        return result

    def project(self, symbol: str, x: Named, expects: int, makes: int, feature: str = "features") -> Named:
        """A linear layer without bias: W has `makes` rows and `expects` columns."""
        weight = Named(f"W_{symbol}", (f"{feature}_out", x.dims[-1]), torch.zeros(makes, expects))
        out = (symbol, (*x.dims[:-1], feature))
        latex = rf"{tex(symbol)} = {x.tex}\,W_{{{tex(symbol)}}}^{{\top}}"
        return self.run("project", (x, weight), F.linear, out, latex=latex, symbol=symbol, given=x.symbol)

    def split(self, x: Named, heads: int, head_dim: int, heads_name: str = "heads") -> Named:
        """(batch, length, features) → (batch, heads, length, head size)."""
        batch, length = x.tensor.shape[:2]
        return self.run(
            "split",
            (x,),
            lambda t: t.view(batch, length, heads, head_dim).transpose(1, 2),
            (x.symbol, ("batch", heads_name, x.dims[1], "head_dim")),
            latex=rf"{x.tex} \to ({x.tex}_{{0}}, \dots, {x.tex}_{{{heads - 1}}})",
            needs=("features", heads * head_dim),
            symbol=x.symbol,
            code=f"view({batch}, {length}, {heads}, {head_dim})",
        )

    def merge(self, x: Named, name: str = "merge") -> Named:
        """(batch, heads, length, head size) → (batch, length, features)."""
        last = x.tensor.shape[1] - 1
        return self.run(
            name,
            (x,),
            lambda t: t.transpose(1, 2).flatten(2),
            (x.symbol, ("batch", x.dims[2], "features")),
            latex=rf"{x.tex} = \left[{x.tex}_{{0}} \,\Vert\, \cdots \,\Vert\, {x.tex}_{{{last}}}\right]",
            symbol=x.symbol,
        )

    def share(self, x: Named, num_heads: int) -> Named:
        """Repeat each K/V head for its group of query heads, where they share any."""
        if x.dims[1] != "kv_heads":
            return x
        group = num_heads // x.tensor.shape[1]
        return self.run(
            "share",
            (x,),
            lambda t: t.repeat_interleave(group, dim=1),
            (x.symbol, ("batch", "heads", *x.dims[2:])),
            latex=rf"{x.tex}_{{i}} \leftarrow {x.tex}_{{\lfloor i/{group} \rfloor}}",
            symbol=x.symbol,
            group=group,
        )

    def project_memory(
        self,
        memory: Named,
        owner: StackConfig,
        heads_name: str = "heads",
        then: Callable[[Named], Named] = lambda x: x,
    ) -> tuple[Named, Named]:
        """K and V of the memory, in the heads of whoever owns W_K and W_V; `then`: what becomes of each of them."""
        enc, dec = self.config.encoder, self.config.decoder
        expects = self.faulty("w_k_expects_decoder_width", dec.d_model, enc.d_model)
        return self.keys_and_values(memory, expects, owner, heads_name, then)

    def keys_and_values(
        self, x: Named, expects: int, owner: StackConfig, heads_name: str, then: Callable[[Named], Named]
    ) -> tuple[Named, Named]:
        """K and V of some positions. K is made to its end before V is begun, so that their steps read in order."""

        def make(letter: str) -> Named:
            made = self.project(letter, x, expects, owner.kv_width)
            return then(self.split(made, owner.num_kv_heads, owner.head_dim, heads_name))

        return make("K"), make("V")

    def attend(self, q: Named, k: Named, v: Named, stack: StackConfig) -> None:
        """Scores, softmax, mixing, merging and W_O, for one attention operation."""
        q_dim, kv_dim = q.dims[2], k.dims[2]
        keys = f"{{{k.tex}}}" if "'" in k.tex else k.tex  # a prime is raised already, and TeX raises nothing twice
        scores = self.run(
            "scores",
            (q, k),
            lambda q, k: q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5,
            ("scores", ("batch", "heads", q_dim, kv_dim)),
            latex=rf"S_i = {q.tex}_i\,{keys}_{{i}}^{{\top}} / \sqrt{{{q.tensor.shape[-1]}}}",
        )
        weights = self.run(
            "weights",
            (scores,),
            lambda t: t.softmax(-1),
            ("A", scores.dims),
            latex=r"A_i = \operatorname{softmax}(S_i)",
        )
        out = ("Z", ("batch", "heads", q_dim, "head_dim"))
        mixed = self.run("mix_values", (weights, v), torch.matmul, out, latex=rf"Z_i = A_i\,{v.tex}_{{i}}")
        expects = self.faulty("w_o_expects_d_model", stack.d_model, stack.total_width)
        self.project("O", self.merge(mixed), expects, stack.d_model, "width")
