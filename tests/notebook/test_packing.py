"""Numbers on their way to the browser: what arrives is what is shown, in few bytes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from attention.notebook.packing import message, pack, read_message, unpack


def test_packing_is_little_endian_float32():
    array = np.arange(6, dtype=">f8").reshape(2, 3)[:, ::-1]  # other byte order, not contiguous
    np.testing.assert_array_equal(unpack(pack(array), (2, 3)), array)
    assert pack(np.float32([1.0])) == "AACAPw=="  # 00 00 80 3f


@given(arrays(np.float32, st.integers(1, 30), elements=st.floats(0, 1, width=32)), st.integers(0, 20))
def test_weights_arrive_with_the_three_decimals_that_python_writes(weights, masked):
    mask = np.random.default_rng(masked).random(masked) < 0.5
    texts, read, allowed = read_message(message({"rows": ["猫", "\u2028"]}, weights, mask))
    assert texts == {"rows": ["猫", "\u2028"]}
    assert [f"{value:.3f}" for value in read] == [f"{value:.3f}" for value in weights.tolist()]
    np.testing.assert_array_equal(allowed, mask)


def test_bytes_worked_out_by_hand():
    sent = message({}, np.float32([1.0, 0.256, 0.512, 0.001, 0.7685]), np.array([True, False, False, True]))
    head = b'{"cells":[5,4]}'
    # 1000 = 3·256 + 232, 256 = 1·256, 512 = 2·256, 1, and 768 (the float is below the tie) = 3·256
    low, high = bytes([232, 0, 0, 1, 0]), bytes([3 | 1 << 2 | 2 << 4, 3])
    assert sent == len(head).to_bytes(4, "little") + head + low + high + bytes([0b1001])


@pytest.mark.parametrize("count", range(1, 10))
def test_ten_bits_a_weight(count):
    sent = message({}, np.ones(count), None)
    assert len(sent) - 4 - len(f'{{"cells":[{count},0]}}') == count + -(-count // 4)
