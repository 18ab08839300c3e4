"""Heads that an answer hangs on, compared with decoding anew without each."""

import pytest
import torch

from attention import EncoderDecoder, ModelConfig, StackConfig
from attention.ablation.needed import needed_heads
from attention.ablation.silence import without_heads
from attention.checkpoints import load, shipped
from attention.decoding import greedy_decode
from attention.inspection.heads import all_heads
from attention.tasks import get_task


def answer(model, task, text):
    tokens = task.read(text)
    src_ids = torch.tensor([task.encode_source(tokens)])
    limit = task.max_tgt_len(len(tokens))
    return src_ids, torch.tensor(greedy_decode(model, src_ids, limit)[0]), limit


@pytest.mark.sample(1)
@pytest.mark.parametrize("text", ["knight", "queue", "rhythm"])
def test_they_are_those_without_which_decoding_gives_something_else(text):
    task = get_task("spelling")
    config = next(config for (name, config) in shipped() if name == "spelling")
    model, _ = load("spelling", config)
    src_ids, output, limit = answer(model, task, text)
    changing = {
        head
        for head in all_heads(config)
        if greedy_decode(without_heads(model, [head]), src_ids, limit)[0] != output.tolist()
    }
    assert set(needed_heads(model, src_ids, output)) == changing


def test_a_model_that_cannot_change_its_answer_needs_no_head():
    """With all of W_O zero heads add nothing, whoever is taken away."""
    stack = StackConfig(16, 2)
    task = get_task("reverse")
    config = ModelConfig(stack, stack, src_vocab_size=len(task.src_vocab), tgt_vocab_size=len(task.tgt_vocab))
    model = EncoderDecoder(config, seed=3)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "w_o" in name:
                weight.zero_()
    src_ids, output, _ = answer(model, task, "abc")
    assert needed_heads(model, src_ids, output) == ()
