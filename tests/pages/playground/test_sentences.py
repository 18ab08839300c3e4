"""What the playground says is so wherever it is said: compared with the shipped models."""

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch
from app_test import open_page, texts
from random_settings import settings_that_fit

from attention import EncoderDecoder
from attention.checkpoints import load, shipped
from attention.config import ATTENTION_KINDS
from attention.inspection import inspect_word
from attention.metrics import entropy
from attention.tasks import TASKS, get_task, make_batch
from attention.tasks.spelling import Spelling
from pages.playground.watch import finds_its_way, what_to_look_for
from pages.shared.models import shipped_record
from pages.shared.texts import prose

CARDS = list(shipped().values())


@pytest.mark.parametrize("kind", ATTENTION_KINDS)
@pytest.mark.parametrize("task", ["reverse", "pinyin"])
def test_what_to_look_for_stands_under_the_attention_it_is_about(task, kind):
    said = texts(open_page(task=task, text=get_task(task).examples[0], kind=kind))
    assert ("What to look for" in said) == (kind == "cross" or (task, kind) == ("pinyin", "encoder"))
    assert ("row of such a character" in said) == ((task, kind) == ("pinyin", "encoder"))


def test_every_task_has_something_to_look_for():
    assert {f"watch_cross_{task}" for task in TASKS} <= set(prose("playground"))


def said_of(card) -> str:
    return what_to_look_for(shipped_record(card), "cross", card.scores)


@pytest.mark.sample(8)
@pytest.mark.parametrize("card", [pytest.param(card, id=card.name) for card in CARDS])
def test_what_there_is_to_look_for_is_there_on_every_model_that_ships(card):
    """Cross-attention finds what makes the tokens of test examples, and in the words that are named it does so where
    the straight line from the first letter to the last does not. Where that fails the page does not say it."""
    task = get_task(card.task)
    model, _ = load(card.task, card.config)
    found, on_line = best_head_and_line(model, task, task.held_out(200))
    if said := said_of(card):
        assert found > max(on_line, 0.45) or found > 0.85
    else:
        assert found < max(on_line + 0.1, 0.55)
    named = re.findall("“(.*?)”", said) if card.task == "spelling" else []
    for word in named:
        source = task.read(word)
        view = inspect_word(model, task, source)
        assert view.answer in task.answers(source)
        gold = task.gold_alignment(source, view.answer)
        letters = Counter(at for makes in gold for at in makes)
        silent, doubled = set(range(len(source))) - set(letters), max(letters.values()) > 1
        assert silent or doubled or max(map(len, gold)) > 1  # not one letter for each sound, as the text says
        straight = np.linspace(0, len(source) - 1, len(gold)) if len(gold) > 1 else [0]
        off_line = [
            row for row, makes in enumerate(gold) if makes and min(abs(straight[row] - at) for at in makes) >= 0.5
        ]
        heads = [rows for layer in view.layers["cross"] for rows in layer.weights]
        assert any(rows[row].argmax() in gold[row] for rows in heads for row in off_line)


def best_head_and_line(model, task, examples) -> tuple[float, float]:
    """How often the strongest cell of the best head is on what makes a token, and how often a straight line is."""
    examples = [example for example in examples if example.alignments[0] is not None]
    batch = make_batch(task, [(example.source, example.targets[0]) for example in examples])
    with torch.no_grad():
        maps = [layer[..., : batch.src_ids.shape[1]] for layer in model(batch.src_ids, batch.tgt_in).maps.cross]
    strongest = [layer.argmax(-1).masked_fill(~layer.any(-1), -1) for layer in maps]  # (words, heads, rows)
    strongest = torch.cat(strongest, dim=1).tolist()
    hits, on_line, tokens = Counter(), 0, 0
    for word, example in enumerate(examples):
        for row, makes in enumerate(example.alignments[0]):
            if makes:
                tokens += 1
                straight = row * (len(example.source) - 1) / max(len(example.targets[0]) - 1, 1)
                on_line += any(abs(straight - at) <= 0.5 for at in makes)
                hits.update(head for head, rows in enumerate(strongest[word]) if rows[row] in makes)
    return max(hits.values()) / tokens, on_line / tokens


def test_a_model_without_skill_is_said_to_show_nothing():
    for task in TASKS:
        text = get_task(task).examples[0]
        assert "What to look for" not in texts(open_page(task=task, text=text, kind="cross", seed=3))
        scores = replace(CARDS[0].scores, alignment=((0.3, 0.4), (0.84, 0.2)), diagonal=0.82)
        assert not finds_its_way(scores) and not finds_its_way(None)
        assert finds_its_way(replace(scores, diagonal=0.75))
        assert finds_its_way(replace(scores, alignment=((float("nan"), 0.95),), diagonal=1.0))


def test_no_word_is_named_that_is_answered_wrong(monkeypatch):
    monkeypatch.setattr(Spelling, "examples", ("xzqj", "knight"))
    card = next(card for card in CARDS if card.name == "spelling-8x8-8x8")
    assert "xzqj" not in said_of(card) and ("“knight”" in said_of(card) or "as in" not in said_of(card))


@pytest.mark.sample(20)
@pytest.mark.parametrize("number", range(100))
def test_letter_is_about_the_model_s_own_answer(number):
    """Where the model's answer is none of the task's, no alignment is known and the number is empty."""
    settings = settings_that_fit(100)[number]
    task = get_task(settings.task)
    view = inspect_word(EncoderDecoder(settings.config, seed=settings.seed), task, task.read(settings.text))
    if view.answer not in task.answers(view.source):
        assert all(torch.tensor(layer.alignment).isnan().all() for layer in view.layers["cross"])


def test_slots_that_are_read_alike_make_a_head_add_the_same_in_every_row():
    card = next(card for card in CARDS if card.config.kv == "extra")
    model, task = load(card.task, card.config)[0], get_task(card.task)
    for word in ("knight", "phone", "thought"):
        batch = make_batch(task, [(task.read(word), task.answers(task.read(word))[0])])
        with torch.no_grad():
            memory = model.encode(batch.src_ids).memory
            did = model.decoder(batch.tgt_in, memory)[2][-1]
        added = (did.weights[0] @ did.values[0]).numpy()  # (heads, rows, head_dim)
        entropies = entropy(did.weights[0].numpy(), did.weights[0].numpy() > 0)
        for head in np.flatnonzero(entropies > 0.99):
            if not did.weights[0, head, :, : batch.src_ids.shape[1]].any():
                spread = np.linalg.norm(added[head] - added[head].mean(0), axis=-1).max()
                assert spread < 0.2 * np.linalg.norm(added[head].mean(0))
