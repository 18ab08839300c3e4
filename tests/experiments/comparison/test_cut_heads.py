"""The same model cut into twice as many heads: what changes with the cut cannot be compared across head counts."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from made_up_rows import row

from attention import EncoderDecoder, ModelConfig, StackConfig
from attention.ablation.silence import without_heads
from attention.checkpoints import load
from attention.experiments.comparison import Comparison, fixes, sweep
from attention.experiments.comparison.findings import fixes_findings, sweep_findings
from attention.experiments.comparison.head_measures import mean_divergence, measure_heads
from attention.inspection.heads import Head
from attention.tasks import get_task, make_batch

ACROSS_HEAD_COUNTS = ("entropy", "distance", "effective_maps")
TASK = get_task("spelling")
EXAMPLES = TASK.held_out(60)


def shipped_model(dec_heads: int, kv: str = "reproject") -> EncoderDecoder:
    """8 heads of 8 in the encoder, and so many of 8 in the decoder."""
    stacks = StackConfig(64, 8, num_layers=2), StackConfig(64, dec_heads, 8, num_layers=2)
    sizes = {"src_vocab_size": len(TASK.src_vocab), "tgt_vocab_size": len(TASK.tgt_vocab)}
    return load("spelling", ModelConfig(*stacks, kv, bias=True, **sizes))[0].eval()


def cut_in_halves(model: EncoderDecoder) -> EncoderDecoder:
    """Each decoder head as two: W_Q, W_K and W_O twice, and of V one half each, the other half zeros."""
    heads, size = model.config.decoder.num_heads, model.config.decoder.head_dim
    decoder = replace(model.config.decoder, num_heads=2 * heads, num_kv_heads=2 * heads)
    weights = {}
    for name, weight in model.state_dict().items():
        *_, layer, which = name.split(".")
        if name.startswith("decoder.") and layer in ("w_q", "w_k", "w_v"):
            weight = weight.unflatten(0, (heads, size)).repeat_interleave(2, dim=0)
            if layer == "w_v":
                weight[0::2, size // 2 :] = 0
                weight[1::2, : size // 2] = 0
            weight = weight.flatten(0, 1)
        elif name.startswith("decoder.") and layer == "w_o" and which == "weight":
            weight = weight.unflatten(1, (heads, size)).repeat_interleave(2, dim=1).flatten(1)
        weights[name] = weight
    return EncoderDecoder.with_weights(replace(model.config, decoder=decoder), weights)


@pytest.fixture(scope="module")
def whole():
    return shipped_model(8)


@pytest.fixture(scope="module")
def halves(whole):
    return cut_in_halves(whole)


def test_the_cut_model_is_the_same_to_the_last_bit(whole, halves):
    batch = make_batch(TASK, [(example.source, example.targets[0]) for example in EXAMPLES])
    with torch.no_grad():
        assert torch.equal(whole(batch.src_ids, batch.tgt_in).logits, halves(batch.src_ids, batch.tgt_in).logits)


def test_what_judges_across_head_counts_stays_and_means_over_pairs_do_not(whole, halves):
    before, after = (measure_heads(model, TASK, EXAMPLES) for model in (whole, halves))
    for measure in ACROSS_HEAD_COUNTS:
        assert getattr(after, measure) == pytest.approx(getattr(before, measure), abs=1e-5), measure
    assert after.same_contribution < 0.6 * before.same_contribution
    assert abs(after.same_pattern - before.same_pattern) > 0.02


def test_every_finding_that_compares_head_counts_has_such_a_measure():
    """What is judged has to be accuracy, which is the model's own, or a measure that a cut leaves alone."""
    comparison = Comparison("reverse", 2, 4, num_seeds=2, num_steps=3, width=16)
    for keep in ("size", "width"):
        chosen = replace(comparison, keep=keep)
        made = [row(chosen, arm, seed) for arm in fixes(chosen) if not arm.error for seed in range(2)]
        judged = {finding.measure for finding in fixes_findings(made, chosen)}
        assert judged <= {"sequence_accuracy", *ACROSS_HEAD_COUNTS}
        assert ("effective_maps" in judged) == (keep == "size")  # smaller heads cannot share the encoder's keys
    made = [row(comparison, arm, seed) for arm in sweep(comparison) for seed in range(2)]
    judged = {finding.measure for finding in sweep_findings(made, 2)}
    assert "effective_maps" in judged and judged <= {"sequence_accuracy", *ACROSS_HEAD_COUNTS}


def test_heads_without_a_common_column_are_no_pair_of_a_mean():
    """Encoder-fed heads and heads that read the decoder's own slots: .37 counts them as unlike, .80 leaves them out."""
    model = shipped_model(16, "extra")
    found = measure_heads(model, TASK, EXAMPLES)
    batch = make_batch(TASK, [(example.source, example.targets[0]) for example in EXAMPLES])
    with torch.no_grad():
        out = model(batch.src_ids, batch.tgt_in)
    real, layers = (batch.tgt_out != 0), []
    for maps in out.maps.cross:
        rows = maps.transpose(1, 2)[real].transpose(0, 1).numpy()  # (heads, rows, columns), padding has no weight
        layers.append(1 - mean_divergence(rows))
    within = [likeness[a:b, a:b][np.triu_indices(8, k=1)] for likeness in layers for a, b in ((0, 8), (8, 16))]
    assert found.same_pattern == pytest.approx(np.mean(within), abs=0.02)  # rows weigh alike here, words there
    assert found.same_pattern > 1.7 * np.mean([likeness[np.triu_indices(16, k=1)] for likeness in layers])
    assert all(abs(likeness[:8, 8:]).max() < 1e-6 for likeness in layers)  # and 0 in the matrix, as they are disjoint


def test_dead_heads_are_seen_by_their_size():
    """Three heads of the second layer are cut off from W_O: they add nothing, and all others what they did."""
    model = shipped_model(16, "extra")
    whole = measure_heads(model, TASK, EXAMPLES).contribution_sizes
    assert len(whole) == 2 * 16
    assert max(whole[:16]) == max(whole[16:]) == 1
    dead = [Head("cross", 1, number) for number in (8, 11, 15)]
    sizes = measure_heads(without_heads(model, dead), TASK, EXAMPLES).contribution_sizes
    assert [number for number, size in enumerate(sizes[16:]) if size < 0.01] == [8, 11, 15]
    assert sizes[:16] == pytest.approx(whole[:16])
