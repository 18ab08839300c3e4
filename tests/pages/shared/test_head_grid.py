"""The Python side of the head grid: what is sent to the browser, and what comes back."""

import numpy as np
import pytest
from grid_sent import expect_weights, grid_of
from streamlit.testing.v1 import AppTest

from attention.notebook.packing import unpack
from pages.shared.head_grid import _pair, _sent
from pages.shared.texts import catalogue


def page():
    import numpy as np
    import streamlit as st

    from attention.notebook import Section, Tile
    from pages.shared.head_grid import head_grid

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
        row_title="query (decoder)",
        col_title="key (encoder)",
        allowed=allowed,
        selected=(1, 6),
        key="grid",
    )
    st.text(f"picked {picked}")


def test_what_the_page_sends():
    at = AppTest.from_function(page).run()
    assert not at.exception
    assert at.text[0].value == "picked None"
    data = grid_of(at)
    assert data["rows"] == ["<s>", "a<b>c", "$x$"]
    assert data["cols"] == ["🙂", "注意", "1", "1", ":cat:"]
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
    expect_weights(at, expected)
    assert data["allowed"].tolist() == [True] * 5 + [False] * 5 + [True] * 5
    assert data["words"] == catalogue()["head_grid"]
    for table in data["tables"].values():
        assert unpack(table, (256, 3), "u1").shape == (256, 3)


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
    assert _pair(_sent(state), "layer", "head") is None


def test_a_pick_is_read():
    sent = _sent({"selected": {"layer": 1, "head": 2, "row": 0, "col": None, "at": 3}})
    assert _pair(sent, "layer", "head") == (1, 2) and _pair(sent, "row", "col") is None
