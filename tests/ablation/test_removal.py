"""Heads taken away: bit for bit what zeros in W_O give, and the same scores as whole passes through changed models."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
import torch.nn.functional as F
from all_ways import WAYS, random_batch, random_model

from attention import EncoderDecoder, ModelConfig, StackConfig
from attention.ablation.importance import gradient_importance
from attention.ablation.removal import by_loss, cumulative, leave_one_out, run_plan, score, singles
from attention.ablation.silence import without_heads
from attention.config import ATTENTION_KINDS, PAD
from attention.inspection.heads import Head, all_heads, attention_of

ways = pytest.mark.parametrize("way", WAYS)


@torch.no_grad()
def zeroed(model: EncoderDecoder, heads) -> EncoderDecoder:
    """The same by hand: a copy whose W_O has zeros in the columns that read these heads."""
    changed = copy.deepcopy(model)
    for head in heads:
        w_o = attention_of(changed, head.kind, head.layer).w_o
        size = w_o.in_features // attention_of(changed, head.kind, head.layer).num_heads
        w_o.weight[:, head.number * size : (head.number + 1) * size] = 0
    return changed


@torch.no_grad()
def plain_score(model, batch):
    """Loss and accuracy, token by token."""
    logits = model(batch.src_ids, batch.tgt_in, need_maps=False).logits
    losses, right, counted = [], 0, 0
    for row, wanted in enumerate(batch.tgt_out.tolist()):
        for t, token in enumerate(wanted):
            if token != PAD:
                losses.append(-logits[row, t].log_softmax(-1)[token])
            if token not in (0, 2):
                right, counted = right + (logits[row, t].argmax() == token).item(), counted + 1
    return sum(losses).item() / len(losses), right / counted


@ways
@torch.no_grad()
def test_removing_a_head_equals_zeroing_its_slice_bit_for_bit(way):
    model, batch = random_model(way), random_batch()
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    for kind in ATTENTION_KINDS:
        head = all_heads(model.config, [kind])[-1]
        removed, by_hand = without_heads(model, [head]), zeroed(model, [head])
        for need_maps in (True, False):
            logits = removed(batch.src_ids, batch.tgt_in, need_maps).logits
            assert torch.equal(logits, by_hand(batch.src_ids, batch.tgt_in, need_maps).logits)
            assert not torch.equal(logits, model(batch.src_ids, batch.tgt_in, need_maps).logits)
    assert all(torch.equal(weight, before[name]) for name, weight in model.state_dict().items())


@torch.no_grad()
def test_plain_removal_takes_away_exactly_the_contribution_and_w_os_bias_stays():
    model, batch = random_model("reproject"), random_batch()
    attention = model.decoder.layers[0].attention
    hidden = model.decoder.layers[0].norm_attention(model.decoder.embedding(batch.tgt_in))
    mask = torch.ones(1, 1, 4, 4, dtype=torch.bool).tril()
    whole, recording = attention(hidden, mask)
    part, _ = without_heads(model, [Head("decoder", 0, 2)]).decoder.layers[0].attention(hidden, mask)
    contribution = recording.mixed[:, 2] @ attention.w_o.weight[:, 2 * 2 : 3 * 2].T
    torch.testing.assert_close(whole - part, contribution, rtol=0, atol=1e-12)
    none, _ = without_heads(model, all_heads(model.config)).decoder.layers[0].attention(hidden, mask)
    assert torch.equal(none, attention.w_o.bias.expand_as(none))


def test_a_score_is_the_mean_over_tokens():
    model, batch = random_model("reproject"), random_batch()
    loss, accuracy = plain_score(model, batch)
    assert score(model, batch) == (pytest.approx(loss, abs=1e-12), accuracy)


@ways
def test_leave_one_out_equals_a_whole_pass_each_bit_for_bit(way):
    model, batch = random_model(way), random_batch()
    removals = list(leave_one_out(model, batch, singles(model.config)))
    assert [removal.heads for removal in removals] == [(head,) for head in all_heads(model.config)]
    for removal in removals[::3]:
        assert removal.score == score(zeroed(model, removal.heads), batch)
        assert removal.score.loss == pytest.approx(plain_score(zeroed(model, removal.heads), batch)[0], abs=1e-12)


def test_sets_of_heads_go_together():
    model, batch = random_model("reproject"), random_batch()
    sets = [(Head("cross", 1, 0), Head("encoder", 1, 2)), (), (Head("decoder", 0, 3), Head("decoder", 0, 1))]
    removals = list(leave_one_out(model, batch, sets))
    for removal, heads in zip(removals, sets, strict=True):
        assert removal.heads == heads and removal.score == score(zeroed(model, heads), batch)
    assert removals[1].score == score(model, batch)


@pytest.mark.parametrize("way", ["reproject", "extra, states"])
def test_cumulative_removal_gives_nothing_back(way):
    model, batch = random_model(way), random_batch()
    order = by_loss(leave_one_out(model, batch, singles(model.config)))
    assert sorted(order) == sorted(singles(model.config))
    gone = ()
    for removal in cumulative(model, batch, order):
        gone += removal.heads
        assert removal.score == score(zeroed(model, gone), batch)
    # With no head left, nothing is known of the source.
    other = random_batch()
    other.src_ids[:, 0] = 13
    assert score(without_heads(model, gone), other) == removal.score


def test_order_by_loss_keeps_ties_as_they_came():
    model, batch = random_model("reproject"), random_batch()
    same = [(Head("cross", 0, 1),), (Head("cross", 0, 1),), ()]
    removals = list(leave_one_out(model, batch, same))
    assert by_loss(removals)[1 if by_loss(removals)[0] == () else 0] is same[0]


def test_pieces_on_an_executor_give_the_same_numbers():
    """What is sent and what comes back is pickled, as between processes."""
    model, batch = random_model("reproject"), random_batch()
    sets = singles(model.config)
    whole = run_plan(leave_one_out, model, batch, sets)
    order = by_loss(whole)
    curve = run_plan(cumulative, model, batch, order)
    gone = [head for heads in order[:9] for head in heads]
    jobs = [(leave_one_out, sets[:5]), (leave_one_out, sets[5:]), (cumulative, order[9:], gone)]
    with ThreadPoolExecutor(1) as executor:
        sent = [pickle.dumps((run_plan, plan, model, batch, *rest)) for plan, *rest in jobs]
        first, second, rest = (future.result() for future in [executor.submit(_arrived, job) for job in sent])
    assert first + second == whole
    assert rest == curve[9:]


def _arrived(job: bytes):
    function, *arguments = pickle.loads(job)
    return pickle.loads(pickle.dumps(function(*arguments)))


def test_heads_that_are_not_there_are_refused():
    model, batch = random_model("reproject"), random_batch()
    nobody = (Head("encoder", 2, 0),)
    for plan in (leave_one_out, cumulative):
        with pytest.raises(ValueError, match="no encoder layer 3 head 1"):
            run_plan(plan, model, batch, [nobody])
    with pytest.raises(ValueError, match="no encoder layer 3 head 1"):
        run_plan(leave_one_out, model, batch, [], nobody)
    with pytest.raises(ValueError, match="no side layer 1 head 1"):
        without_heads(model, [Head("side", 0, 0)])


@pytest.mark.parametrize("way", ["reproject", "grouped", "extra, slots"])
def test_gradient_importance_is_the_slope_of_each_examples_loss(way):
    """Against differences: each head's slice of W_O a little larger and a little smaller, example by example."""
    model, batch = random_model(way), random_batch()
    importance = gradient_importance(model, batch)
    step = 1e-5
    for head in all_heads(model.config):
        slopes = (example_losses(model, batch, head, 1 + step) - example_losses(model, batch, head, 1 - step)) / (
            2 * step
        )
        assert importance[head.kind][head.layer, head.number] == pytest.approx(slopes.abs().mean().item(), abs=1e-8)
    assert all(parameter.grad is None for parameter in model.parameters())


@torch.no_grad()
def example_losses(model, batch, head, factor):
    changed = zeroed(model, [])
    attention = attention_of(changed, head.kind, head.layer)
    attention.w_o.weight.unflatten(1, (attention.num_heads, -1))[:, head.number] *= factor
    logits = changed(batch.src_ids, batch.tgt_in).logits
    losses = F.cross_entropy(logits.mT, batch.tgt_out, ignore_index=PAD, reduction="none")
    return losses.sum(1) / (batch.tgt_out != PAD).sum(1)


def test_a_head_that_contributes_nothing_has_no_importance():
    model, batch = random_model("reproject").requires_grad_(False), random_batch()
    importance = gradient_importance(without_heads(model, [Head("decoder", 1, 3)]), batch)
    assert importance["decoder"][1, 3] == 0 and (importance["decoder"] > 0).sum() == 7


def test_layers_of_unequal_number():
    config = ModelConfig(
        StackConfig(11, 2, 3, num_layers=3), StackConfig(7, 3, 2, num_layers=1), src_vocab_size=19, tgt_vocab_size=23
    )
    model, batch = EncoderDecoder(config).double().eval(), random_batch()
    for removal in leave_one_out(model, batch, singles(config)):
        assert removal.score == score(zeroed(model, removal.heads), batch)
    importance = gradient_importance(model, batch)
    assert {kind: values.shape for kind, values in importance.items()} == {
        "encoder": (3, 2),
        "decoder": (1, 3),
        "cross": (1, 3),
    }
