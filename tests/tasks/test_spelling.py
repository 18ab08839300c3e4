"""The spelling task, compared with the lexicon's own tables and with alignments worked out by hand."""

import re
import sqlite3
import threading
from importlib.resources import files

import pytest
import torch

from attention.tasks import END, PAD, START, get_task
from attention.tasks.spelling.lexicon import all_entries, look_up, look_up_all, parse_alignment
from attention.tasks.spelling.task import _training_rows

task = get_task("spelling")


@pytest.fixture(scope="module")
def database():
    connection = sqlite3.connect(str(files("gruut_lang_en") / "lexicon.db"))
    yield connection
    connection.close()


@pytest.fixture(scope="module")
def entries():
    return all_entries()


@pytest.fixture(scope="module")
def words(database):
    """Every word that the task is about, found with a regular expression instead of SQL."""
    return {w for (w,) in database.execute("SELECT word FROM word_phonemes") if re.fullmatch("[a-z]{2,16}", w)}


def positions(*sets):
    return tuple(map(frozenset, sets))


@pytest.mark.parametrize(
    ("word", "sounds", "gold"),
    [
        ("knight", "n aɪ t", positions({0, 1}, {2}, {5})),
        ("box", "b ɑ k s", positions({0}, {1}, {2}, {2})),
        ("extra", "ɛ k s t ɹ ə", positions({0}, {1}, {1}, {2}, {3}, {4})),
        ("phone", "f oʊ n", positions({0, 1}, {2}, {3})),
        ("zebra", "z i b ɹ ə", positions({0}, {1}, {2}, {3}, {4})),
    ],
)
def test_words_by_hand(word, sounds, gold):
    tokens = task.read(word)
    assert tuple(sounds.split()) in task.answers(tokens)
    assert task.gold_alignment(tokens, tuple(sounds.split())) == gold


def test_several_pronunciations_all_count_and_gold_belongs_to_one_of_them():
    read = task.read("read")
    assert task.answers(read) == (("ɹ", "i", "d"), ("ɹ", "ɛ", "d"))
    assert task.gold_alignment(read, ("ɹ", "ɛ", "d")) == positions({0}, {2}, {3})
    assert task.gold_alignment(read, ("ɹ", "i", "d")) is None


def test_silent_letters_make_nothing():
    assert parse_alignment("t|h}θ r}ɹ o|u|g|h}ˈu") == (("θ", "ɹ", "u"), positions({0, 1}, {2}, {3, 4, 5, 6}))
    assert parse_alignment("a}ˈɑ a}_ x}k|s") == (("ɑ", "k", "s"), positions({0}, {2}, {2}))


def test_unknown_words():
    nonsense = task.read("qzxjq")
    assert task.answers(nonsense) == ()
    assert task.part_of(nonsense) is None
    assert task.gold_alignment(nonsense, ("k",)) is None
    assert task.gold_alignment(task.read("knight"), ("k", "n")) is None


def test_looking_up_takes_no_pattern():
    assert look_up("%") is None
    assert look_up("' OR 1=1 --") is None
    assert look_up("a") is None  # one letter: not a word that the task reads
    assert look_up("a's") is None


def test_entries_are_the_words_of_the_table(entries, words):
    assert entries.keys() == words
    assert len(words) == 117_650
    for word in sorted(words)[::1_999]:
        assert entries[word] == look_up(word)
    with_several = {word for word, entry in entries.items() if len(entry.pronunciations) > 1}
    assert len(with_several) == 3_849


def test_gold_is_known_for_nearly_all_words(entries):
    num_gold = 0
    for word, entry in entries.items():
        for sounds in entry.pronunciations:
            gold = entry.gold(sounds)
            if gold is not None:
                num_gold += 1
                assert len(gold) == len(sounds)
                assert all(made_by and max(made_by) < len(word) for made_by in gold)
    assert num_gold == 117_631


def test_sounds_are_those_of_the_lexicon(database, words):
    found = set()
    for word, phonemes in database.execute("SELECT word, phonemes FROM word_phonemes"):
        if word in words:
            found.update(re.sub("[ˈˌ]", "", phonemes).split(" "))
    assert set(task.tgt_vocab.symbols) == found
    assert (len(task.src_vocab), len(task.tgt_vocab)) == (29, 43)


def test_words_kept_apart_are_never_trained_on(words):
    test, validation = ({"".join(e.source) for e in task.examples_of(part)} for part in ("test", "validation"))
    trained = {"".join(task.src_vocab.decode_answer(row)) for row in _training_rows().sources.tolist()}
    assert test | validation | trained == words
    assert len(test) + len(validation) + len(trained) == len(words)
    assert (len(test), len(validation)) == (5_249, 5_113)
    for part, some in (("test", test), ("validation", validation), ("training", trained)):
        assert {task.part_of(tuple(word)) for word in sorted(some)[:50]} == {part}
    assert task.part_of(tuple("knight")) == "training"


def test_many_words_are_looked_up_as_one_by_one():
    some = ("read", "knight", "qzxjq", "x" * 400, "' OR 1=1 --")
    assert look_up_all(some) == {word: look_up(word) for word in ("read", "knight")}
    assert look_up_all(()) == {}


def test_held_out_words_come_in_a_fixed_order_that_says_nothing():
    first = task.held_out(limit=500)
    assert first == task.held_out()[:500]
    initials = [example.source[0] for example in first]
    assert len(set(initials[:50])) > 10
    for example in first[:50]:
        assert example.targets == task.answers(example.source)
        golds = tuple(task.gold_alignment(example.source, target) for target in example.targets)
        assert example.alignments == golds


def test_batches_hold_training_words_with_one_of_their_pronunciations():
    batch = task.sample_batch(torch.Generator().manual_seed(11), 67)
    src_ids, tgt_in, tgt_out = batch
    assert src_ids.shape[0] == tgt_in.shape[0] == tgt_out.shape[0] == 67
    assert src_ids.dtype == tgt_in.dtype == tgt_out.dtype == torch.int64
    for source, given, wanted in zip(src_ids.tolist(), tgt_in.tolist(), tgt_out.tolist(), strict=True):
        word = task.src_vocab.decode_answer(source)
        sounds = task.tgt_vocab.decode_answer(wanted)
        assert task.part_of(word) == "training"
        assert sounds in task.answers(word)
        ids = task.tgt_vocab.encode(sounds)
        padding = [PAD] * (len(wanted) - len(ids) - 1)
        assert given == [START, *ids, *padding]
        assert wanted == [*ids, END, *padding]
    assert (tgt_out[:, -1] != PAD).any()  # no column of padding only


def test_batches_follow_from_the_generator_and_leave_the_global_one_alone():
    before = torch.get_rng_state()
    one, other = (task.sample_batch(torch.Generator().manual_seed(5), 13) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))
    assert torch.equal(before, torch.get_rng_state())


def test_every_length_is_trained_as_often_as_it_occurs(words):
    generator = torch.Generator().manual_seed(3)
    lengths = torch.tensor([task.sample_batch(generator, 1).src_ids.shape[1] - 1 for _ in range(4_000)])
    expected = sum(map(len, words)) / len(words)
    assert abs(lengths.double().mean() - expected) < 4 * lengths.double().std() / 4_000**0.5


def test_many_threads_at_once():
    found, failed = [], []

    def ask(word):
        try:
            found.append((word, task.answers(tuple(word)), len(task.held_out(limit=100))))
        except Exception as error:  # whatever it is, the test must see it
            failed.append(error)

    look_up.cache_clear()
    threads = [threading.Thread(target=ask, args=(word,)) for word in ("knight", "box", "extra", "read") * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert len(found) == 16
    assert all(answers and count == 100 for _, answers, count in found)
