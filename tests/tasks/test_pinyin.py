"""Pinyin, compared with the package's own dictionary as its own code reads it."""

import subprocess
import sys
import threading
import time
import unicodedata

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from pypinyin.phrases_dict import phrases_dict  # the package's way in, which the task does not take
from told import told

from attention.tasks import END, PAD, START, Refusal, get_task
from attention.tasks.pinyin.phrases import LONGEST, RAREST, SHORTEST, phrases
from attention.tasks.pinyin.task import _training_rows

task = get_task("pinyin")


def read_aloud(text: str) -> str:
    return " / ".join(map(task.join_target, task.answers(task.read(text))))


def refusal(text: str) -> str:
    with pytest.raises(Refusal) as caught:
        task.read(text)
    sentence = told("refusal", caught.value.message)
    assert sentence == str(caught.value)
    sentence.encode()  # can be sent to a browser: no half surrogate pairs
    assert sentence.endswith(".")
    assert len(sentence) < 600
    return sentence


@pytest.mark.parametrize(
    ("text", "syllables"),
    [
        ("银行", "yín háng"),
        ("行走", "xíng zǒu"),
        ("音乐", "yīn yuè"),
        ("快乐", "kuài lè"),
        ("长城", "cháng chéng"),
        ("长大", "zhǎng dà"),
        ("朝阳", "zhāo yáng / cháo yáng"),  # read in two ways: both count as right
    ],
)
def test_the_neighbour_decides(text, syllables):
    assert read_aloud(text) == syllables


def test_examples_show_characters_that_are_read_in_several_ways():
    for text in task.examples:
        assert task.answers(task.read(text))
        assert any(char in phrases().several_readings for char in text)


def test_phrases_are_those_of_the_dictionary():
    found = phrases().readings
    occurs: dict[str, int] = {}
    lengths = range(SHORTEST, LONGEST + 1)
    for phrase in phrases_dict:
        if len(phrase) in lengths:
            for char in set(phrase):
                occurs[char] = occurs.get(char, 0) + 1
    expected = {p for p in phrases_dict if len(p) in lengths and min(occurs[char] for char in p) >= RAREST}
    assert found.keys() == expected
    assert len(found) == 45_163
    assert (len(task.src_vocab), len(task.tgt_vocab)) == (3_624, 1_194)
    for phrase, readings in found.items():
        assert readings[0] == tuple(options[0] for options in phrases_dict[phrase])
        assert all(len(reading) == len(phrase) for reading in readings)
    for phrase in ("银行", "朝阳"):
        assert {char for reading in found[phrase] for char in reading} == set().union(*phrases_dict[phrase])


def test_vocabularies_hold_single_characters_and_syllables_with_a_tone():
    for char in task.src_vocab.symbols:
        assert unicodedata.name(char).startswith("CJK UNIFIED IDEOGRAPH")
    tones = {"\u0304", "\u0301", "\u030c", "\u0300"}
    for syllable in task.tgt_vocab.symbols:
        assert syllable == unicodedata.normalize("NFC", syllable)
        marks = [char for char in unicodedata.normalize("NFD", syllable) if char in tones]
        assert len(marks) <= 1  # none: the light tone


def test_characters_with_several_readings():
    readings: dict[str, set[str]] = {}
    for phrase, options in phrases().readings.items():
        for reading in options:
            for char, syllable in zip(phrase, reading, strict=True):
                readings.setdefault(char, set()).add(syllable)
    assert phrases().several_readings == {char for char, spoken in readings.items() if len(spoken) > 1}
    assert len(phrases().several_readings) == 563
    assert readings["乐"] >= {"lè", "yuè"}


def test_every_character_has_a_symbol():
    assert len(task.src_vocab.symbols) == 3_621


def test_white_space_does_not_matter():
    assert task.read(" 银 行\n") == task.read("银\u3000行") == ("银", "行")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "Nothing was typed: type a phrase of 2 to 8 Chinese characters."),
        (" \u3000", "Only white space was given"),
        ("knight", "'k', 'n', 'i' and others are not characters this model knows: type a phrase of 2 to 8"),
        ("银行!", "'!' is not a character this model knows"),
        ("銀行", "'銀' is not a character this model knows"),  # the traditional form of 银
        ("龘龘", "'龘' is not a character this model knows"),
        ("银", "'银' is a single character: this model reads 2 to 8"),
        ("银行" * 5, "10 characters are too many: this model reads 2 to 8 Chinese characters; shorten"),
        ("<s>", "'<', 's' and '>' are not characters"),
        ("银\ud83d", "U+D83D is not a character"),
        ("银\u200b行", "U+200B is not a character"),
        ("👩‍👩‍👧", "'👩‍👩‍👧' is not a character"),
        ("银行" * 10**6, "2,000,000 characters are too many"),
    ],
)
def test_says_in_one_sentence_what_cannot_be_read(text, says):
    assert says in refusal(text)


def test_a_long_text_is_refused_at_once():
    for text in ("银" * 10**7, "x" * 10**7, "\u0301" * 10**7, "银" + " " * 10**7 + "行"):
        began = time.thread_time()
        refusal(text)
        assert time.thread_time() - began < 1.0


@given(st.text(max_size=20))
def test_any_text_is_read_or_refused(text):
    try:
        assert set(task.read(text)) <= set(task.src_vocab.symbols)
    except Refusal:
        assert task.read("".join(task.nearest(text)))


def test_the_nearest_text_keeps_what_can_be_read():
    assert task.nearest("《银行》!") == ("银", "行")
    assert task.nearest("knight") == tuple(task.examples[0])


def test_gold_is_the_same_position():
    tokens = task.read("银行")
    assert task.gold_alignment(tokens, ("yín", "háng")) == (frozenset({0}), frozenset({1}))
    assert task.gold_alignment(tokens, ("yín", "xíng")) is None


def test_unknown_phrases():
    tokens = task.read("行银")
    assert task.answers(tokens) == ()
    assert task.part_of(tokens) is None
    assert task.gold_alignment(tokens, ("xíng", "yín")) is None


def test_phrases_kept_apart_are_never_trained_on():
    test, validation = ({"".join(e.source) for e in task.examples_of(part)} for part in ("test", "validation"))
    trained = {"".join(task.src_vocab.decode_answer(row)) for row in _training_rows().sources.tolist()}
    assert test | validation | trained == phrases().readings.keys()
    assert len(test) + len(validation) + len(trained) == len(phrases().readings)
    assert (len(test), len(validation)) == (1_942, 1_830)
    for part, some in (("test", test), ("validation", validation), ("training", trained)):
        assert {task.part_of(tuple(phrase)) for phrase in sorted(some)[:50]} == {part}
    # what is asked was taught: each character, and each of its readings that is asked for
    pairs = {
        pair
        for row, spoken in zip(_training_rows().sources.tolist(), _training_rows().targets.tolist(), strict=True)
        for pair in zip(row, spoken[1:], strict=False)
    }
    asked = [
        (task.src_vocab.ids[char], task.tgt_vocab.ids[syllable])
        for example in task.held_out()
        for char, syllable in zip(example.source, example.targets[0], strict=True)
    ]
    assert {char for char, _ in asked} <= {char for char, _ in pairs}
    assert sum(pair not in pairs for pair in asked) < 0.005 * len(asked)


def test_held_out_phrases_come_in_a_fixed_order_that_says_nothing():
    first = task.held_out(limit=100)
    assert first == task.held_out()[:100]
    assert len({example.source[0] for example in first}) > 50
    for example in first:
        assert example.targets == task.answers(example.source)
        assert example.alignments == tuple(task.gold_alignment(example.source, t) for t in example.targets)


def test_batches_hold_training_phrases_with_their_reading():
    src_ids, tgt_in, tgt_out = task.sample_batch(torch.Generator().manual_seed(11), 67)
    assert len(src_ids) == len(tgt_in) == len(tgt_out) == 67
    assert src_ids.dtype == tgt_in.dtype == tgt_out.dtype == torch.int64
    assert PAD not in src_ids
    for source, given_, wanted in zip(src_ids.tolist(), tgt_in.tolist(), tgt_out.tolist(), strict=True):
        phrase = task.src_vocab.decode_answer(source)
        syllables = task.tgt_vocab.decode_answer(wanted)
        assert task.part_of(phrase) == "training"
        assert syllables in task.answers(phrase)
        assert given_ == [START, *wanted[:-1]]
        assert wanted[-1] == END


def test_batches_follow_from_the_generator_and_leave_the_global_one_alone():
    before = torch.get_rng_state()
    one, other = (task.sample_batch(torch.Generator().manual_seed(5), 13) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.slow
def test_nothing_is_read_before_something_asks():
    code = (
        "import sys; from attention.tasks import get_task; from attention.tasks.pinyin import phrases; "
        "get_task('pinyin').name; "
        "print(phrases.phrases.cache_info().currsize, 'pypinyin' in sys.modules); get_task('pinyin').src_vocab; "
        "print(phrases.phrases.cache_info().currsize, 'pypinyin' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "False", "1", "False"]


@pytest.mark.slow
def test_many_threads_at_once():
    found, failed = [], []

    def ask(text):
        try:
            found.append((task.answers(task.read(text)), len(task.held_out())))
        except Exception as error:  # whatever it is, the test must see it
            failed.append(error)

    threads = [threading.Thread(target=ask, args=(text,)) for text in task.examples * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert len(found) == 30
    assert all(answers and count == 1_942 for answers, count in found)
