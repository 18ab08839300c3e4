"""Dates as people write them, to ISO."""

from attention.tasks.dates.task import Dates

__all__ = ["Dates"]
