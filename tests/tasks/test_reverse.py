import string

import pytest
import torch

from attention.tasks import END, PAD, START, Refusal, get_task
from attention.tasks.reverse import LONGEST, SHORTEST, is_held_out

task = get_task("reverse")


def checksum(word: str) -> int:
    """The rule of the split, on letters instead of tensors."""
    return sum(place * (string.ascii_lowercase.index(letter) + 1) for place, letter in enumerate(word, start=1))


def test_the_answer_is_the_word_backwards():
    assert task.answers(tuple("stressed")) == (tuple("desserts"),)
    assert task.is_training_word(tuple("stressed")) is None


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


def test_batches_are_strings_and_their_reverse_none_of_them_held_out():
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
            assert checksum("".join(task.src_vocab.decode(letters))) % 23 != 0


def test_held_out_strings_are_fixed_and_pass_the_checksum():
    examples = task.held_out()
    assert examples == task.held_out()
    assert examples[:7] == task.held_out(limit=7)
    assert {len(example.source) for example in examples} == set(range(SHORTEST, LONGEST + 1))
    assert len(examples) == 2_000
    for example in examples:
        word = "".join(example.source)
        assert checksum(word) % 23 == 0
        assert example.targets == (tuple(word[::-1]),)
        assert example.alignments == (task.gold_alignment(example.source, example.targets[0]),)


def test_the_split_of_tensors_is_the_split_of_words():
    generator = torch.Generator().manual_seed(4)
    ids = torch.randint(3, 29, (997, 7), generator=generator)
    expected = [checksum("".join(task.src_vocab.decode(row))) % 23 == 0 for row in ids.tolist()]
    assert is_held_out(ids).tolist() == expected
    assert 0.02 < sum(expected) / len(expected) < 0.07


def test_batches_follow_from_the_generator_and_leave_the_global_one_alone():
    before = torch.get_rng_state()
    one, other = (task.sample_batch(torch.Generator().manual_seed(5), 13) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))
    assert torch.equal(before, torch.get_rng_state())
