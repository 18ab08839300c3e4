"""The index of the shipped models, beside the files that it is of."""

import json

import pytest

from attention.checkpoints import DIRECTORY, index
from attention.checkpoints.index import read_index, write_index
from attention.training.stored import CheckpointError, read_card

FILES = sorted(DIRECTORY.glob("*.safetensors"))


def test_the_index_says_what_the_files_say():
    cards = [read_card(path) for path in FILES]
    assert [entry.card.to_dict() for entry in read_index(DIRECTORY)] == [card.to_dict() for card in cards]
    entries = json.loads((DIRECTORY / "index.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)
    assert entries == [index.entry(card, DIRECTORY / f"{card.name}.safetensors") for card in cards]


def test_the_index_is_small_and_has_one_digest_for_each_task():
    assert (DIRECTORY / "index.json").stat().st_size < 2_000 * len(FILES)
    entries = json.loads((DIRECTORY / "index.json").read_text(encoding="utf-8"))
    pairs = {(entry["task"], entry["vocabularies"]) for entry in entries}
    assert len(pairs) == len({task for task, _ in pairs}) == len({digest for _, digest in pairs})


def test_what_cannot_be_read_is_left_out_and_said(tmp_path):
    for path in FILES[:2]:
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "broken.safetensors").write_bytes(b"")
    (reason,) = write_index(tmp_path)
    assert "broken.safetensors cannot be read" in reason
    assert [entry.card.name for entry in read_index(tmp_path)] == [path.stem for path in FILES[:2]]


@pytest.mark.parametrize("damage", ["absent", "cut", "text", "other"])
def test_a_damaged_index_is_one_sentence_that_says_how_to_mend_it(tmp_path, damage):
    whole = (DIRECTORY / "index.json").read_text(encoding="utf-8")
    if damage != "absent":
        (tmp_path / "index.json").write_text({"cut": whole[:-9], "text": "!", "other": "[7]"}[damage], encoding="utf-8")
    with pytest.raises(CheckpointError, match=r"index.json cannot be read .*attention.checkpoints.make"):
        read_index(tmp_path)
