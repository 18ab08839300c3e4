import time

import pytest
from told import told

from attention.tasks import TASKS, get_task
from attention.tasks.reading import Refusal, read_letters, visible_characters


def refusal(text: str) -> str:
    with pytest.raises(Refusal) as caught:
        read_letters(text, 2, 16)
    sentence = told("refusal", caught.value.message)
    assert sentence == str(caught.value)
    sentence.encode()  # can be sent to a browser: no half surrogate pairs
    assert sentence.endswith(".")
    return sentence


def test_reads_letters_in_any_case_and_drops_white_space_around_them():
    assert read_letters("knight", 2, 16) == tuple("knight")
    assert read_letters(" \t KNight\n", 2, 16) == tuple("knight")
    assert read_letters("ab", 2, 16) == ("a", "b")
    assert len(read_letters("a" * 16, 2, 16)) == 16


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("é", "'é' is not a letter this model knows: a–z"),
        ("cafe\u0301", "'e\u0301' is not a letter this model knows: a–z"),
        ("k9", "'9' is not a letter this model knows: a–z"),
        ("<s>", "'<' and '>' are not letters this model knows: a–z"),
        ("$x$", "'$' is not a letter this model knows: a–z"),
        ("[x](y)", "'[', ']', '(' and others are not letters this model knows: a–z"),
        ("don't", '"\'" is not a letter this model knows: a–z'),
        ("猫", "'猫' is not a letter this model knows: a–z"),
        ("👩‍👩‍👧", "'👩‍👩‍👧' is not a letter this model knows: a–z"),
        ("👍🏽x", "'👍🏽' is not a letter this model knows: a–z"),
        ("x🇩🇪🇫🇷", "'🇩🇪' and '🇫🇷' are not letters this model knows: a–z"),
        ("ab\ud83d", "U+D83D is not a letter this model knows: a–z"),
        ("a\u200bb", "U+200B is not a letter this model knows: a–z"),
        ("\u212aing", "'\u212a' is not a letter this model knows: a–z"),  # Kelvin sign, whose lower() is a k
        ("ſo", "'ſ' is not a letter this model knows: a–z"),  # long s, whose upper() is an S
        ("\u202eabc", "U+202E is not a letter this model knows: a–z"),
        ("a 1", "A space and '1' are not letters this model knows: a–z"),
    ],
)
def test_names_what_is_not_a_letter(text, begins):
    sentence = refusal(text)
    assert sentence.startswith(begins)
    assert "2 to 16 letters" in sentence


def test_names_what_is_wrong_with_the_length():
    assert refusal("") == "Nothing was typed: type one word of 2 to 16 letters a–z."
    assert refusal(" \n ").startswith("Only white space was given: type one word")
    assert refusal("a" * 200) == "200 letters is too long: this model reads 2 to 16 letters; shorten the word."
    assert refusal("a" * 17).startswith("17 letters is too long")
    assert refusal("I").startswith("'i' is too short with 1 letter: this model reads 2 to 16 letters")


@pytest.mark.parametrize("space", [" ", "  ", "\t", "\n", "\u00a0", "\u3000"])
def test_spaces_inside(space):
    assert "has a space inside: type one word" in refusal(f"night{space}owl")


def test_a_long_text_is_refused_at_once_and_not_repeated():
    for text in ("a" * 10**7, "é" * 10**7, "ab " * 10**6, "1" * 10**7, "\u0301" * 10**6, "a" * 5_000 + "1"):
        began = time.thread_time()
        sentence = refusal(text)
        assert time.thread_time() - began < 1.0
        assert len(sentence) < 1_500


@pytest.mark.parametrize(
    "characters",
    [
        ["a", "b"],
        ["e\u0301", "x"],
        ["👩‍👩‍👧", "!"],
        ["🇩🇪", "🇫🇷", "x"],
        ["👍🏽", "👍"],
        ["❤️", "1️⃣"],
        ["🏴󠁧󠁢󠁥󠁮󠁧󠁿", "a"],
        ["नि", "x"],
        ["\u1100\u1161\u11a8", "x"],  # one Korean syllable from three signs
        ["\r\n", "x"],
    ],
)
def test_visible_characters_stay_whole(characters):
    assert list(visible_characters("".join(characters))) == characters


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("text", ["a [SEP] b", "[SEP]", "</s>", "a </s> b"])
def test_what_looks_like_a_special_token_is_typed_text_like_any_other(name, text):
    """It is refused by the rule that is told, and never read as a token of its own (bhoov/exbert#12)."""
    task = get_task(name)
    with pytest.raises(Refusal) as refused:
        task.read(text)
    assert any(sign in str(refused.value) for sign in "[<")  # and it is named
