"""Words that meet in the batch: every faulty pass a second time, with loops over words and heads."""

import itertools

import numpy as np
import pytest
import torch
from silent_numbers import numbers

from attention.config import PAD
from attention.experiments.silent_failures.batches import WordsRepeated, give_kv_way, repeat_order, view_order
from attention.experiments.silent_failures.shipped_model import (
    batch_of,
    held_out,
    shipped_model,
)
from attention.training.accuracy import token_accuracy


def test_words_that_read_each_other():
    """The untouched model, given memories that hold the tokens which the wrong view takes."""
    words = ("bird", "frog", "moth")
    model, task = shipped_model()
    batch = batch_of(task, words)
    with torch.no_grad():
        encoded = model.encode(batch.src_ids)
        flat = encoded.memory.hidden.flatten(0, 1)
        taken = torch.tensor([[3 * slot + word for slot in range(5)] for word in range(3)])
        mixed = encoded._replace(memory=encoded.memory._replace(hidden=flat[taken]))
        out = model.decode(batch.tgt_in, mixed)
    elsewhere = total = 0.0
    for layer in out.maps.cross:
        for word, slot in itertools.product(range(3), range(5)):
            mass = float(layer[word, :, :, slot].sum())
            total += mass
            elsewhere += mass * (int(taken[word, slot]) // 5 != word)
    failure = view_order(words)
    assert numbers(failure)["read_other_words"] == (0, pytest.approx(elsewhere / total, abs=1e-5))
    right, wrong = failure.maps
    letters = [*"bird", "</s>", *"frog", "</s>", *"moth", "</s>"]
    assert right.columns == tuple(f"{t}{n}" for t, n in zip(letters, "₁₁₁₁₁₂₂₂₂₂₃₃₃₃₃", strict=True))
    np.testing.assert_allclose(wrong.values[:, taken[0]], out.maps.cross[-1][0, 0], atol=1e-5)
    assert right.values[:, 5:].max() == 0
    assert numbers(failure)["company"][0] < 1e-5 and numbers(failure)["company"][1] > 0.9


def test_a_word_by_itself_hides_both_faults():
    viewed, repeated = numbers(view_order(("bird",))), numbers(repeat_order(("bird",)))
    assert viewed["read_other_words"] == repeated["foreign_heads"] == repeated["on_padding"] == (0, 0)
    assert viewed["company"][1] == 0


def test_words_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="bird, ox"):
        view_order(("bird", "ox"))


def test_heads_that_are_given_another_word():
    model, task = shipped_model()
    batch = batch_of(task, ("owl", "tiger", "ox"))
    with torch.no_grad():
        memory = model.encode(batch.src_ids).memory
        own_k, own_v = model.decoder.layers[1].cross.kv_way.source_kv(memory)
        give_kv_way(model, WordsRepeated)
        k, v = model.decoder.layers[1].cross.kv_way.source_kv(memory)
    foreign = 0
    for word, head in itertools.product(range(3), range(8)):
        given = (8 * word + head) % 3
        foreign += given != word
        assert torch.equal(k[word, head], own_k[given, head])
        assert torch.equal(v[word, head], own_v[given, head])
    failure = repeat_order()
    assert numbers(failure)["foreign_heads"] == (0, pytest.approx(foreign / 24))
    right, wrong = failure.maps
    assert right.values.sum() == pytest.approx(len(right.rows), abs=1e-5)  # all of it on its own four tokens …
    assert right.values[:, 4:].max() == 0
    assert wrong.values[:, 4:10].sum() == pytest.approx(len(wrong.rows), abs=1e-5)  # … or all on those of "tiger"


def test_words_behind_each_others_masks():
    """The mask of each word and head written out in a loop."""
    model, task = shipped_model()

    def faulty(batch):
        encoded = model.encode(batch.src_ids)
        count, length = batch.src_ids.shape
        mask = torch.zeros(count, 8, 1, length, dtype=torch.bool)
        for word, head in itertools.product(range(count), range(8)):
            mask[word, head, 0] = batch.src_ids[(8 * word + head) % count] != PAD
        return model.decode(batch.tgt_in, encoded._replace(memory=encoded.memory._replace(mask=mask)))

    shown, strings = batch_of(task, ("owl", "tiger", "ox")), held_out(task)
    with torch.no_grad():
        out = faulty(shown)
        accuracy = token_accuracy(faulty(strings).logits, strings.tgt_out)
    shares = []
    for layer in out.maps.cross:
        real_rows = [layer[word, :, : len(letters) + 1] for word, letters in enumerate(("owl", "tiger", "ox"))]
        on_padding = sum(rows[:, :, rows.shape[1] :].sum() for rows in real_rows)  # as many tokens read as generated
        shares.append(float(on_padding / sum(rows.sum() for rows in real_rows)))
    found = numbers(repeat_order())
    assert found["on_padding"] == (0, pytest.approx(np.mean(shares), abs=1e-5))
    assert found["letters_right_mask"] == (1.0, pytest.approx(accuracy, abs=1e-3))
    assert 0.3 < accuracy < 0.7
