"""Chinese phrases to pinyin."""

from attention.tasks.pinyin.task import Pinyin

__all__ = ["Pinyin"]
