"""How much heads add: by hand, and on the shipped model whose surplus heads are dead."""

import numpy as np
import pytest
from all_ways import WAYS, random_batch, random_model
from numpy_transformer import NumpyTransformer

from attention.ablation.silence import without_heads
from attention.checkpoints import load, shipped
from attention.decoding import decode_word
from attention.inspection.batch import collect, held_out_batch
from attention.inspection.heads import Head
from attention.metrics.cosines import contribution_cosine
from attention.metrics.sizes import constant_sizes, contribution_sizes, effective_contributions
from attention.metrics.structure import effective_heads, effective_number
from attention.tasks import get_task


def entropy_number(*shares):
    return float(np.exp(-sum(share * np.log(share) for share in shares)))


def test_sizes_by_hand():
    """Two heads of size 1 over two rows: they add (3, 4) and (0, 0); (0, 1) and (0, −4)."""
    mixed = np.array([[[1.0], [0.0]], [[1.0], [-4.0]]], dtype=np.float32)
    w_o = np.array([[[3.0, 4.0]], [[0.0, 1.0]]], dtype=np.float32)
    np.testing.assert_allclose(contribution_sizes(mixed, w_o), [1.0, 1.0])  # both a mean norm of 2.5
    np.testing.assert_allclose(contribution_sizes(mixed / [[[1]], [[2]]], w_o), [1.0, 0.5])
    assert np.isnan(contribution_sizes(0 * mixed, w_o)).all()
    # Gram matrix: 25 and 17 on the diagonal, 4 · 1 beside it; eigenvalues 21 ± √(4² + 4²).
    root = np.sqrt(32)
    expected = entropy_number((21 + root) / 42, (21 - root) / 42)
    assert effective_contributions(mixed, w_o) == pytest.approx(expected, abs=1e-12)
    assert np.isnan(effective_contributions(0 * mixed, w_o))


NAMES = {"encoder": "encoder.layers.{}.attention", "decoder": "decoder.layers.{}.attention"}
NAMES["cross"] = "decoder.layers.{}.cross"


@pytest.mark.parametrize("way", WAYS)
def test_sizes_of_a_batch_and_of_a_word_against_a_second_implementation(way):
    model, batch = random_model(way), random_batch()
    by_hand = NumpyTransformer(model.config, model.state_dict())
    added = {name.format(layer): [] for name in NAMES.values() for layer in range(2)}
    lengths = [(5, 3), (2, 2), (4, 4)]
    for (src_len, tgt_len), src_ids, tgt_in in zip(lengths, batch.src_ids, batch.tgt_in, strict=True):
        by_hand.run(src_ids[:src_len], tgt_in[:tgt_len])
        for name, contributions in by_hand.added.items():
            added[name].append(contributions)
    decoding = decode_word(model, batch.src_ids[2:, :4], 4, forced=(10, 6, 21, 2))
    records = {"encoder": decoding.encoder, "decoder": decoding.own, "cross": decoding.cross}
    for layer in collect(model, batch):
        every_word = added[NAMES[layer.kind].format(layer.layer)]
        flat = np.concatenate(every_word, axis=1)  # (heads, rows, d_model)
        sizes = [np.mean([np.sqrt((row**2).sum()) for row in head]) for head in flat]
        found = contribution_sizes(layer.mixed, layer.projections.w_o)
        np.testing.assert_allclose(found, np.array(sizes) / max(sizes), rtol=1e-9)
        last = [[np.sqrt((row**2).sum()) for row in head] for head in every_word[2]]
        np.testing.assert_allclose(records[layer.kind][layer.layer].lengths, last, rtol=1e-9)
        gram = np.array([[(one * other).sum() for other in flat] for one in flat])
        shares = np.linalg.svd(flat.reshape(len(flat), -1), compute_uv=False) ** 2 / np.trace(gram)
        expected = entropy_number(*(share for share in shares if share > 1e-14))
        assert effective_contributions(layer.mixed, layer.projections.w_o) == pytest.approx(expected, abs=1e-6)


def test_what_a_bias_of_the_values_adds_by_hand():
    """Two rows that add (3, 4) and (0, 1), of which the bias 0.5 · (3, 4) is a part: 2.5 of a mean of 3."""
    mixed, w_o = np.array([[[1.0, 0.0], [0.0, 1.0]]]), np.array([[[3.0, 4.0], [0.0, 1.0]]])
    np.testing.assert_allclose(constant_sizes(mixed, w_o, np.array([[0.5, 0.0]])), [2.5 / 3])
    assert np.isnan(constant_sizes(0 * mixed, w_o, np.array([[0.5, 0.0]]))).all()
    assert np.isnan(constant_sizes(mixed, w_o, np.array([[np.nan, np.nan]]))).all()


def test_a_head_that_adds_next_to_nothing_hardly_counts():
    rows = np.random.default_rng(0).normal(size=(3, 101, 2))
    w_o = np.random.default_rng(1).normal(size=(3, 2, 7))
    w_o[2] *= 1e-6
    assert effective_contributions(rows, w_o) == pytest.approx(effective_contributions(rows[:2], w_o[:2]), abs=1e-9)
    assert effective_heads(contribution_cosine(rows, w_o)) > 2.9  # which does not see it


def test_orthogonal_and_equal_contributions():
    eye = np.eye(5)[:, None]  # five heads, one row each
    assert effective_contributions(eye, np.broadcast_to(np.eye(5), (5, 5, 5))) == pytest.approx(5)
    assert effective_contributions(np.ones((5, 2, 1)), np.ones((5, 1, 3))) == pytest.approx(1, abs=1e-6)
    assert effective_number(np.diag([1e-300, 1e-300])) == pytest.approx(2)
    assert np.isnan(effective_number(np.full((2, 2), np.nan)))


def test_cut_into_halves_the_same_head_counts_for_more():
    """Why it is never compared across head counts: the halves add what the whole did, and are two."""
    rows = np.random.default_rng(0).normal(size=(1, 101, 2))
    w_o = np.random.default_rng(1).normal(size=(1, 2, 7))
    halves, slices = rows.transpose(2, 1, 0), w_o.transpose(1, 0, 2)  # (2, 101, 1), (2, 1, 7)
    np.testing.assert_allclose((halves @ slices).sum(0), (rows @ w_o)[0])
    assert effective_contributions(halves, slices) > 1.5 > effective_contributions(rows, w_o)


def test_heads_cut_off_from_w_o_are_dead_to_sizes_and_effect_but_not_to_cosines():
    """Of a shipped model seven heads are silenced: the effective number of contributions falls to those left."""
    card = next(card for card in shipped().values() if card.name == "spelling-8x8-16x8-extra")
    model, _ = load(card.task, card.config)
    batch = held_out_batch(get_task(card.task), 64).batch
    whole, cut = (
        collect(one, batch).cross[1]
        for one in (model, without_heads(model, [Head("cross", 1, number) for number in range(9, 16)]))
    )
    before, after = ((layer.mixed, layer.projections.w_o) for layer in (whole, cut))
    assert (contribution_sizes(*before) > 0.01).all()
    assert (contribution_sizes(*after) < 0.01).tolist() == [number >= 9 for number in range(16)]
    assert effective_contributions(*after) < min(effective_contributions(*before), 9 + 1e-6)
