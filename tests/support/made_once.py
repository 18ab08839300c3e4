"""What several test files need and nobody changes, made once for all tests of a worker."""

import pytest

from attention.experiments.silent_failures import SILENT_FAILURES, SilentFailure


@pytest.fixture(scope="session")
def failures() -> dict[str, SilentFailure]:
    """Every silent failure, run."""
    return {name: run() for name, run in SILENT_FAILURES.items()}
