"""Long lists of parameters, thinned out evenly: what plain `pytest` runs of a test, what `.ci/run`, what a release.

    @pytest.mark.sample(8)  # of all its parameters plain `pytest` takes eight; the others are slow

Of the slow parameters of a test `.ci/run` takes every fourth, at most ten, and in a browser one. The others are
exhaustive.
"""

from collections import defaultdict

import pytest

EVERY, AT_MOST = 4, 10


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    with_parameters = defaultdict(list)
    for item in items:
        if hasattr(item, "callspec"):
            with_parameters[item.nodeid.split("[")[0]].append(item)
    for tests in with_parameters.values():
        if sample := tests[0].get_closest_marker("sample"):
            mark_all_but(sample.args[0], tests, "slow")
        slow = [item for item in tests if item.get_closest_marker("slow") and not item.get_closest_marker("exhaustive")]
        in_browser = any(item.get_closest_marker("browser") for item in slow)
        mark_all_but(1 if in_browser else min(-(-len(slow) // EVERY), AT_MOST), slow, "exhaustive")


def mark_all_but(number: int, tests: list[pytest.Item], marker: str) -> None:
    """All but so many, which are evenly spread and begin with the first."""
    kept = {index * len(tests) // number for index in range(number)}
    for place, test in enumerate(tests):
        if place not in kept:
            test.add_marker(marker)
