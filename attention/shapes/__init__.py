"""The shape ledger: one forward pass step by step, where shapes break, what would fit, and what a model costs."""

from attention.shapes.forward_pass import trace_shapes
from attention.shapes.tracer import FAULTS

__all__ = ["FAULTS", "trace_shapes"]
