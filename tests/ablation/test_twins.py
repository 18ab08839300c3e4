"""Copies that do the same in another basis, and what becomes of them when they are removed or folded."""

import numpy as np
import pytest
import torch
from all_ways import WAYS, random_batch, random_model

from attention.ablation.silence import without_heads
from attention.ablation.twins import PATTERN, PLAIN, REBASED, ROTATED, copy_head, fold, random_basis, random_rotation
from attention.config import ATTENTION_KINDS
from attention.inspection.batch import collect
from attention.inspection.heads import Head
from attention.messages import MessageError

ALONE = ["reproject", "no biases", "projection, full"]  # each head has keys and values of its own


def heads(model, kind, layer=1):
    return getattr(collect(model, random_batch()), kind)[layer]


@pytest.mark.parametrize("copy", [PLAIN, ROTATED, REBASED])
@pytest.mark.parametrize("kind", ATTENTION_KINDS)
@pytest.mark.parametrize("way", ALONE)
def test_a_copy_does_the_same_and_the_others_stay(way, kind, copy):
    model = random_model(way)
    changed = copy_head(model, Head(kind, 1, 0), Head(kind, 1, 2), copy)
    before, after = heads(model, kind), heads(changed, kind)
    np.testing.assert_allclose(after.weights[2], after.weights[0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(after.contributions[2], after.contributions[0], rtol=0, atol=1e-11)
    others = [number for number in range(after.num_heads) if number != 2]
    np.testing.assert_array_equal(after.contributions[others], before.contributions[others])
    same = np.abs(after.queries[2] - after.queries[0]).max() < 1e-12
    assert same == (copy == PLAIN)
    assert (np.abs(after.mixed[2] - after.mixed[0]).max() < 1e-12) == (copy == PLAIN)


@pytest.mark.parametrize("kind", ATTENTION_KINDS)
@pytest.mark.parametrize("way", ALONE)
def test_the_same_pattern_with_other_values(way, kind):
    model = random_model(way)
    before, after = heads(model, kind), heads(copy_head(model, Head(kind, 1, 1), Head(kind, 1, 0), PATTERN), kind)
    np.testing.assert_array_equal(after.weights[0], after.weights[1])
    for field in ("w_v", "b_v", "w_o"):
        np.testing.assert_array_equal(getattr(after.projections, field), getattr(before.projections, field))
    assert np.abs(after.contributions[0] - after.contributions[1]).max() > 0.1


def test_what_does_not_fit_is_refused():
    model = random_model("reproject")
    source = Head("cross", 0, 0)
    for target in (Head("cross", 1, 1), Head("decoder", 0, 1), source):
        with pytest.raises(ValueError, match="two heads of the same kind and layer"):
            copy_head(model, source, target)
    with pytest.raises(ValueError, match="one of plain, rotated"):
        copy_head(model, source, Head("cross", 0, 1), "mirrored")
    with pytest.raises(ValueError, match=r"condition \(0.5\)"):
        copy_head(model, source, Head("cross", 0, 1), REBASED, condition=0.5)
    with pytest.raises(ValueError, match="no cross layer 1 head 5"):
        copy_head(model, source, Head("cross", 0, 4))


def test_heads_that_share_keys():
    """Six query heads on three K/V heads: a twin within a group needs no new keys, one across groups would."""
    model = random_model("grouped")
    twin = heads(copy_head(model, Head("cross", 1, 0), Head("cross", 1, 1)), "cross")
    np.testing.assert_array_equal(twin.contributions[0], twin.contributions[1])
    pattern = heads(copy_head(model, Head("cross", 1, 0), Head("cross", 1, 1), PATTERN), "cross")
    np.testing.assert_array_equal(pattern.weights[0], pattern.weights[1])
    for target, copy in ((2, PLAIN), (1, ROTATED), (1, REBASED)):
        with pytest.raises(MessageError, match="shares its keys and values") as refusal:
            copy_head(model, Head("cross", 1, 0), Head("cross", 1, target), copy)
        message = refusal.value.message
        assert message.code == "shares_keys"
        assert dict(message.values) == {"kind": "cross", "layer": 2, "head": target + 1}
    for way in ("direct", "extra, slots", "extra, states"):
        with pytest.raises(ValueError, match="shares its keys and values"):
            copy_head(random_model(way), Head("cross", 0, 0), Head("cross", 0, 2))


def test_a_mixture_of_heads_can_be_copied_as_it_is():
    model = random_model("projection, mix")
    twin = heads(copy_head(model, Head("cross", 0, 3), Head("cross", 0, 1)), "cross", 0)
    np.testing.assert_allclose(twin.contributions[3], twin.contributions[1], rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="shares its keys and values"):
        copy_head(model, Head("cross", 0, 3), Head("cross", 0, 1), ROTATED)


@pytest.mark.parametrize("copy", [PLAIN, ROTATED, REBASED])
@pytest.mark.parametrize("kind", ATTENTION_KINDS)
@pytest.mark.parametrize("way", ALONE)
@torch.no_grad()
def test_folding_a_twin_changes_nothing_and_plain_removal_does(way, kind, copy):
    batch, survivor, removed = random_batch(), Head(kind, 1, 0), Head(kind, 1, 2)
    model = copy_head(random_model(way), survivor, removed, copy)
    logits = model(batch.src_ids, batch.tgt_in).logits
    for stays, goes in ((survivor, removed), (removed, survivor)):
        folded, misfit = fold(model, stays, goes)
        assert misfit < 1e-12
        torch.testing.assert_close(folded(batch.src_ids, batch.tgt_in).logits, logits, rtol=0, atol=1e-10)
        assert not heads(folded, kind).contributions[goes.number].any()
        removed_plainly = without_heads(model, [goes])(batch.src_ids, batch.tgt_in).logits
        assert (removed_plainly - logits).abs().max() > 1e-2


@pytest.mark.parametrize("way", ["grouped", "projection, mix"])
@torch.no_grad()
def test_folding_where_keys_are_shared(way):
    batch = random_batch()
    model = copy_head(random_model(way), Head("cross", 1, 0), Head("cross", 1, 1))
    logits = model(batch.src_ids, batch.tgt_in).logits
    folded, misfit = fold(model, Head("cross", 1, 0), Head("cross", 1, 1))
    assert misfit < 1e-12
    torch.testing.assert_close(folded(batch.src_ids, batch.tgt_in).logits, logits, rtol=0, atol=1e-10)


def test_the_misfit_tells_strangers_from_twins():
    model = random_model("reproject")
    assert fold(model, Head("encoder", 0, 0), Head("encoder", 0, 1)).misfit > 0.3
    with pytest.raises(ValueError, match="do not both read the source"):
        fold(random_model("extra, slots"), Head("cross", 0, 0), Head("cross", 0, 4))
    with pytest.raises(ValueError, match="two heads of the same kind and layer"):
        fold(model, Head("encoder", 0, 0), Head("encoder", 1, 1))


def test_the_model_given_stays_as_it_is_and_seeds_decide():
    model = random_model("reproject")
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    source, target = Head("cross", 1, 0), Head("cross", 1, 2)
    state = torch.get_rng_state()
    first, again, other = (copy_head(model, source, target, REBASED, seed=seed) for seed in (0, 0, 1))
    fold(model, source, target)
    assert torch.equal(state, torch.get_rng_state())
    assert all(torch.equal(weight, before[name]) for name, weight in model.state_dict().items())
    w_q = [changed.decoder.layers[1].cross.w_q.weight for changed in (first, again, other)]
    assert torch.equal(w_q[0], w_q[1]) and not torch.equal(w_q[0], w_q[2])


@pytest.mark.parametrize("size", [1, 2, 7])
def test_random_bases(size):
    generator = torch.Generator().manual_seed(0)
    rotation = random_rotation(size, generator)
    torch.testing.assert_close(rotation @ rotation.T, torch.eye(size, dtype=torch.float64), rtol=0, atol=1e-14)
    basis = random_basis(size, 10.0, generator)
    assert torch.linalg.cond(basis).item() == pytest.approx(10.0 if size > 1 else 1.0)


def test_every_way_is_known_here():
    assert set(ALONE) < set(WAYS)
