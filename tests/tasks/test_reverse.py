import string
from collections import Counter

import pytest
import torch

from attention.tasks import END, PAD, START, Refusal, get_task
from attention.tasks.reverse import LONGEST, SHORTEST, checksums

task = get_task("reverse")


def checksum(word: str) -> int:
    """The rule of the split, on letters instead of tensors."""
    return sum(place * (string.ascii_lowercase.index(letter) + 1) for place, letter in enumerate(word, start=1))


def test_the_answer_is_the_word_backwards():
    assert task.answers(tuple("stressed")) == (tuple("desserts"),)


def test_gold_is_the_anti_diagonal():
    gold = task.gold_alignment(tuple("abc"), tuple("cba"))
    assert gold == (frozenset({2}), frozenset({1}), frozenset({0}))
    assert task.gold_alignment(tuple("abc"), tuple("abc")) is None


def test_reads_the_lengths_it_trains_on():
    assert task.read(" Ab ") == ("a", "b")
    assert len(task.read("a" * LONGEST)) == LONGEST
    with pytest.raises(Refusal, match="13 letters is too long: this model reads 2 to 12 letters"):
        task.read("a" * 13)
    generator = torch.Generator().manual_seed(2)
    lengths = set((task.sample_batch(generator, 997).src_ids != PAD).sum(1).sub(1).tolist())
    assert (min(lengths), max(lengths)) == (SHORTEST, LONGEST)


def test_batches_are_strings_and_their_reverse_all_of_the_training_side():
    generator = torch.Generator().manual_seed(1)
    for _ in range(20):
        src_ids, tgt_in, tgt_out = (ids.tolist() for ids in task.sample_batch(generator, 61))
        assert len(src_ids) == len(tgt_in) == len(tgt_out) == 61
        for source, given, wanted in zip(src_ids, tgt_in, tgt_out, strict=True):
            letters = source[: source.index(END)]
            assert PAD not in letters
            assert wanted[: len(letters) + 1] == [*letters[::-1], END]
            assert given[: len(letters) + 1] == [START, *letters[::-1]]
            assert not any(source[len(letters) + 1 :] + given[len(letters) + 1 :] + wanted[len(letters) + 1 :])
            assert checksum("".join(task.src_vocab.decode(letters))) % 23 > 1


@pytest.mark.parametrize(("part", "rest"), [("test", 0), ("validation", 1)])
def test_strings_kept_apart_are_fixed_different_and_pass_the_checksum(part, rest):
    examples = task.examples_of(part)
    assert examples == task.examples_of(part)
    assert examples[:7] == task.examples_of(part, limit=7)
    assert len({example.source for example in examples}) == len(examples) == 2_000
    for example in examples:
        word = "".join(example.source)
        assert checksum(word) % 23 == rest
        assert task.part_of(example.source) == part
        assert example.targets == (tuple(word[::-1]),)
        assert example.alignments == (task.gold_alignment(example.source, example.targets[0]),)


@pytest.mark.parametrize(("part", "rest"), [("test", 0), ("validation", 1)])
def test_lengths_are_as_equal_as_there_are_strings(part, rest):
    """All strings of two letters, as many of each other length as is left, give or take one."""
    counts = Counter(len(example.source) for example in task.examples_of(part))
    pairs = [a + b for a in string.ascii_lowercase for b in string.ascii_lowercase]
    assert counts.pop(2) == sum(checksum(pair) % 23 == rest for pair in pairs) < 2_000 / 11
    assert set(counts) == set(range(SHORTEST + 1, LONGEST + 1))
    assert max(counts.values()) - min(counts.values()) <= 1
    some = Counter(len(example.source) for example in task.examples_of(part, 300))
    assert min(some[length] for length in counts) > 10  # the first few have all lengths too


def test_held_out_is_the_test():
    assert task.held_out(5) == task.examples_of("test", 5)


def test_checksums_of_tensors_are_those_of_words():
    generator = torch.Generator().manual_seed(4)
    ids = torch.randint(3, 29, (997, 7), generator=generator)
    words = ["".join(task.src_vocab.decode(row)) for row in ids.tolist()]
    assert checksums(ids).tolist() == list(map(checksum, words))
    parts = Counter(task.part_of(tuple(word)) for word in words)
    assert all(0.02 < parts[part] / len(words) < 0.07 for part in ("test", "validation"))


def test_batches_follow_from_the_generator_and_leave_the_global_one_alone():
    before = torch.get_rng_state()
    one, other = (task.sample_batch(torch.Generator().manual_seed(5), 13) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))
    assert torch.equal(before, torch.get_rng_state())
