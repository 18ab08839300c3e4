"""The numbers of a silent failure, for tests to look up."""

from attention.experiments.silent_failures import SilentFailure


def numbers(failure: SilentFailure) -> dict:
    """(right, wrong) by name, or by (name, at) where one label serves several."""
    return {(n.name, n.at) if n.at else n.name: (n.right, n.wrong) for n in failure.numbers}
