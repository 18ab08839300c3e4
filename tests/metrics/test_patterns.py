import numpy as np
import pytest

from attention.metrics import end_weight, peakedness
from attention.metrics.alignment import alignment_over_rows
from attention.metrics.patterns import CROSS_PATTERNS, SELF_PATTERNS, patterns

LENGTH = 7
POSITION = np.arange(LENGTH)


def pointing_at(columns, kv_len=LENGTH):
    """A map with 0.9 on one column of each row and the rest spread."""
    weights = np.full((len(columns), kv_len), 0.1 / (kv_len - 1))
    weights[np.arange(len(columns)), columns] = 0.9
    return weights


def named(weights, names=SELF_PATTERNS, allowed=None, expected=POSITION, backwards=POSITION[::-1]):
    weights = weights[None]
    allowed = np.ones(weights.shape, dtype=bool) if allowed is None else allowed
    return patterns(weights, allowed, np.arange(weights.shape[1]), expected, backwards, names)[0]


@pytest.mark.parametrize(
    ("name", "columns", "share"),
    [
        ("previous", np.maximum(POSITION - 1, 0), 6 / 7),
        ("next", np.minimum(POSITION + 1, 6), 6 / 7),
        ("same", POSITION, 1),
        ("first", 0 * POSITION, 1),
        ("end", 0 * POSITION + 6, 1),
        ("anti-diagonal", 6 - POSITION, 1),
    ],
)
def test_each_pattern_is_named(name, columns, share):
    pattern = named(pointing_at(columns))
    assert pattern.name == name
    assert pattern.share == pattern.shares[name] == pytest.approx(share)


def test_a_uniform_head_is_broad_and_nothing_else():
    pattern = named(np.full((LENGTH, LENGTH), 1 / LENGTH))
    assert (pattern.name, pattern.share) == ("broad", 1)
    assert all(share == 0 for name, share in pattern.shares.items() if name != "broad")


def test_shares_by_hand():
    """Rows point at 0 0 2 2 0 5 3: row 0 also at itself, rows 2 and 5 at themselves, rows 1 and 3 one back."""
    pattern = named(pointing_at([0, 0, 2, 2, 0, 5, 3]))
    expected = {"previous": 2, "same": 3, "next": 0, "first": 3, "end": 0, "anti-diagonal": 0, "broad": 0}
    # Row 3 of 7 has its own column on the anti-diagonal, and points at 2.
    assert {name: round(7 * share) for name, share in pattern.shares.items()} == expected
    assert pattern.name is None and pattern.share == pytest.approx(3 / 7)


def test_the_diagonal_of_a_cross_map_is_not_the_same_index():
    """Four queries over seven keys: the diagonal steps by two, and ends with the last key."""
    expected = np.array([0.0, 2.5, 5.0, 6.0])
    pattern = named(pointing_at([0, 3, 5, 6]), CROSS_PATTERNS, expected=expected, backwards=np.array([5.0, 2.5, 0, 6]))
    assert (pattern.name, pattern.share) == ("diagonal", 1)
    assert pattern.shares["same"] == 1 / 4
    assert named(pointing_at([0, 2, 5, 6]), CROSS_PATTERNS, expected=expected, backwards=expected).share == 1


def test_all_weight_in_the_last_column_is_named_as_its_mirror_image_is():
    last = np.eye(5)[np.full(5, 4)]
    assert named(last, expected=np.arange(5), backwards=np.arange(5)[::-1]).name == "end"
    assert named(last[:, ::-1], expected=np.arange(5), backwards=np.arange(5)[::-1]).name == "first"


def test_the_end_token_is_where_it_stands_and_not_in_the_padding():
    """Two words, of three and of seven letters with their end tokens, in one batch of ten columns."""
    end = np.repeat([3, 7], [4, 8])
    weights = pointing_at(end, 10)[None]
    allowed = np.arange(10) <= end[:, None]
    at = np.r_[:4, :8]
    found = patterns(weights, allowed, at, at, end - at, end=end)[0]
    assert (found.name, found.share) == ("end", 1)
    assert patterns(weights, allowed, at, at, end - at, end=0 * end - 1)[0].shares["end"] == 0
    np.testing.assert_allclose(end_weight(weights, allowed, end), (4 * 0.9 / 0.9333 + 8 * 0.9 / 0.9778) / 12, atol=1e-4)
    assert np.isnan(end_weight(weights, allowed, 0 * end - 1)).all()
    assert np.isnan(end_weight(weights, allowed & (np.arange(10) != end[:, None]), end)).all()


def test_rows_without_a_choice_do_not_count():
    allowed = np.tril(np.ones((1, LENGTH, LENGTH), dtype=bool))
    pattern = named(np.where(allowed[0], pointing_at(np.maximum(POSITION - 1, 0)), 0), allowed=allowed)
    assert (pattern.name, pattern.share) == ("previous", 1)  # row 0 is not one of the seven that miss
    nothing = named(np.eye(LENGTH), allowed=np.eye(LENGTH, dtype=bool)[None])
    assert nothing.name is None and np.isnan(nothing.share)


def test_peakedness():
    weights = np.array([[[0.5, 0.5, 0], [0.2, 0.7, 0.1], [0, 0, 1]], [[1, 0, 0], [1, 0, 0], [0, 0, 1]]])
    allowed = np.array([[1, 1, 0], [1, 1, 1], [0, 0, 1]], dtype=bool)
    np.testing.assert_allclose(peakedness(weights, allowed), [0.6, 1.0])
    assert np.isnan(peakedness(weights, np.eye(3, dtype=bool))).all()


def test_alignment_over_a_batch_weighs_every_token_the_same():
    """Three tokens of one example and one of another; the third has no gold, the fourth nothing that is aligned."""
    golds = [(frozenset({0}), frozenset({1, 2}), frozenset({2})), (frozenset({1}), frozenset()), None, (frozenset(),)]
    columns = [0, 2, 0, 3, 1, 0, 3, 0, 0, 0, 0]
    example = np.repeat([0, 1, 2, 3], [4, 3, 2, 2])
    scores = alignment_over_rows(pointing_at(columns, 5)[None], example, golds, [4, 2, 3, 3])
    assert scores.num_aligned == 4
    assert scores.heads.tolist() == [3 / 4]
    # Diagonal: 0, 1 (1.5 goes down), 3 of four letters, and 0 of two; by index: 0, 1, 2, and 0.
    assert (scores.diagonal, scores.same_index) == (2 / 4, 3 / 4)
    nothing = alignment_over_rows(pointing_at([0, 0], 5)[None], np.zeros(2, int), [None], [4])
    assert nothing.num_aligned == 0 and np.isnan([nothing.heads[0], nothing.diagonal]).all()
