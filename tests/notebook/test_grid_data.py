"""What the head grid is sent, in the app and in a notebook."""

import numpy as np
import pytest
from grid_sent import read_grid

from attention.notebook import Section, Tile, grid_message

ROWS = ("<s>", "a<b>c", "$x$")
COLS = ("🙂", "注意", "1", "1", ":cat:")
SHAPE = (3, 5)


def tile(head=0, weights=None):
    return Tile(head, f"head {head + 1}", (), np.full(SHAPE, 0.2) if weights is None else weights)


def build(sections, rows=ROWS, cols=COLS, **options):
    axes = {"row_labels": rows, "col_labels": cols, "row_title": "query", "col_title": "key"}
    return read_grid(grid_message(sections, words={}, **axes, **options))


def test_blanks_get_a_sign():
    data = build([Section("", 0, [tile()])], rows=("", " ", "a "), cols=("\u00a0", "\u3000", "\u200b", "a b", "b"))
    assert data["rows"] == ["∅", "␣", "a␣"]
    assert data["cols"] == ["⍽", "⍽", "⍽", "a b", "b"]


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_a_mask_that_is_not_boolean_is_refused_by_its_dtype(dtype):
    """A mask to be added to the scores is 0 where a query may attend: read as bool it would say the opposite."""
    with pytest.raises(ValueError, match=f"allowed is {dtype}, but must be boolean"):
        build([Section("", 0, [tile()])], allowed=np.zeros(SHAPE, dtype=dtype))


def test_weights_keep_their_order_over_sections():
    arrays = [np.full(SHAPE, value, dtype=np.float32) for value in (0.1, 0.2, 0.3)]
    data = build([Section("", 0, (tile(0, arrays[0]), tile(1, arrays[1]))), Section("", 1, (tile(0, arrays[2]),))])
    np.testing.assert_allclose(data["weights"], arrays, rtol=0, atol=1e-7)


def test_one_mask_for_all_heads_is_sent_once():
    mask = np.tri(*SHAPE, dtype=bool)
    for allowed in (mask, np.stack([mask] * 2)):
        data = build([Section("", 0, [tile(), tile(1)])], allowed=allowed)
        np.testing.assert_array_equal(data["allowed"], mask.ravel())
    each = np.stack([mask, ~mask])
    data = build([Section("", 0, [tile(), tile(1)])], allowed=each)
    np.testing.assert_array_equal(data["allowed"], each.ravel())
    assert build([Section("", 0, [tile()])])["allowed"].size == 0


@pytest.mark.parametrize(
    ("sections", "options", "message"),
    [
        ([], {}, "no heads to draw"),
        ([Section("", 0, ())], {}, "no heads to draw"),
        ([Section("", 0, (tile(2), tile(2)))], {}, "layer 0, head 2 is given twice"),
        ([Section("", 4, (tile(1, np.zeros((5, 3))),))], {}, r"layer 4, head 1 have shape \(5, 3\).*\(3, 5\)"),
        ([Section("", 0, (tile(0, np.zeros(15)),))], {}, r"shape \(15,\)"),
        ([Section("", 0, (tile(0, np.full(SHAPE, 1.5)),))], {}, "between 0 and 1, got 1.5 to 1.5"),
        ([Section("", 0, (tile(0, np.full(SHAPE, -0.5)),))], {}, "between 0 and 1, got -0.5"),
        ([Section("", 0, (tile(0, np.full(SHAPE, np.nan)),))], {}, "between 0 and 1, got nan"),
        ([Section("", 0, (tile(),))], {"allowed": np.ones((5, 3), dtype=bool)}, r"allowed has shape \(5, 3\)"),
        (
            [Section("", 0, (tile(), tile(1)))],
            {"numbers": ()},
            "numbers are for each cell of one head, got 0 and 2 heads",
        ),
        ([Section("", 0, (tile(),))], {"numbers": ["0.20"] * 5}, "got 5 and 1 heads of"),
        ([Section("", 0, (tile(),))], {"rows": ()}, "at least one row and one column, got 0 row"),
    ],
)
def test_what_does_not_fit_is_refused(sections, options, message):
    with pytest.raises(ValueError, match=message):
        build(sections, **options)
