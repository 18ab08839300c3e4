"""The Python side of the head grid: what is sent to the browser, and what comes back."""

import json

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.parts.head_grid import Section, Tile, Words, _read_pick, grid_data, pack, unpack

ROWS = ("<s>", "a<b>c", "$x$")
COLS = ("🙂", "注意", "1", "1", ":cat:")
SHAPE = (3, 5)


def page():
    import numpy as np
    import streamlit as st

    from pages.parts.head_grid import Section, Tile, head_grid

    rows, cols = ("<s>", "a<b>c", "$x$"), ("🙂", "注意", "1", "1", ":cat:")
    weights = np.random.default_rng(7).dirichlet(np.ones(5), size=(2, 3)).astype("float32")
    allowed = np.ones((3, 5), dtype=bool)
    allowed[1] = False
    picked = head_grid(
        [
            Section("layer 1", 0, (Tile(0, "head 1", (("entropy", "0.42"), ("distance", "–")), weights[0]),)),
            Section("layer 2", 1, (Tile(6, "head 7", (), weights[1]),)),
        ],
        row_labels=rows,
        col_labels=cols,
        allowed=allowed,
        selected=(1, 6),
        key="grid",
    )
    st.text(f"picked {picked}")


def tile(head=0, weights=None):
    return Tile(head, f"head {head + 1}", (), np.full(SHAPE, 0.2) if weights is None else weights)


def build(sections, rows=ROWS, cols=COLS, **options):
    return grid_data(sections, row_labels=rows, col_labels=cols, row_title="query", col_title="key", **options)


def test_what_the_page_sends():
    at = AppTest.from_function(page).run()
    assert not at.exception
    assert at.text[0].value == "picked None"
    data = json.loads(at.get("bidi_component")[0].proto.json)
    assert data["rows"] == list(ROWS)
    assert data["cols"] == list(COLS)
    assert data["rowTitle"] == "query (decoder)"
    assert data["colTitle"] == "key (encoder)"
    assert data["selected"] == [1, 6]
    assert data["sections"] == [
        {
            "title": "layer 1",
            "layer": 0,
            "tiles": [{"head": 0, "title": "head 1", "captions": [["entropy", "0.42"], ["distance", "–"]]}],
        },
        {"title": "layer 2", "layer": 1, "tiles": [{"head": 6, "title": "head 7", "captions": []}]},
    ]
    expected = np.random.default_rng(7).dirichlet(np.ones(5), size=(2, 3)).astype("float32")
    np.testing.assert_array_equal(unpack(data["weights"], (2, *SHAPE)), expected)
    np.testing.assert_array_equal(unpack(data["allowed"], SHAPE, "u1"), [[1] * 5, [0] * 5, [1] * 5])
    for table in data["tables"].values():
        assert unpack(table, (256, 3), "u1").shape == (256, 3)


def test_weights_keep_their_order_over_sections():
    arrays = [np.full(SHAPE, value, dtype=np.float32) for value in (0.1, 0.2, 0.3)]
    data = build([Section("", 0, (tile(0, arrays[0]), tile(1, arrays[1]))), Section("", 1, (tile(0, arrays[2]),))])
    np.testing.assert_array_equal(unpack(data["weights"], (3, *SHAPE)), arrays)


def test_packing_is_little_endian_float32():
    array = np.arange(6, dtype=">f8").reshape(2, 3)[:, ::-1]  # other byte order, not contiguous
    np.testing.assert_array_equal(unpack(pack(array), (2, 3)), array)
    assert pack(np.float32([1.0])) == "AACAPw=="  # 00 00 80 3f


def test_words_can_be_replaced():
    data = build([Section("", 0, (tile(),))], words=Words(hint="zeig auf eine Zelle"))
    assert data["words"]["hint"] == "zeig auf eine Zelle"
    assert data["words"]["no_keys"] == "no keys"


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
        ([Section("", 0, (tile(),))], {"rows": ()}, "at least one row and one column, got 0 row"),
    ],
)
def test_what_does_not_fit_is_refused(sections, options, message):
    with pytest.raises(ValueError, match=message):
        build(sections, **options)


@pytest.mark.parametrize(
    "state",
    [
        None,
        {},
        {"selected": None},
        {"selected": "1,2"},
        {"selected": [1, 2]},
        {"selected": {"layer": 1}},
        {"selected": {"layer": "1", "head": 2}},
        {"selected": {"layer": True, "head": 2}},
        {"selected": {"layer": 1.5, "head": 2}},
    ],
)
def test_a_malformed_pick_is_no_pick(state):
    assert _read_pick(state) is None


def test_a_pick_is_read():
    assert _read_pick({"selected": {"layer": 1, "head": 2, "at": 3}}) == (1, 2)
