"""Rows as CSV: what goes in comes out, and a file that was cut off is gone on with."""

import csv
import io
import math
from dataclasses import replace

import pytest
from made_up_rows import row

from attention.experiments.comparison import Comparison, RowFile, fixes, read_rows, settings_columns, to_csv

COMPARISON = Comparison("reverse", enc_heads=2, dec_heads=4, num_steps=3, width=16)
ARMS = fixes(COMPARISON)


def same(first, second) -> bool:
    """Rows are equal, NaN and NaN too."""
    return to_csv([first]) == to_csv([second])


def test_rows_come_back_as_they_were():
    rows = [row(COMPARISON, ARMS[0], 0, alignment_best=math.nan), row(COMPARISON, ARMS[5], 1, entropy=1 / 3)]
    back = read_rows(to_csv(rows))
    assert math.isnan(back[0].results.alignment_best)
    assert back[1].results == replace(rows[1].results, entropy=0.3333333)
    assert back[1].settings == rows[1].settings
    assert [found.arm for found in back] == ["equal_reproject", "extra"]
    assert (back[0].seed, back[1].seed) == (0, 1)


def test_every_setting_is_a_column():
    text = to_csv([row(COMPARISON, ARMS[0], 7)])
    (line,) = csv.DictReader(io.StringIO(text))
    assert (line["task"], line["seed"], line["num_steps"], line["num_examples"]) == ("reverse", "7", "3", "1000")
    assert (line["enc_num_heads"], line["dec_num_heads"], line["dec_head_dim"], line["kv"]) == (
        "2",
        "2",
        "8",
        "reproject",
    )
    assert (line["learning_rate"], line["warmup"], line["weight_decay"]) == ("0.005", "20", "0.01")


def test_runs_with_any_other_setting_are_other_runs():
    settings = COMPARISON.settings(ARMS[3], 0)
    others = [
        replace(settings, seed=1),
        replace(settings, num_steps=4),
        replace(settings, learning_rate=0.004),
        replace(settings, config=replace(settings.config, kv_variant="mix")),
        replace(settings, config=replace(settings.config, encoder=replace(settings.config.encoder, ffn_dim=5))),
    ]
    texts = [tuple(settings_columns(each, 1000).items()) for each in (settings, *others)]
    texts.append(tuple(settings_columns(settings, 999).items()))
    assert len(set(texts)) == len(texts)


def test_a_file_grows_row_by_row_and_is_read_again(tmp_path):
    path = tmp_path / "results.csv"
    rows = [row(COMPARISON, ARMS[0], seed) for seed in range(3)]
    for each in rows:
        RowFile(path).append(each)  # as if each time begun anew
    assert path.read_text() == to_csv(rows)
    again = RowFile(path)
    assert same(again.find(rows[1].settings), rows[1])
    assert again.find(row(COMPARISON, ARMS[1], 1).settings) is None


@pytest.mark.parametrize("kept", [1, 20, 200, -1])
def test_a_half_written_last_line_is_dropped_and_written_over(tmp_path, kept):
    path = tmp_path / "results.csv"
    rows = [row(COMPARISON, ARMS[0], seed) for seed in range(2)]
    first = to_csv(rows[:1])
    path.write_text(first + to_csv(rows)[len(first) :][:kept])
    file = RowFile(path)
    assert len(file.rows) == 1
    file.append(rows[1])
    assert path.read_text() == to_csv(rows)


def test_half_a_header_is_an_empty_file(tmp_path):
    path = tmp_path / "results.csv"
    path.write_text("arm,task,enc_d_")
    file = RowFile(path)
    file.append(row(COMPARISON, ARMS[0], 0))
    assert path.read_text() == to_csv([row(COMPARISON, ARMS[0], 0)])


def test_another_table_is_refused(tmp_path):
    path = tmp_path / "results.csv"
    path.write_text("name,value\na,1\n")
    with pytest.raises(ValueError, match="is not a table of this comparison: it has no column 'arm'"):
        RowFile(path)
    assert path.read_text() == "name,value\na,1\n"


def test_a_file_of_an_older_version_is_read_without_what_it_did_not_measure():
    lines = [line.split(",") for line in to_csv([row(COMPARISON, ARMS[0], 3)]).splitlines()]
    new = {"effective_maps", "contribution_sizes"}
    kept = [place for place, name in enumerate(lines[0]) if name not in new]
    (old,) = read_rows("".join(",".join(line[place] for place in kept) + "\n" for line in lines))
    assert math.isnan(old.results.effective_maps) and old.results.contribution_sizes == ()
    assert old.results.entropy == 0.6 and old.settings == row(COMPARISON, ARMS[0], 3).settings


def test_what_heads_add_comes_back():
    (back,) = read_rows(
        to_csv([row(COMPARISON, ARMS[0], 0, contribution_sizes=(1.0, 0.00994, 0.0), effective_maps=2.25)])
    )
    assert (back.results.contribution_sizes, back.results.effective_maps) == ((1.0, 0.0099, 0.0), 2.25)


def test_a_broken_line_in_the_middle_is_named():
    lines = to_csv([row(COMPARISON, ARMS[0], seed) for seed in range(3)]).splitlines(keepends=True)
    with pytest.raises(ValueError, match=r"line 3 of x\.csv has 3 columns"):
        read_rows(lines[0] + lines[1] + "a,b,c\n" + lines[3], "x.csv")
    with pytest.raises(ValueError, match=r"line 2 of x\.csv is broken: could not convert"):
        read_rows(lines[0] + lines[1].replace("0.9", "zero"), "x.csv")


def test_rows_of_a_version_with_other_columns_are_not_mixed(tmp_path):
    path = tmp_path / "results.csv"
    old = row(COMPARISON, ARMS[0], 0)
    path.write_text(to_csv([replace(old, settings={**old.settings, "optimiser": "SGD"})]))
    with pytest.raises(ValueError, match="has other columns than this version writes"):
        RowFile(path).append(old)
