"""The shape ledger: one forward pass, step by step, with named dimensions, up to the first step that fails.

The steps run as plain PyTorch on small tensors (`tracer.py`); how cross-attention gets its keys and values, each K/V
way traces in its own file. Layers of a stack have equal shapes; one of each kind is traced.
"""

from functools import partial

from attention.config import ModelConfig, StackConfig
from attention.cross_attention import KV_WAYS
from attention.shapes.ledger import Named, Trace
from attention.shapes.tracer import FAULTS, Stop, Tracer


def trace_shapes(config: ModelConfig, src_len: int = 6, tgt_len: int = 5, fault: str | None = None) -> Trace:
    """The shapes of one forward pass of a configuration, whether or not it works.

    Args:
        src_len, tgt_len: numbers of source and target tokens.
        fault: None, or the name of a well-known coding fault to put in (see `FAULTS`). A fault whose two numbers
            happen to agree in this configuration goes unnoticed, as it would in a program.

    Raises:
        ValueError: `fault` is not a known name, or a negative number of tokens. A configuration never raises; see
            `Trace.failure`.
    """
    if src_len < 0 or tgt_len < 0:
        raise ValueError(f"src_len ({src_len}) and tgt_len ({tgt_len}) must not be negative")
    if fault is not None and fault not in FAULTS:
        raise ValueError(f"fault ({fault!r}) must be one of {', '.join(FAULTS)}")
    tracer = Tracer(config, fault)
    source = tracer.tensor("x", batch=1, source=src_len, width=config.encoder.d_model)
    target = tracer.tensor("y", batch=1, target=tgt_len, width=config.decoder.d_model)
    try:
        _self_attention(tracer, "encoder", source, config.encoder)
        _self_attention(tracer, "decoder", target, config.decoder)
        _cross_attention(tracer, target, source._replace(symbol="memory"))
    except Stop:
        pass
    return Trace(tuple(tracer.steps))


def _self_attention(tracer: Tracer, part: str, x: Named, stack: StackConfig) -> None:
    tracer.part = part
    features = tracer.faulty("indivisible", stack.total_width + 1, stack.total_width)
    kv_heads_name = "heads" if stack.num_kv_heads == stack.num_heads else "kv_heads"
    q = tracer.split(tracer.project("Q", x, stack.d_model, features), stack.num_heads, stack.head_dim)
    share = partial(tracer.share, num_heads=stack.num_heads)
    k, v = tracer.keys_and_values(_as_keys(x), stack.d_model, stack, kv_heads_name, share)
    tracer.attend(q, k, v, stack)


def _cross_attention(tracer: Tracer, y: Named, memory: Named) -> None:
    tracer.part, dec = "cross", tracer.config.decoder
    q = tracer.split(tracer.project("Q", y, dec.d_model, dec.total_width), dec.num_heads, dec.head_dim)
    k, v = KV_WAYS[tracer.config.kv].trace(tracer, memory, _as_keys(y))
    tracer.attend(q, k, v, dec)


def _as_keys(x: Named) -> Named:
    """Queries and keys may be the same positions; as rows and columns of a map they need two names."""
    return x._replace(dims=("batch", f"{x.dims[1]}_keys", "width"))
