"""What the heads do, measured over many padded examples at once, against one example at a time and against SciPy."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.spatial.distance import jensenshannon

from attention import EncoderDecoder, ModelConfig, StackConfig
from attention.experiments.comparison.head_measures import mean_divergence, measure_heads
from attention.functional import share_kv_heads
from attention.metrics import entropy, mean_distance
from attention.tasks import END, START, get_task

TASK = get_task("reverse")
HEADS = {"enc": 3, "dec": 6, "dim": 5}


def model(kv: str, variant: str | None = None, seed: int = 3) -> EncoderDecoder:
    stacks = (StackConfig(13, HEADS[side], HEADS["dim"], num_layers=2) for side in ("enc", "dec"))
    sizes = {"src_vocab_size": len(TASK.src_vocab), "tgt_vocab_size": len(TASK.tgt_vocab)}
    return EncoderDecoder(ModelConfig(*stacks, kv, variant, bias=True, **sizes), seed).eval()


@torch.no_grad()
def with_contributions(made: EncoderDecoder, src_ids, tgt_in):
    """A pass with maps, and for each layer what every head adds, A·V·W_O: (batch, heads, q_len, width)."""
    inputs = {}
    layers = [layer.cross for layer in made.decoder.layers]
    hooks = [cross.register_forward_pre_hook(lambda cross, args: inputs.update({cross: args[:3]})) for cross in layers]
    out = made(src_ids, tgt_in)
    for hook in hooks:
        hook.remove()
    contributions = []
    for cross, weights in zip(layers, out.maps.cross, strict=True):
        x, memory, own_mask = inputs[cross]
        values = share_kv_heads(cross.kv_way(memory, x, own_mask).v, cross.num_heads)
        w_o = cross.w_o.weight.unflatten(1, (cross.num_heads, -1))  # (width, heads, head_dim)
        contributions.append(torch.einsum("bhqd,whd->bhqw", weights @ values, w_o))
    return out, contributions


WAYS = [("reproject", None), ("projection", "mix"), ("grouped", None), ("extra", "slots"), ("extra", "states")]


@pytest.mark.parametrize(("kv", "variant"), WAYS)
def test_contributions_add_up_to_what_cross_attention_gives(kv, variant):
    made = model(kv, variant)
    cross = made.decoder.layers[1].cross
    given = []
    cross.register_forward_hook(lambda module, args, output: given.append(output[0]))
    src, tgt = torch.tensor([[5, 7, 11, END], [13, 4, END, 0]]), torch.tensor([[START, 9, 5], [START, 8, 0]])
    with torch.no_grad():
        _, contributions = with_contributions(made, src, tgt)
    torch.testing.assert_close(contributions[1].sum(1) + cross.w_o.bias, given[0])


@torch.no_grad()
def one_at_a_time(made: EncoderDecoder, examples) -> tuple:
    """All measures, from unpadded examples and SciPy, and the sizes of all contributions."""
    figures, sizes = [], []
    own = [made.config.kv == "extra" and head >= HEADS["enc"] for head in range(HEADS["dec"])]
    comparable = np.equal.outer(own, own)  # heads of the encoder's K/V and heads of the decoder's own share no column
    for layer in range(2):
        entropies, distances, divergences, added = [], [], [], []
        for example in examples:
            target = example.targets[0]
            src = torch.tensor([TASK.encode_source(example.source)])
            tgt = torch.tensor([[START, *TASK.tgt_vocab.encode(target)]])
            out, contributions = with_contributions(made, src, tgt)
            maps, length = out.maps.cross[layer][0].double().numpy(), src.shape[1]
            mask = out.masks.cross[layer].expand(1, *maps.shape)[0].numpy()
            entropies.append(entropy(maps[..., :length], mask[..., :length]))
            backwards = np.array(
                [*range(len(target) - 1, -1, -1), length - 1], dtype=float
            )  # as the answer is reversed
            distances.append(mean_distance(maps[..., :length], mask[..., :length], expected=backwards))
            divergences.append([[np.mean(jensenshannon(a, b, axis=-1, base=2) ** 2) for b in maps] for a in maps])
            added.append(contributions[layer][0].double().numpy())
        pairs = np.triu(comparable, k=1)
        likeness = np.where(comparable, 1 - np.mean(divergences, axis=0), 0.0)
        share = np.linalg.eigvalsh(likeness) / HEADS["dec"]
        rows = np.concatenate(added, axis=1)
        lengths = np.sqrt((rows**2).sum(-1)).mean(-1)
        sizes += list(lengths / lengths.max())
        long = rows.reshape(HEADS["dec"], -1)
        long /= np.linalg.norm(long, axis=1, keepdims=True)
        figures.append(
            (
                np.nanmean(entropies),
                np.nanmean(distances),
                np.mean(likeness[pairs]),
                np.mean((long @ long.T)[np.triu_indices(HEADS["dec"], k=1)]),
                np.prod(share**-share),
            )
        )
    return *np.mean(figures, axis=0), *sizes


@pytest.mark.parametrize(("kv", "variant"), WAYS)
def test_padding_changes_nothing(kv, variant):
    made, examples = model(kv, variant), TASK.held_out(7)
    assert len({len(example.source) for example in examples}) > 2
    found = measure_heads(made, TASK, examples)
    expected = one_at_a_time(made, examples)
    given = (found.entropy, found.distance, found.same_pattern, found.same_contribution, found.effective_maps)
    given += found.contribution_sizes
    np.testing.assert_allclose(given, expected, atol=1e-6)


def test_divergence_of_equal_and_of_disjoint_rows():
    rows = np.array([[[1.0, 0, 0]], [[1.0, 0, 0]], [[0, 0.5, 0.5]]])  # (heads, 1, 3)
    np.testing.assert_allclose(mean_divergence(rows), [[0, 0, 1], [0, 0, 1], [1, 1, 0]], atol=1e-12)


def test_heads_that_are_copies_are_wholly_redundant():
    made = model("grouped")
    for layer in made.decoder.layers:  # query heads 0 and 1 share a K/V head: with equal queries they are one head
        for weight, axis in ((layer.cross.w_q.weight, 0), (layer.cross.w_q.bias, 0), (layer.cross.w_o.weight, 1)):
            first = weight.data.narrow(axis, 0, HEADS["dim"])
            for head in range(1, HEADS["dec"]):
                weight.data.narrow(axis, head * HEADS["dim"], HEADS["dim"]).copy_(first)
    made.encoder.w_k.weight.data[HEADS["dim"] :] = made.encoder.w_k.weight.data[: HEADS["dim"]].repeat(2, 1)
    made.encoder.w_v.weight.data[HEADS["dim"] :] = made.encoder.w_v.weight.data[: HEADS["dim"]].repeat(2, 1)
    found = measure_heads(made, TASK, TASK.held_out(5))
    assert found.same_pattern == pytest.approx(1, abs=1e-6)
    assert found.same_contribution == pytest.approx(1, abs=1e-6)
    assert found.effective_maps == pytest.approx(1, abs=1e-4)
    assert found.contribution_sizes == pytest.approx([1] * 2 * HEADS["dec"])


def test_a_re_based_value_matrix_changes_no_measure():
    made, examples = model("reproject"), TASK.held_out(5)
    before = measure_heads(made, TASK, examples)
    basis = torch.randn(5, 5, generator=torch.Generator().manual_seed(1)).double()
    cross = made.decoder.layers[0].cross
    made.double()
    head = slice(5, 10)
    cross.kv_way.w_v.weight.data[head] = basis @ cross.kv_way.w_v.weight.data[head]
    cross.kv_way.w_v.bias.data[head] = basis @ cross.kv_way.w_v.bias.data[head]
    cross.w_o.weight.data[:, head] = cross.w_o.weight.data[:, head] @ basis.inverse()
    after = measure_heads(made, TASK, examples)
    assert after.same_contribution == pytest.approx(before.same_contribution, abs=1e-6)
    assert after.same_pattern == pytest.approx(before.same_pattern, abs=1e-6)


def test_one_head_has_no_redundancy():
    made = model("reproject")
    alone = EncoderDecoder(replace(made.config, decoder=replace(made.config.decoder, num_heads=1, num_kv_heads=1)))
    found = measure_heads(alone.eval(), TASK, TASK.held_out(5))
    assert np.isnan(found.same_pattern) and np.isnan(found.same_contribution)
    assert 0 <= found.entropy <= 1
    assert (found.effective_maps, found.contribution_sizes) == (1, (1, 1))


def test_a_task_that_does_not_go_backwards_is_measured_along_its_diagonal():
    made, examples = model("reproject"), [example for example in TASK.held_out(60) if len(example.source) == 7]
    backwards = measure_heads(made, TASK, examples).distance
    forwards = measure_heads(made, Forwards(), examples).distance
    for found, rows in ((backwards, [6, 5, 4, 3, 2, 1, 0, 7]), (forwards, [0, 1, 2, 3, 4, 5, 6, 7])):
        figures = []
        for example in examples:
            src = torch.tensor([TASK.encode_source(example.source)])
            tgt = torch.tensor([[START, *TASK.tgt_vocab.encode(example.targets[0])]])
            with torch.no_grad():
                maps = made(src, tgt).maps.cross
            away = np.abs(np.arange(8) - np.array(rows)[:, None])
            figures += [(layer[0].double().numpy() * away).sum(-1).mean() for layer in maps]
        assert found == pytest.approx(np.mean(figures), abs=1e-6)


class Forwards(type(TASK)):
    backwards = False
