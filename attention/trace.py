"""The shape ledger: one forward pass, step by step, with named dimensions, up to the first step that fails.

The steps run as plain PyTorch on small tensors (`plain_steps.py`). Layers of a stack have equal shapes; one of each
kind is traced.
"""

import torch

from attention.config import ModelConfig, StackConfig
from attention.ledger import Named, Trace
from attention.plain_steps import FAULTS, PlainSteps, Stop
from attention.trace_feeds import FEED_STEPS

__all__ = ["FAULTS", "trace_shapes"]


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
    ledger = PlainSteps(config, fault)
    source = Named("x", ("batch", "source", "width"), torch.zeros(1, src_len, enc.d_model))
    target = Named("y", ("batch", "target", "width"), torch.zeros(1, tgt_len, dec.d_model))
    try:
        _self_attention(ledger, "encoder self-attention", source, enc)
        _self_attention(ledger, "decoder self-attention", target, dec)
        _cross_attention(ledger, target, source._replace(symbol="memory"))
    except Stop:
        pass
    return Trace(tuple(ledger.steps))


def _self_attention(ledger: PlainSteps, part: str, x: Named, stack: StackConfig) -> None:
    features = ledger.faulty("indivisible", stack.total_width + 1, stack.total_width)
    kv_heads_name = "heads" if stack.num_kv_heads == stack.num_heads else "K/V heads"
    q = ledger.project(part, "Q", x, stack.d_model, features)
    q = ledger.split(part, q, stack.num_heads, stack.head_dim)
    # Queries and keys are the same positions; as rows and columns of a map they need two names.
    x = x._replace(dims=("batch", f"{x.dims[1]} (keys)", "width"))
    k, v = (ledger.project(part, letter, x, stack.d_model, stack.kv_width) for letter in "KV")
    k, v = (ledger.split(part, t, stack.num_kv_heads, stack.head_dim, kv_heads_name) for t in (k, v))
    ledger.attend(part, q, k, v, stack)


def _cross_attention(ledger: PlainSteps, y: Named, memory: Named) -> None:
    part, dec = "cross-attention", ledger.config.decoder
    q = ledger.project(part, "Q", y, dec.d_model, dec.total_width)
    q = ledger.split(part, q, dec.num_heads, dec.head_dim)
    own = y._replace(dims=("batch", "target (keys)", "width"))
    k, v = FEED_STEPS[ledger.config.kv](ledger, memory, own)
    ledger.attend(part, q, k, v, dec)
