import pytest

from attention.tasks import END, PAD, START, TASKS, Vocabulary, get_task


def test_specials_come_first():
    vocabulary = Vocabulary(("a", "b"))
    assert vocabulary.tokens == ("<pad>", "<s>", "</s>", "a", "b")
    assert (PAD, START, END) == (0, 1, 2)
    assert len(vocabulary) == 5


def test_encode_and_decode():
    vocabulary = Vocabulary(("a", "b", "c"))
    assert vocabulary.encode(("b", "a", "c")) == [4, 3, 5]
    assert vocabulary.decode([START, 4, 3, END, PAD]) == ("<s>", "b", "a", "</s>", "<pad>")


def test_an_answer_ends_before_the_first_end():
    vocabulary = Vocabulary(("a", "b"))
    assert vocabulary.decode_answer([3, 4, END, 3]) == ("a", "b")
    assert vocabulary.decode_answer([3, 4]) == ("a", "b")
    assert vocabulary.decode_answer([END]) == ()


def test_a_token_twice_is_refused():
    with pytest.raises(ValueError, match="twice"):
        Vocabulary(("a", "b", "a"))
    with pytest.raises(ValueError, match="twice"):
        Vocabulary(("a", "<s>"))


@pytest.mark.parametrize("name", TASKS)
def test_every_task_is_described_and_reads_its_own_examples(name):
    task = get_task(name)
    assert task is get_task(name)
    assert task.name == name
    for text in task.examples:
        tokens = task.read(text)
        assert task.encode_source(tokens)[-1] == END
        assert all(len(task.answers(tokens)[0]) < task.max_tgt_len(len(tokens)) for _ in task.answers(tokens))


def test_an_unknown_task_is_named_beside_the_known_ones():
    with pytest.raises(ValueError, match="no task 'speling'; there are spelling, reverse"):
        get_task("speling")
