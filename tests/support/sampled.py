"""Long lists of parameters: plain `pytest` runs some of them, evenly spread, and `pytest -m slow` the rest."""

from collections.abc import Sequence
from typing import Any

import pytest


def mostly_slow(values: Sequence[Any], keep: int) -> list:
    """All values (or `pytest.param`s) as parameters, all but `keep` of them marked slow."""
    params = [value if hasattr(value, "marks") else pytest.param(value) for value in values]
    kept = {index * len(params) // keep for index in range(keep)}
    return [
        param if number in kept else pytest.param(*param.values, id=param.id, marks=(*param.marks, pytest.mark.slow))
        for number, param in enumerate(params)
    ]
