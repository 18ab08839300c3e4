"""Numbers that are taken away, read back by the programs they are for."""

import csv
import io

import numpy as np
import pandas as pd
import pytest

from attention.export.tables import as_csv, as_npz

COLUMNS = {
    "query": np.array(["a", 'b"c', "d,e", "<s>", "猫"]),
    "allowed": np.array([True, False, True, True, False]),
    "weight": np.array([1 / 3, 1e-9, np.nan, 0.0, 1.0], dtype=np.float32),
}


def test_a_spreadsheet_file_gives_every_number_back():
    whole = as_csv(COLUMNS, "task=spelling\nlayer=2")
    assert whole.startswith(b"\xef\xbb\xbf# task=spelling layer=2\r\n")
    read = pd.read_csv(io.BytesIO(whole), skiprows=1, encoding="utf-8-sig")
    assert list(read) == list(COLUMNS)
    assert read["query"].tolist() == COLUMNS["query"].tolist()
    assert read["allowed"].tolist() == [1, 0, 1, 1, 0]
    np.testing.assert_array_equal(read["weight"].astype(np.float32), COLUMNS["weight"])


def test_what_is_undefined_is_an_empty_cell():
    rows = list(csv.reader(io.StringIO(as_csv(COLUMNS, "").decode("utf-8-sig"))))
    assert rows[4][2] == ""


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(ValueError):
        as_csv({"a": [1], "b": [1, 2]}, "")


def test_arrays_come_back_without_pickle():
    whole = as_npz({**COLUMNS, "heads / layer": np.eye(3)}, "task=spelling")
    read = np.load(io.BytesIO(whole), allow_pickle=False)
    assert str(read["settings"]) == "task=spelling"
    np.testing.assert_array_equal(read["heads_layer"], np.eye(3))
    assert all(np.array_equal(read[name], column, equal_nan=name == "weight") for name, column in COLUMNS.items())
