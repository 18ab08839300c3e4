"""A changed copy shares what it does not change, and nothing that happens to it reaches the model it came from."""

import torch
from all_ways import random_batch, random_model

from attention.ablation.importance import gradient_importance
from attention.ablation.removal import cumulative, leave_one_out, singles
from attention.ablation.sharing import sharing_copy
from attention.ablation.silence import without_heads
from attention.ablation.twins import copy_head, fold
from attention.inspection.heads import Head

SOURCE, TARGET = Head("cross", 1, 0), Head("cross", 1, 2)


def own_parameters(changed, model):
    """The names of those that lie in memory of their own."""
    theirs = dict(model.named_parameters())
    return {name for name, x in changed.named_parameters() if x.data_ptr() != theirs[name].data_ptr()}


def test_only_what_changes_is_copied():
    model = random_model("reproject")
    assert own_parameters(sharing_copy(model), model) == set()
    assert own_parameters(without_heads(model, [SOURCE]), model) == {"decoder.layers.1.cross.w_o.weight"}
    assert own_parameters(fold(model, SOURCE, TARGET).model, model) == {"decoder.layers.1.cross.w_o.weight"}
    twin = own_parameters(copy_head(model, SOURCE, TARGET), model)
    assert twin and all(name.startswith("decoder.layers.1.cross.") for name in twin)


def test_the_model_given_stays_as_it_is():
    model, batch = random_model("reproject").requires_grad_(False), random_batch()
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    order = singles(model.config)
    list(leave_one_out(model, batch, order)), list(cumulative(model, batch, order))
    gradient_importance(model, batch)
    sharing_copy(model)(batch.src_ids, batch.tgt_in).logits.sum().backward()
    assert all(torch.equal(weight, before[name]) for name, weight in model.state_dict().items())
    assert all(x.grad is None and not x.requires_grad for x in model.parameters())
    assert not model.training and not sharing_copy(model).training
