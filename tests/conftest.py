"""What all tests share: one thread, how often Hypothesis tries, and the fixtures of tests/support."""

import os
import sys

import pytest
import torch
from hypothesis import HealthCheck, settings

pytest_plugins = ["made_once", "real_browser", "sampled"]

# The tensors here are tiny. On more threads they are slower, many times so on a busy machine, and sums may come out in
# another order.
torch.set_num_threads(1)

# No deadline: how long an example takes says how busy the machine is.
without_a_clock = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "print_blob": True}
settings.register_profile("few", max_examples=15, **without_a_clock)
settings.register_profile("ci", max_examples=500, **without_a_clock)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "few"))


@pytest.fixture(autouse=True)
def main_module():
    """Streamlit puts each script that it runs in the place of `__main__`, where processes started later look for it."""
    before = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = before


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors, as some tests wait for a browser or a worker; at most four."""
    return min((os.cpu_count() or 1) + 1, 4)
