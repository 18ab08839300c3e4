"""Heads that go on adding their mean: against a bias made by hand, and where the mean is all that a head adds."""

import copy

import numpy as np
import pytest
import torch
from all_ways import WAYS, random_batch, random_model
from numpy_transformer import NumpyTransformer

from attention.ablation.removal import by_loss, cumulative, leave_one_out, run_plan, score, singles
from attention.ablation.silence import mean_contributions, without_heads
from attention.config import PAD
from attention.inspection.heads import Head, all_heads, attention_of

NAMES = {
    "encoder": "encoder.layers.{}.attention",
    "decoder": "decoder.layers.{}.attention",
    "cross": "decoder.layers.{}.cross",
}


def means_by_hand(model, batch):
    """A mean over all rows of all examples, each run by itself without padding."""
    by_hand = NumpyTransformer(model.config, model.state_dict())
    added = {}
    for src_ids, tgt_in in zip(batch.src_ids, batch.tgt_in, strict=True):
        by_hand.run(src_ids[src_ids != PAD], tgt_in[tgt_in != PAD])
        for name, contributions in by_hand.added.items():
            added.setdefault(name, []).append(contributions)
    return {name: np.concatenate(parts, axis=1).mean(1) for name, parts in added.items()}


@torch.no_grad()
def absorbed(model, heads, means):
    """A copy by hand whose W_O has zeros for these heads, and a bias that has what they add on average."""
    changed = copy.deepcopy(model)
    for head in heads:
        attention = attention_of(changed, head.kind, head.layer)
        size = attention.w_o.in_features // attention.num_heads
        attention.w_o.weight[:, head.number * size : (head.number + 1) * size] = 0
        constant = torch.from_numpy(means[NAMES[head.kind].format(head.layer)][head.number])
        bias = 0 if attention.w_o.bias is None else attention.w_o.bias
        attention.w_o.bias = torch.nn.Parameter(bias + constant)
    return changed


@pytest.mark.parametrize("way", WAYS)
@torch.no_grad()
def test_a_head_that_is_its_mean_is_a_constant_in_the_bias(way):
    model, batch = random_model(way), random_batch()
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    means, by_hand = mean_contributions(model, batch), means_by_hand(model, batch)
    for kind, layer in means:
        expected = by_hand[NAMES[kind].format(layer)]
        np.testing.assert_allclose(means[kind, layer], expected, rtol=0, atol=1e-12)
    gone = [Head("encoder", 0, 2), Head("encoder", 1, 0), Head("cross", 1, 0), Head("decoder", 0, 0)]
    without, wanted = without_heads(model, [*gone, gone[0]], means), absorbed(model, gone, by_hand)
    for need_maps in (True, False):
        logits = without(batch.src_ids, batch.tgt_in, need_maps).logits
        wanted_logits = wanted(batch.src_ids, batch.tgt_in, need_maps).logits
        torch.testing.assert_close(logits, wanted_logits, rtol=0, atol=1e-10)
    assert not torch.allclose(logits, without_heads(model, gone)(batch.src_ids, batch.tgt_in).logits, atol=1e-3)
    assert all(torch.equal(weight, before[name]) for name, weight in model.state_dict().items())


@torch.no_grad()
def test_a_head_whose_values_are_a_bias_alone_is_not_missed():
    model, batch = random_model("reproject"), random_batch()
    attention = model.decoder.layers[1].attention
    attention.w_v.weight[3 * 2 :] = 0  # of head 4, the last of size 2
    head = Head("decoder", 1, 3)
    logits = model(batch.src_ids, batch.tgt_in).logits
    without = without_heads(model, [head], mean_contributions(model, batch))
    real = batch.tgt_in != PAD
    torch.testing.assert_close(without(batch.src_ids, batch.tgt_in).logits[real], logits[real], rtol=0, atol=1e-12)
    assert (without_heads(model, [head])(batch.src_ids, batch.tgt_in).logits - logits).abs().max() > 0.01


@pytest.mark.parametrize("way", ["reproject", "no biases", "extra, slots"])
def test_a_study_by_the_mean_scores_whole_models(way):
    model, batch = random_model(way), random_batch()
    means, by_hand = mean_contributions(model, batch), means_by_hand(model, batch)
    alone = run_plan(leave_one_out, model, batch, singles(model.config), (), means)
    for removal in alone[::3]:
        expected = score(absorbed(model, removal.heads, by_hand), batch)
        assert removal.score.loss == pytest.approx(expected.loss, abs=1e-12)
    order = by_loss(alone)
    first, rest = order[:5], order[5:]
    gone = [head for heads in first for head in heads]
    curve = [*cumulative(model, batch, first, (), means), *cumulative(model, batch, rest, gone, means)]
    gone = ()
    for removal in curve:
        gone += removal.heads
        expected = score(absorbed(model, gone, by_hand), batch)
        assert removal.score.loss == pytest.approx(expected.loss, abs=1e-12)


def test_what_is_gone_is_not_taken_away_twice():
    model, batch = random_model("reproject"), random_batch()
    means, gone = mean_contributions(model, batch), all_heads(model.config)[:3]
    once = score(without_heads(model, gone, means), batch)
    again = [
        *cumulative(model, batch, [gone, gone], gone[:1], means),
        *leave_one_out(model, batch, [gone], gone, means),
    ]
    assert {removal.score for removal in again} == {once}
