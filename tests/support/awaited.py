"""What a coroutine gives, for tests that are no coroutines themselves."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")


def awaited(coroutine: Coroutine[object, object, Result]) -> Result:
    """Run it to its end in a thread of its own: playwright leaves a loop running in that of the tests."""
    with ThreadPoolExecutor(1) as elsewhere:
        return elsewhere.submit(asyncio.run, coroutine).result()
