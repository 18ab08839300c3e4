"""What a chart shows as a table: columns of equal length by name, one row for each cell or point."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

Columns = dict[str, np.ndarray]
Numbers = Callable[[], Columns]  # made when somebody asks


def map_cells(row_labels: Sequence[str], col_labels: Sequence[str], **values: np.ndarray) -> Columns:
    """A map cell by cell: both tokens with their places, from 1, and what is known of the cell: (q_len, kv_len)."""
    row, col = (index.ravel() for index in np.indices((len(row_labels), len(col_labels))))
    return {
        "query_place": row + 1,
        "query": np.array([str(label) for label in row_labels])[row],
        "key_place": col + 1,
        "key": np.array([str(label) for label in col_labels])[col],
        **{name: np.ravel(value) for name, value in values.items()},
    }


def pair_cells(values: np.ndarray) -> Columns:
    """A square of heads, counted from 1, pair by pair."""
    first, second = (index.ravel() + 1 for index in np.indices(values.shape))
    return {"head": first, "other_head": second, "value": np.ravel(values)}


def line_points(lines: Mapping[str, tuple[Sequence, Sequence]], x_title: str, y_title: str) -> Columns:
    """Lines point by point: which line, and both numbers under the titles of their axes."""
    counts = [len(x) for x, _ in lines.values()]
    x, y = (np.concatenate([np.asarray(line[axis]) for line in lines.values()]) for axis in (0, 1))
    y_title = y_title if y_title not in ("line", x_title) else f"{y_title} (y)"
    return {"line": np.repeat(np.array(list(lines)), counts), x_title: x, y_title: y}
