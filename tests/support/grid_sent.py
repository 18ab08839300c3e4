"""What the head grid of a page was sent, read back."""

import numpy as np
from app_test import components
from streamlit.testing.v1 import AppTest

from attention.notebook.packing import read_message

LARGE = "large_head"
SHOWN = 0.5001e-3  # weights are sent with the three decimals that are shown


def grid_of(app: AppTest) -> dict:
    """Its texts, and its `weights` (heads, rows, cols) and `allowed`, flat as they were sent."""
    (component,) = [one for one in components(app) if one.key != LARGE]
    return read_grid(component.proto.bytes)


def large_of(app: AppTest) -> dict:
    """The same of the head that is drawn large."""
    (component,) = [one for one in components(app) if one.key == LARGE]
    return read_grid(component.proto.bytes)


def read_grid(message: bytes) -> dict:
    texts, weights, allowed = read_message(message)
    heads = sum(len(section["tiles"]) for section in texts["sections"])
    return {**texts, "weights": weights.reshape(heads, len(texts["rows"]), len(texts["cols"])), "allowed": allowed}


def expect_weights(app: AppTest, expected: np.ndarray) -> None:
    np.testing.assert_allclose(grid_of(app)["weights"], expected, rtol=0, atol=SHOWN)
