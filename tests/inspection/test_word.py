"""The view of one input: maps, labels and figures of every head."""

import numpy as np
import pytest
import torch

from attention import EncoderDecoder, ModelConfig, StackConfig
from attention.checkpoints import load, shipped
from attention.inspection import inspect_reached, inspect_word
from attention.tasks import END, START, get_task

TASK = get_task("spelling")
KNIGHT = TASK.read("knight")


def config(kv="reproject", dec_heads=8):
    return ModelConfig(
        encoder=StackConfig(64, 4, 16),
        decoder=StackConfig(64, dec_heads, 64 // dec_heads),
        kv=kv,
        src_vocab_size=len(TASK.src_vocab),
        tgt_vocab_size=len(TASK.tgt_vocab),
        bias=True,
    )


def test_maps_follow_what_the_model_itself_answers():
    model, _ = load("spelling", config())
    view = inspect_word(model, TASK, KNIGHT)
    assert view.answer == ("n", "aɪ", "t")
    assert view.ended
    src_ids = torch.tensor([[*TASK.src_vocab.encode(KNIGHT), END]])
    tgt_ids = torch.tensor([[START, *TASK.tgt_vocab.encode(view.answer)]])
    with torch.no_grad():
        out = model(src_ids, tgt_ids)
    for kind in ("encoder", "decoder", "cross"):
        for layer, maps in zip(view.layers[kind], getattr(out.maps, kind), strict=True):
            np.testing.assert_allclose(layer.weights, maps[0], rtol=0, atol=1e-5)
            assert layer.weights.shape[1:] == (len(layer.rows), len(layer.columns)) == layer.allowed.shape[1:]
            np.testing.assert_allclose(layer.weights.sum(-1), 1, atol=1e-5)


def test_numbers_of_a_head_are_those_worked_out_row_by_row():
    model, _ = load("spelling", config())
    view = inspect_word(model, TASK, KNIGHT)
    gold = ({0, 1}, {2}, {5})  # k|n → n, i → aɪ, t → t
    for layer in view.layers["cross"]:
        for head, rows in enumerate(layer.weights.astype(np.float64)):
            entropy = [-(row * np.log(row)).sum() / np.log(7) for row in rows]
            way = [0, 2.5, 5, 6]
            distance = [sum(p * abs(j - at) for j, p in enumerate(row)) for row, at in zip(rows, way, strict=True)]
            hits = [row.argmax() in letters for row, letters in zip(rows, gold, strict=False)]
            assert layer.entropy[head] == pytest.approx(np.mean(entropy), abs=1e-6)
            assert layer.distance[head] == pytest.approx(np.mean(distance), abs=1e-6)
            assert layer.alignment[head] == np.mean(hits)
            assert layer.on_end[head] == pytest.approx(rows[:, 6].mean(), abs=1e-6)
    assert view.diagonal == 1.0  # k, i, t


def test_a_reversed_answer_is_measured_from_the_last_letter_to_the_first():
    task = get_task("reverse")
    (card, *_) = (card for card in shipped().values() if card.task == "reverse")
    view = inspect_word(load("reverse", card.config)[0], task, task.read("abc"))
    assert view.answer == ("c", "b", "a")
    for layer in view.layers["cross"]:
        distance = abs(np.arange(4) - np.array([[2], [1], [0], [3]]))  # c, b, a, and the end token to the end token
        expected = (layer.weights * distance).sum(-1).mean(-1)
        np.testing.assert_allclose(layer.distance, expected, atol=1e-6)


def test_a_wrong_answer_has_no_alignment():
    model = EncoderDecoder(config(), seed=3)
    view = inspect_word(model, TASK, KNIGHT)
    assert view.answer != ("n", "aɪ", "t")
    assert np.isnan(view.layers["cross"][0].alignment).all()
    assert np.isnan(view.diagonal)


def test_what_is_reached_has_the_numbers_of_the_model_that_cannot_run():
    broken = config("direct")
    view = inspect_reached(broken, 5, TASK, KNIGHT)
    twin = inspect_word(EncoderDecoder(config("direct", dec_heads=4), seed=5), TASK, KNIGHT)
    assert view.layers["cross"] == ()
    assert len(view.layers["decoder"]) == 1
    assert view.layers["decoder"][0].rows == ("n", "aɪ", "t", "</s>")
    for mine, other in zip(view.layers["encoder"], twin.layers["encoder"], strict=True):
        np.testing.assert_array_equal(mine.weights, other.weights)


def test_a_decoder_map_is_one_head_per_decoder_head_whatever_the_encoder_has():
    for card in shipped().values():
        task = get_task(card.task)
        model, _ = load(card.task, card.config)
        view = inspect_word(model, task, task.read(task.examples[0]))
        assert len(view.layers["cross"][0].weights) == card.config.decoder.num_heads
