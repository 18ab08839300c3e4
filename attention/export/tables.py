"""Numbers as files that other programs read: CSV for spreadsheets, NPZ for NumPy."""

import csv
import io
import re
from collections.abc import Mapping, Sequence

import numpy as np


def as_csv(columns: Mapping[str, Sequence], about: str) -> bytes:
    """Columns of equal length, under their names; the first line, after a #, is `about`.

    Numbers are written so that nothing is lost, booleans as 0 and 1, what is undefined as nothing. UTF-8 with the mark
    by which spreadsheets know it.

    Raises:
        ValueError: the columns are of different lengths.
    """
    text = io.StringIO(newline="")
    text.write(f"# {' '.join(about.split())}\r\n")
    written = csv.writer(text)
    written.writerow(columns)
    written.writerows(zip(*(map(_cell, np.asarray(column).tolist()) for column in columns.values()), strict=True))
    return text.getvalue().encode("utf-8-sig")


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return int(value)
    return "" if value != value else value


def as_npz(arrays: Mapping[str, np.ndarray], about: str) -> bytes:
    """Arrays by name, and `about` as the array "settings"; none of them needs pickle."""
    file = io.BytesIO()
    named = {re.sub(r"\W+", "_", name).strip("_"): np.asarray(array) for name, array in arrays.items()}
    np.savez_compressed(file, **named, settings=np.array(about))
    return file.getvalue()


def head_columns(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Maps cell by cell, from `weights` and `allowed` (layers, heads, q_len, kv_len), `layers`, `queries` and `keys`.

    Heads and tokens count from 1; `layers` has the numbers of the layers.
    """
    layer, head, query, key = (index.ravel() for index in np.indices(arrays["weights"].shape))
    return {
        "layer": arrays["layers"][layer],
        "head": head + 1,
        "query_place": query + 1,
        "query": arrays["queries"][query],
        "key_place": key + 1,
        "key": arrays["keys"][key],
        "allowed": arrays["allowed"].ravel(),
        "weight": arrays["weights"].ravel(),
    }
