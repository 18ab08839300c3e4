"""How words and phrases are dealt out: made again, and judged by rules of its own."""

from collections import defaultdict
from pathlib import Path
from string import ascii_lowercase

import pytest
import snowballstemmer

from attention.tasks import get_task, parts
from attention.tasks.pinyin import families as families_of_phrases
from attention.tasks.pinyin.phrases import phrases
from attention.tasks.spelling import families as families_of_words
from attention.tasks.spelling.lexicon import all_entries

TASKS = Path(parts.__file__).parent


@pytest.fixture(scope="module")
def entries():
    return all_entries()


@pytest.fixture(scope="module")
def dealt():
    return {name: parts.Parts.read(TASKS / name) for name in ("spelling", "pinyin")}


@pytest.mark.slow
def test_the_files_are_what_the_command_makes(tmp_path, entries):
    for name, families in (
        ("spelling", families_of_words.families(entries)),
        ("pinyin", families_of_phrases.families(phrases().readings)),
    ):
        parts.write(parts.deal_out(families), tmp_path)
        for part in parts.KEPT_APART:
            file = f"{part}.txt"
            assert (tmp_path / file).read_bytes() == (TASKS / name / file).read_bytes()


@pytest.mark.parametrize("letters", ["kn", pytest.param(ascii_lowercase, marks=pytest.mark.slow)])
def test_no_stem_and_no_sound_is_in_two_parts(entries, dealt, letters):
    """Among words that begin with these letters: a stem keeps its first one, and a sound may have another."""
    stem = snowballstemmer.stemmer("english").stemWord
    found = defaultdict(set)
    for word, entry in entries.items():
        if word[0] not in letters:
            continue
        for shared in (stem(word), *map(" ".join, entry.pronunciations)):
            found[shared].add(dealt["spelling"].part_of(word))
    assert len(found) > 1_000 and all(len(some) == 1 for some in found.values())
    for some in (("walk", "walks", "walking"), ("knight", "night", "nights")):
        assert len(set(map(dealt["spelling"].part_of, some))) == 1


def test_no_phrase_is_inside_one_of_another_part(dealt):
    known = phrases().readings.keys()
    for phrase in known:
        inside = {phrase[i:j] for i in range(len(phrase)) for j in range(i + 2, len(phrase) + 1)} & known
        assert {dealt["pinyin"].part_of(one) for one in inside} == {dealt["pinyin"].part_of(phrase)}


def test_families_of_words_by_hand(entries):
    some = {
        word: entries[word] for word in ("walk", "walks", "knight", "night", "nights", "box", "read", "red", "reads")
    }
    assert sorted(families_of_words.families(some)) == [
        ["box"],
        ["knight", "night", "nights"],  # by sound, then by stem
        ["read", "reads", "red"],
        ["walk", "walks"],
    ]


def test_families_of_phrases_by_hand():
    assert sorted(families_of_phrases.families(["银行", "银行家", "行走", "家行走", "银"])) == [
        ["家行走", "行走"],
        ["银"],  # a single character is no phrase
        ["银行", "银行家"],
    ]


def test_a_family_stays_together_and_its_first_member_decides():
    families = [[f"{letter}{number}" for number in range(3)] for letter in "abcdefghijklmnopqrstuvwxyz"]
    found = parts.deal_out(families)
    for part, texts in found.items():
        letters = {text[0] for text in texts}
        assert sorted(texts) == sorted(f"{letter}{number}" for letter in letters for number in range(3))
        assert all(parts.part_of_number(parts.text_hash(f"{letter}0")) == part for letter in letters)
    assert sum(map(len, found.values())) > 0


def test_numbers_are_dealt_out_evenly():
    found = [parts.part_of_number(number) for number in range(46)]
    assert [found.count(part) for part in ("training", "validation", "test")] == [42, 2, 2]


def test_words_of_test_that_resemble_training(entries, dealt):
    """Judged the slow way: is the one inside the other?"""
    task = get_task("spelling")
    examples = task.held_out()
    resembling = task.resemble_training(examples)
    assert (sum(resembling), len(examples)) == (4_494, 5_249)
    trained = [word for word in entries if dealt["spelling"].part_of(word) == "training" and len(word) >= 4]
    for example, found in list(zip(examples, resembling, strict=True))[::250]:
        word = "".join(example.source)
        assert found == any(word in other or other in word for other in trained)
    assert get_task("reverse").resemble_training([]) is None
