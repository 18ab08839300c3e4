"""The examples that the pages offer, on the model that they open on; and the command that finds such."""

from collections import Counter

import pytest

from attention.checkpoints import find_examples, load, shipped
from attention.checkpoints.find_examples import answers_of
from attention.inspection import inspect_word
from attention.tasks import TASKS, get_task

# Wrong, and worth a look: read as other words are that are written so ("bough", "suite"), or with a character's more
# frequent reading.
INSTRUCTIVE = {"through", "queue", "长大", "重要", "睡觉", "觉得"}


def default_model(task):
    (card,) = (card for card in shipped().values() if card.name == f"{task}-8x8-8x8")
    return load(task, card.config)[0]


@pytest.mark.parametrize("name", TASKS)
def test_each_example_is_right_or_wrong_in_a_way_that_teaches(name):
    task = get_task(name)
    sources = [task.read(text) for text in task.examples]
    wrong = {
        text
        for text, source, answer in zip(
            task.examples, sources, answers_of(default_model(name), task, sources), strict=True
        )
        if answer not in task.answers(source)
    }
    assert wrong <= INSTRUCTIVE
    assert task.examples[0] not in wrong and len(wrong) <= len(sources) / 2


def test_many_at_once_are_answered_as_one_by_one():
    task, model = get_task("spelling"), default_model("spelling")
    words = [task.read(word) for word in ("ox", "knight", "psychology")]
    assert list(answers_of(model, task, words)) == [inspect_word(model, task, word).answer for word in words]


def test_a_line_says_how_many_models_are_right_and_what_the_others_say(monkeypatch, capsys):
    task = get_task("spelling")
    right, wrong = ("n", "aɪ", "t"), ("k", "n", "aɪ", "t")
    found = find_examples.Found(tuple("knight"), Counter({right: 3, wrong: 2, None: 1}))
    assert found.line(task) == "knight (training): n aɪ t: 3 of 6; 2 × k n aɪ t, 1 × …"
    monkeypatch.setattr("sys.argv", ["find_examples", "reverse", "abcdef", "level"])
    find_examples.main()
    ships = sum(card.task == "reverse" for card in shipped().values())
    lines = capsys.readouterr().out.splitlines()
    for line, word in zip(lines, ("abcdef", "level"), strict=True):
        assert line.startswith(f"{word} (") and f": {' '.join(reversed(word))}: {ships} of {ships}; no other" in line
