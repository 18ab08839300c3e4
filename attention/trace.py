"""The shape ledger: one forward pass, step by step, with named dimensions, up to the first step that fails.

The steps run as plain PyTorch on small tensors, with none of this package's checks in front of them, so what a
ledger says of a failure is what PyTorch itself said. Layers of a stack have equal shapes; one of each kind is traced.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from attention.config import ModelConfig, StackConfig
from attention.cross_attention import KV_FEEDS
from attention.ledger import Named, Step, Trace
from attention.mends import broadcast_note, explain, find_clashes, find_mends

# Well-known coding faults. They follow from no valid configuration, so they are asked for by name.
FAULTS = {
    "indivisible": "W_Q makes one feature too many to be split into heads",
    "w_o_expects_d_model": "W_O is built for d_model inputs instead of heads × head size",
    "w_k_expects_decoder_width": "W_K and W_V are built for the decoder's width, but read the encoder's memory",
}


class _Stop(Exception):
    """A step failed; nothing after it can run."""


class _Ledger:
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
        self, part: str, name: str, formula: str, inputs: tuple[Named, ...], compute: Callable[..., Tensor], out: tuple
    ) -> Named:
        """Compute one step of the pass; `out` is the symbol and dimension names of what comes out."""
        shapes = tuple(item.shape for item in inputs)
        try:
            tensor = compute(*(item.tensor for item in inputs))
        except RuntimeError as error:
            clashes = find_clashes(shapes)
            note = self.fault_note or explain(clashes, self.config)
            # A coding fault is not mended by another configuration.
            mends = () if self.fault_note else find_mends(self.config)
            self.steps.append(Step(part, name, formula, shapes, None, str(error), clashes, note, mends))
            raise _Stop from error
        result = Named(*out, tensor)
        self.steps.append(Step(part, name, formula, shapes, result.shape, note=broadcast_note(shapes, name)))
        return result

    def project(self, part: str, name: str, x: Named, expects: int, makes: int, feature: str) -> Named:
        """A linear layer without bias: W has `makes` rows and `expects` columns."""
        weight = Named(f"W_{name}", (f"{feature} out", x.dims[-1]), torch.zeros(makes, expects))
        formula = f"{name} = {x.symbol} · W_{name}ᵀ"
        return self.run(part, f"project to {name}", formula, (x, weight), F.linear, (name, (*x.dims[:-1], feature)))

    def split(self, part: str, x: Named, heads: int, head_dim: int, heads_name: str = "heads") -> Named:
        """(batch, length, features) → (batch, heads, length, head size)."""
        batch, length = x.tensor.shape[:2]
        formula = f"view({batch}, {length}, {heads}, {head_dim}), swap heads and positions"
        dims = ("batch", heads_name, x.dims[1], "head size")
        return self.run(
            part,
            f"split {x.symbol} into heads",
            formula,
            (x,),
            lambda t: t.view(batch, length, heads, head_dim).transpose(1, 2),
            (x.symbol, dims),
        )

    def attend(self, part: str, q: Named, k: Named, v: Named, stack: StackConfig) -> None:
        """Scores, softmax, mixing, merging and W_O, for one attention operation."""
        q_dim, kv_dim = q.dims[2], k.dims[2]
        if k.dims[1] == "K/V heads":
            group = q.tensor.shape[1] // k.tensor.shape[1]
            k, v = (
                self.run(
                    part,
                    f"share {x.symbol} heads",
                    f"head i reads K/V head i // {group}",
                    (x,),
                    lambda t: t.repeat_interleave(group, dim=1),
                    (x.symbol, ("batch", "heads", *x.dims[2:])),
                )
                for x in (k, v)
            )
        scores = self.run(
            part,
            "scores",
            "Q · Kᵀ / √head size",
            (q, k),
            lambda q, k: q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5,
            ("scores", ("batch", "heads", q_dim, kv_dim)),
        )
        weights = self.run(part, "weights", "softmax over keys", (scores,), lambda t: t.softmax(-1), ("A", scores.dims))
        mixed = self.run(
            part, "mix values", "A · V", (weights, v), torch.matmul, ("Z", ("batch", "heads", q_dim, "head size"))
        )
        merged = self.run(
            part,
            "merge heads",
            "swap back, heads side by side",
            (mixed,),
            lambda t: t.transpose(1, 2).flatten(2),
            ("Z", ("batch", q_dim, "heads × head size")),
        )
        expects = self.faulty("w_o_expects_d_model", stack.d_model, stack.total_width)
        self.project(part, "O", merged, expects, stack.d_model, "width")

    def self_attention(self, part: str, x: Named, stack: StackConfig) -> None:
        features = self.faulty("indivisible", stack.total_width + 1, stack.total_width)
        kv_heads_name = "heads" if stack.num_kv_heads == stack.num_heads else "K/V heads"
        q = self.project(part, "Q", x, stack.d_model, features, "heads × head size")
        q = self.split(part, q, stack.num_heads, stack.head_dim)
        # Queries and keys are the same positions; as rows and columns of a map they need two names.
        x = x._replace(dims=("batch", f"{x.dims[1]} (keys)", "width"))
        k, v = (self.project(part, n, x, stack.d_model, stack.kv_width, "heads × head size") for n in "KV")
        k, v = (self.split(part, t, stack.num_kv_heads, stack.head_dim, kv_heads_name) for t in (k, v))
        self.attend(part, q, k, v, stack)

    def cross_attention(self, x: Named, memory: Named) -> None:
        part, enc, dec = "cross-attention", self.config.encoder, self.config.decoder
        # Whose heads K and V are split into is the whole difference between the ways of feeding the decoder.
        owner = enc if KV_FEEDS[self.config.kv].hands_over_heads else dec
        shares = owner is dec and dec.num_kv_heads != dec.num_heads
        q = self.project(part, "Q", x, dec.d_model, dec.total_width, "heads × head size")
        q = self.split(part, q, dec.num_heads, dec.head_dim)
        expects = self.faulty("w_k_expects_decoder_width", dec.d_model, enc.d_model)
        k, v = (self.project(part, n, memory, expects, owner.kv_width, "heads × head size") for n in "KV")
        names = "K/V heads" if shares else "heads"
        k, v = (self.split(part, t, owner.num_kv_heads, owner.head_dim, names) for t in (k, v))
        self.attend(part, q, k, v, dec)


def trace_shapes(config: ModelConfig, src_len: int = 6, tgt_len: int = 5, fault: str | None = None) -> Trace:
    """The shapes of one forward pass of a configuration, whether or not it works.

    Args:
        src_len, tgt_len: numbers of source and target tokens.
        fault: None, or the name of a well-known coding fault to put in (see `FAULTS`). A fault whose two numbers
            happen to agree in this configuration goes unnoticed, as it would in a program.

    Raises:
        ValueError: `fault` is not a known name. A configuration never raises; see `Trace.failure`.
    """
    if fault is not None and fault not in FAULTS:
        raise ValueError(f"fault ({fault!r}) must be one of {', '.join(FAULTS)}")
    enc, dec = config.encoder, config.decoder
    ledger = _Ledger(config, fault)
    source = Named("x", ("batch", "source", "width"), torch.zeros(1, src_len, enc.d_model))
    target = Named("y", ("batch", "target", "width"), torch.zeros(1, tgt_len, dec.d_model))
    try:
        ledger.self_attention("encoder self-attention", source, enc)
        ledger.self_attention("decoder self-attention", target, dec)
        ledger.cross_attention(target, source._replace(symbol="memory"))
    except _Stop:
        pass
    return Trace(tuple(ledger.steps))
