"""Random walks, always the same ones: `python -m tests.journeys.walk --seed` takes others."""

import pytest

from tests.journeys.walk import walk


def test_forty_actions_over_all_pages():
    walk(seed=0, actions=40)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_four_hundred_more(seed):
    walk(seed, actions=100)
