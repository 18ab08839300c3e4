"""How a cell was made, against a second computation of the whole pass, head by head, for all K/V ways."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from all_ways import WAYS
from numpy_transformer import NumpyTransformer
from random_numbers import randomise

from attention import EncoderDecoder
from attention.inspection import inspect_word
from attention.inspection.cell import cell_of
from attention.tasks import START, get_task

TASK = get_task("spelling")


class KeepingKeys(NumpyTransformer):
    """Also says what keys each head met, in the order of the attention operations."""

    def attention(self, name, x, keys, *more):
        self.met = [*getattr(self, "met", []), keys]
        return super().attention(name, x, keys, *more)


@pytest.mark.parametrize("way", WAYS)
def test_a_cell_is_made_of_the_vectors_that_its_head_uses(way):
    config = replace(WAYS[way], src_vocab_size=len(TASK.src_vocab), tgt_vocab_size=len(TASK.tgt_vocab))
    model = randomise(EncoderDecoder(config), 3).eval()
    view = inspect_word(model, TASK, tuple("knot"))
    target = (START, *TASK.tgt_vocab.encode(view.answer))[: len(view.layers["cross"][0].rows)]
    second = KeepingKeys(config, model.state_dict())
    expected = second.run(TASK.encode_source(view.source), target)
    met = {"encoder": second.met[:2], "decoder": second.met[2::2], "cross": second.met[3::2]}
    for kind, layers in view.layers.items():
        for number, layer in enumerate(layers):
            heads, rows, columns = layer.weights.shape
            for head in range(heads):
                for row in {0, rows - 1}:
                    query, keys = getattr(expected.queries, kind)[number][head, row], met[kind][number][head]
                    for column in range(columns):
                        cell = cell_of(layer, head, row, column)
                        np.testing.assert_allclose(cell.query, query, atol=1e-4)
                        assert cell.allowed[column] == layer.allowed[head, row, column]
                        if not cell.allowed[column]:
                            assert np.isnan(cell.scores[column]) and cell.weights[column] == 0
                            continue
                        np.testing.assert_allclose(cell.key, keys[column], atol=1e-4)
                        np.testing.assert_allclose(cell.products, query * keys[column], atol=1e-4)
                        score = query @ keys[column] / config_dim(config, kind) ** 0.5
                        assert cell.scores[column] == pytest.approx(score, abs=1e-4)
                        assert cell.products.sum() / cell.scale == pytest.approx(cell.scores[column], abs=1e-5)
                    powers = np.where(cell.allowed, np.exp(cell.scores - np.nanmax(cell.scores)), 0)
                    np.testing.assert_allclose(cell.weights, powers / powers.sum(), atol=1e-5)


def config_dim(config, kind):
    return (config.encoder if kind == "encoder" else config.decoder).head_dim


def test_which_k_v_head_is_read():
    """Six heads in three groups of two; each head of a model without groups reads its own."""
    for way, read in {"grouped": [0, 0, 1, 1, 2, 2], "direct": [0, 1, 2]}.items():
        config = replace(WAYS[way], src_vocab_size=len(TASK.src_vocab), tgt_vocab_size=len(TASK.tgt_vocab))
        with torch.no_grad():
            layer = inspect_word(EncoderDecoder(config).eval(), TASK, tuple("knot")).layers["cross"][1]
        assert [cell_of(layer, head, 0, 0).kv_head for head in range(len(read))] == read
