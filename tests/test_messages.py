"""Messages: a sentence for readers of English, a code and values for everybody else."""

import pickle

import pytest

from attention.messages import Message, MessageError

TOO_LONG = Message.of("too_long", "17 letters is too long; shorten 'a b'.", count=17, typed="a b")


def test_a_message_reads_as_its_sentence_and_keeps_its_values_by_name():
    assert str(TOO_LONG) == "17 letters is too long; shorten 'a b'."
    assert Message("too_long", TOO_LONG.english, (("count", 17), ("typed", "a b"))) == TOO_LONG
    assert len({TOO_LONG, Message.of("too_long", TOO_LONG.english, count=17, typed="a b")}) == 1


def test_an_error_is_a_value_error_with_the_message_and_its_sentence():
    with pytest.raises(ValueError, match="17 letters is too long") as caught:
        raise MessageError(TOO_LONG)
    assert caught.value.message is TOO_LONG


def test_an_error_survives_the_way_back_from_a_worker_process():
    again = pickle.loads(pickle.dumps(MessageError(TOO_LONG)))
    assert again.message == TOO_LONG and str(again) == TOO_LONG.english
