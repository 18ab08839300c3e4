"""What holds for every silent failure: it is complete, repeatable, read-only, and leaves nothing behind."""

import numpy as np
import pytest
import torch

from attention.experiments.silent_failures import SILENT_FAILURES


@pytest.fixture(scope="module", params=SILENT_FAILURES)
def twice(request, failures):
    before = torch.get_rng_state()
    first, second = failures[request.param], SILENT_FAILURES[request.param]()
    assert torch.equal(torch.get_rng_state(), before)
    assert first.name == request.param
    return first, second


def arrays(failure):
    maps = [array for drawn in failure.maps for array in (drawn.values, drawn.allowed) if array is not None]
    return maps + [values for _, values in (failure.curve.lines if failure.curve else ())]


def test_it_comes_out_the_same_each_time(twice):
    first, second = twice
    assert first.numbers == second.numbers and first.facts == second.facts
    for one, other in zip(arrays(first), arrays(second), strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_damage_is_a_number(twice):
    failure, _ = twice
    assert failure.numbers[0].right != failure.numbers[0].wrong
    for damage in failure.numbers:
        assert np.isfinite([damage.right, damage.wrong]).all()
        if damage.unit == "share":
            assert 0 <= damage.right <= 1 and 0 <= damage.wrong <= 1
    assert failure.wrong_code != failure.right_code


def test_there_is_a_picture_that_nobody_can_change(twice):
    failure, _ = twice
    assert failure.maps or failure.curve
    assert not any(array.flags.writeable for array in arrays(failure))
    for drawn in failure.maps:
        assert drawn.values.shape == (len(drawn.rows), len(drawn.columns))
        if drawn.kind == "attention":
            has_key = np.ones(len(drawn.rows), bool) if drawn.allowed is None else drawn.allowed.any(1)
            np.testing.assert_allclose(drawn.values.sum(1), has_key, atol=1e-5)
