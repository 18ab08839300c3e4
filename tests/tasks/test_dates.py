"""Dates: forms worked out by hand, the calendar of Python's own `datetime`, and its `strptime` as a second reader."""

import time
from datetime import date, datetime

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from told import told

from attention.metrics.alignment import diagonal_baseline
from attention.tasks import END, PAD, START, Refusal, get_task
from attention.tasks.dates.written_dates import FIRST_DAY, LAST_DAY, SPACE, read_date, spell, understand

task = get_task("dates")

days = st.dates(FIRST_DAY, LAST_DAY)
choices = st.lists(st.integers(0, 2**31 - 1), min_size=7, max_size=7)


def iso(text: str) -> str:
    (answer,) = task.answers(task.read(text))
    return "".join(answer)


def refusal(text: str) -> str:
    with pytest.raises(Refusal) as caught:
        task.read(text)
    sentence = told("refusal", caught.value.message)
    assert sentence == str(caught.value)
    sentence.encode()  # can be sent to a browser: no half surrogate pairs
    assert sentence.endswith(".")
    assert len(sentence) < 600
    return sentence


def decoded(row: list[int], vocab) -> str:
    return "".join(vocab.decode_answer(row))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3rd of Nov 94", "1994-11-03"),
        ("the 3rd of November 1994", "1994-11-03"),
        ("Thursday, 3 November, 1994", "1994-11-03"),
        ("NOV. 3, 1994", "1994-11-03"),
        ("sept 1st '29", "2029-09-01"),
        ("sep 1 30", "1930-09-01"),
        ("1-jan-00", "2000-01-01"),
        ("31. may 99", "1999-05-31"),
        ("1994 nov 3", "1994-11-03"),
        ("1994/11/3", "1994-11-03"),
        ("1994.03.11", "1994-03-11"),
        ("23/11/1994", "1994-11-23"),
        ("11/23/1994", "1994-11-23"),
        ("5.5.1994", "1994-05-05"),
        ("29 Feb 2000", "2000-02-29"),
    ],
)
def test_reads_what_people_write(text, expected):
    assert iso(text) == expected


def test_case_white_space_and_curly_marks_do_not_matter():
    assert task.read("  3RD \u00a0 of\tNov\n94 ") == task.read("3rd of nov 94")
    assert task.read("3 nov ’94") == task.read("3 nov '94")
    assert task.read("3–nov–94") == task.read("3-nov-94")
    assert task.read("3 nov 94")[1] == SPACE
    assert task.join_source(task.read("3 nov 94")) == "3 nov 94"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "Nothing was typed: type a date, such as 3rd of Nov 94"),
        (" \n", "Only white space was given"),
        ("knight", "'knight' is not a date this model reads: type day, month and year"),
        ("nov 1994", "'nov 1994' is not a date"),
        ("3/11/1994", "'3/11/1994' can be 3 November or 11 March: write the month's name, or the year first."),
        ("23/11/94", "'23/11/94' is not clear, as its year has no four digits"),
        ("30 feb 1994", "'30 feb 1994' is not a day of the calendar: February 1994 has days 1 to 28."),
        ("29 feb 1900", "February 1900 has days 1 to 28"),  # no leap year, as 100 divides it and 400 does not
        ("0 may 1994", "May 1994 has days 1 to 31"),
        ("2000-13-01", "there is no month 13, only 1 to 12"),
        ("13/13/2000", "there is no month 13"),
        ("0/0/2000", "there is no month 0"),
        ("3 nov 1850", "type a year from 1900 to 2099"),
        ("3 nov 994", "is not a date this model reads"),
        ("٣ nov 1994", "is not a date this model reads"),  # a digit, but not one of ours
        ("<s>", "'<s>' is not a date"),
        ("$x$ **b**", "is not a date"),
        ("ab\ud83d", "is not a date"),
        ("👩‍👩‍👧", "is not a date"),
        ("1" * 200, "200 characters are too long for a date"),
    ],
)
def test_says_in_one_sentence_what_cannot_be_read(text, says):
    assert says in refusal(text)


def test_a_long_text_is_refused_at_once():
    for text in ("1" * 10**7, " " * 10**7, "3 nov" + " " * 10**7 + "94", "the " * 10**6):
        began = time.thread_time()
        refusal(text)
        assert time.thread_time() - began < 1.0


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text):
    try:
        assert understand(task.read(text)) is not None
    except Refusal:
        assert task.read("".join(task.nearest(text)).replace(SPACE, " "))


@given(days, choices)
def test_every_way_to_write_a_day_reads_back_as_that_day(day, numbers):
    tokens = spell(day, numbers)
    written = read_date(task.join_source(tokens))
    assert written.date == day
    assert written.tokens == tokens
    assert len(tokens) <= task.max_src_len
    assert set(tokens) <= set(task.src_vocab.symbols)


@given(days, choices)
def test_the_order_of_numbers_is_never_a_matter_of_taste(day, numbers):
    """What is written in numbers alone with the year last is not another day when day and month are swapped."""
    text = task.join_source(spell(day, numbers)).replace("/", "-").replace(".", "-")
    if any(char.isalpha() for char in text) or text[4] == "-":
        return
    readings = set()
    for form in ("%d-%m-%Y", "%m-%d-%Y"):
        try:
            readings.add(datetime.strptime(text, form).date())
        except ValueError:
            continue
    assert readings == {day}


@given(days, choices)
def test_gold_points_at_the_digits_and_the_name(day, numbers):
    tokens = spell(day, numbers)
    target = tuple(day.isoformat())
    gold = task.gold_alignment(tokens, target)
    assert len(gold) == len(target)
    for char, makers in zip(target, gold, strict=True):
        written = {tokens[position] for position in makers}
        if char == "-":
            assert not makers
        elif len(makers) == 1 and char != "0":
            assert written == {char}
    for start, stop in ((0, 4), (5, 7), (8, 10)):
        positions = frozenset().union(*gold[start:stop])
        assert sorted(positions) == list(range(min(positions), max(positions) + 1))  # one stretch of the text


def test_gold_by_hand():
    gold = task.gold_alignment(task.read("3rd of Nov 94"), tuple("1994-11-03"))
    year, name = {11, 12}, {7, 8, 9}
    assert gold == tuple(map(frozenset, (year, year, {11}, {12}, (), name, name, (), {0}, {0})))
    gold = task.gold_alignment(task.read("11/23/1994"), tuple("1994-11-23"))
    assert gold == tuple(map(frozenset, ({6}, {7}, {8}, {9}, (), {0}, {1}, (), {3}, {4})))
    assert task.gold_alignment(task.read("3rd of Nov 94"), tuple("1994-11-04")) is None
    assert task.gold_alignment(tuple("knight"), tuple("1994-11-03")) is None


def test_the_diagonal_finds_little():
    examples = task.held_out(200)
    scores = [diagonal_baseline(example.alignments[0], len(example.source)) for example in examples]
    assert 0.2 < sum(scores) / len(scores) < 0.4


@pytest.mark.parametrize(("part", "rest"), [("test", 0), ("validation", 1)])
def test_a_day_kept_apart_is_trained_on_in_no_form(part, rest):
    kept = {"".join(example.targets[0]) for example in task.examples_of(part)}
    assert {date.fromisoformat(day).toordinal() % 23 for day in kept} == {rest}
    assert {date.fromisoformat(day).year for day in kept} == set(range(1900, 2100))
    generator = torch.Generator().manual_seed(1)
    trained = set()
    for _ in range(40):
        trained |= {decoded(row, task.tgt_vocab) for row in task.sample_batch(generator, 64).tgt_out.tolist()}
    assert len(trained) > 2_000
    assert not kept & trained
    assert not any(date.fromisoformat(day).toordinal() % 23 == rest for day in trained)
    assert {date.fromisoformat(day).year for day in trained} == set(range(1900, 2100))


def test_the_part_of_a_day_is_that_of_all_its_forms():
    for part in ("test", "validation"):
        assert {task.part_of(example.source) for example in task.examples_of(part, 50)} == {part}
    assert date(1994, 11, 3).toordinal() % 23 == 9
    assert {task.part_of(task.read(text)) for text in ("3rd of Nov 94", "1994-11-03")} == {"training"}
    assert task.part_of(tuple("knight")) is None


@pytest.mark.parametrize("part", ["test", "validation"])
def test_texts_kept_apart_are_fixed_different_and_right(part):
    examples = task.examples_of(part)
    assert examples == task.examples_of(part)
    assert examples[:7] == task.examples_of(part, limit=7)
    assert len({example.source for example in examples}) == len(examples) == 2_000
    for example in examples:
        assert example.targets == task.answers(example.source)
        assert example.alignments == (task.gold_alignment(example.source, example.targets[0]),)


def test_batches_hold_dates_and_their_iso_form():
    src_ids, tgt_in, tgt_out = task.sample_batch(torch.Generator().manual_seed(11), 67)
    assert len(src_ids) == len(tgt_in) == len(tgt_out) == 67
    for source, given_, wanted in zip(src_ids.tolist(), tgt_in.tolist(), tgt_out.tolist(), strict=True):
        tokens = task.src_vocab.decode_answer(source)
        (answer,) = task.answers(tokens)
        ids = task.tgt_vocab.encode(answer)
        assert source == [*task.src_vocab.encode(tokens), END, *[PAD] * (len(source) - len(tokens) - 1)]
        assert given_ == [START, *ids]
        assert wanted == [*ids, END]


def test_batches_follow_from_the_generator_and_leave_the_global_one_alone():
    before = torch.get_rng_state()
    one, other = (task.sample_batch(torch.Generator().manual_seed(5), 13) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))
    assert torch.equal(before, torch.get_rng_state())


def test_examples_are_read_and_the_first_is_held_apart_from_none():
    assert [iso(text) for text in task.examples[:2]] == ["1994-11-03", "1994-11-03"]
    assert all(task.answers(task.read(text)) for text in task.examples)
