"""English spelling to sound."""

from attention.tasks.spelling.task import Spelling

__all__ = ["Spelling"]
