"""What is taken away from a picture, so that it can be rebuilt elsewhere: a script of plain PyTorch, numbers."""

from attention.export.script import Script, torch_script
from attention.export.weights import reached_weights

__all__ = ["Script", "reached_weights", "torch_script"]
