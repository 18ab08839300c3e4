"""What is gathered, against the model itself: example by example without padding, and put together from weights."""

import numpy as np
import pytest
import torch
from all_ways import WAYS, random_batch, random_model

from attention.config import ATTENTION_KINDS, PAD
from attention.functional import share_kv_heads
from attention.inspection.batch import collect, held_out_batch
from attention.inspection.heads import (
    Head,
    all_heads,
    attention_of,
    head_weights,
    num_kv_heads,
    output_slice,
    readers_of,
    require_heads,
)
from attention.tasks import get_task

ways = pytest.mark.parametrize("way", WAYS)


def close(actual, expected, tolerance=1e-12):
    np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=0, atol=tolerance)


@ways
@torch.no_grad()
def test_each_example_as_if_it_were_alone(way):
    model, batch = random_model(way), random_batch()
    collected = collect(model, batch)
    for number in range(len(batch.src_ids)):
        src = batch.src_ids[number : number + 1, : (batch.src_ids[number] != PAD).sum()]
        tgt = batch.tgt_in[number : number + 1, : (batch.tgt_in[number] != PAD).sum()]
        alone = model(src, tgt)
        for kind in ATTENTION_KINDS:
            for heads, maps, queries in zip(
                getattr(collected, kind), getattr(alone.maps, kind), getattr(alone.queries, kind), strict=True
            ):
                rows = heads.example == number
                assert (heads.position[rows] == np.arange(rows.sum())).all()
                close(heads.queries[:, rows], queries[0])
                used = heads.allowed[:, rows].any((0, 1))
                weights = heads.weights[:, rows]
                close(weights.sum(-1), 1)
                assert (weights[..., ~used] == 0).all()
                close(weights[..., used], maps[0])


@ways
@torch.no_grad()
def test_the_weights_of_the_heads_make_what_the_model_made(way):
    """Queries, keys, values and outputs from each head's own slices, the whole way from the memory."""
    model, batch = random_model(way), random_batch()
    encoded = model.encode(batch.src_ids)
    _, own, cross = model.decoder(batch.tgt_in, encoded.memory)
    for layer, recording in enumerate(cross):
        attention, weights = attention_of(model, "cross", layer), head_weights(model, "cross", layer)
        source = encoded.memory.hidden.numpy()
        for w, b, made in ((weights.w_k, weights.b_k, recording.keys), (weights.w_v, weights.b_v, recording.values)):
            made = share_kv_heads(made, attention.num_heads)[:, :, : source.shape[1]].numpy()
            read = ~np.isnan(w).any((1, 2))
            assert read.sum() == (3 if way.startswith("extra") else attention.num_heads)
            assert np.isnan(b[~read]).all()
            close(np.einsum("bsw,hwd->bhsd", source, w[read]) + b[read][:, None], made[:, read])
        assert recording.keys.shape[1] == num_kv_heads(model.config, "cross")
    for kind, recordings in zip(ATTENTION_KINDS, (encoded.recordings, own, cross), strict=True):
        for layer, recording in enumerate(recordings):
            attention, weights = attention_of(model, kind, layer), head_weights(model, kind, layer)
            added = np.einsum("bhqd,hdw->bqw", recording.mixed.numpy(), weights.w_o)
            bias = 0 if attention.w_o.bias is None else attention.w_o.bias.numpy()
            close(added + bias, attention.w_o(recording.mixed.transpose(1, 2).flatten(2)))


@torch.no_grad()
def test_self_attention_with_shared_keys():
    """Each head has a copy of what it shares."""
    model = random_model("reproject, shared")
    weights = head_weights(model, "decoder", 1)
    assert weights.w_k.shape == (4, 7, 5)
    np.testing.assert_array_equal(weights.w_k[0], weights.w_k[1])
    np.testing.assert_array_equal(weights.b_v[2], weights.b_v[3])
    assert (weights.w_k[1] != weights.w_k[2]).any()
    x = torch.ones(1, 1, 7, dtype=torch.float64)
    layer = model.decoder.layers[1].attention
    for made, w, b in ((layer.w_k(x), weights.w_k, weights.b_k), (layer.w_v(x), weights.w_v, weights.b_v)):
        close((np.ones(7) @ w + b)[[0, 2]].ravel(), made.ravel())


def test_contributions_add_up_to_what_the_layer_adds():
    model, batch = random_model("reproject"), random_batch()
    for kind in ATTENTION_KINDS:
        for heads in getattr(collect(model, batch), kind):
            close(heads.contributions, np.einsum("hrd,hdw->hrw", heads.mixed, heads.projections.w_o))
            assert heads.contributions.shape == (heads.num_heads, len(heads.example), 11 if kind == "encoder" else 7)


def test_where_a_row_is_expected_to_look():
    collected = collect(random_model("reproject"), random_batch())
    assert collected.encoder[0].expected.tolist() == [0, 1, 2, 3, 4, 0, 1, 0, 1, 2, 3]
    assert collected.encoder[0].backwards.tolist() == [4, 3, 2, 1, 0, 1, 0, 3, 2, 1, 0]
    assert collected.decoder[1].expected.tolist() == [0, 1, 2, 0, 1, 0, 1, 2, 3]
    # Two sounds for four letters, one for one, three for three; then the end token.
    assert collected.cross[0].expected.tolist() == [0, 3, 4, 0, 1, 0, 1, 2, 3]
    assert collected.cross[0].backwards.tolist() == [3, 0, 4, 0, 1, 2, 1, 0, 3]
    assert collected.encoder[0].end.tolist() == [4, 4, 4, 4, 4, 1, 1, 3, 3, 3, 3]
    assert (collected.decoder[0].end == -1).all()
    assert collected.cross[0].end.tolist() == [4, 4, 4, 1, 1, 3, 3, 3, 3]
    assert collected.cross[0].example.tolist() == [0, 0, 0, 1, 1, 2, 2, 2, 2]
    assert [heads.layer for heads in collected] == [0, 1, 0, 1, 0, 1]


def test_an_ordinary_pass_returns_no_more_than_before():
    model, batch = random_model("reproject"), random_batch()
    out = model(batch.src_ids, batch.tgt_in)
    assert out._fields == ("logits", "maps", "queries", "masks")
    encoded = model.encode(batch.src_ids, need_maps=False)
    _, own, cross = model.decoder(batch.tgt_in, encoded.memory, need_maps=False)
    assert encoded.recordings == () and all(part is None for recording in own + cross for part in recording)


def test_writing_to_a_slice_changes_the_model():
    model = random_model("reproject")
    with torch.no_grad():
        output_slice(model, Head("cross", 1, 2)).zero_()
    columns = model.decoder.layers[1].cross.w_o.weight.any(0)
    assert columns.tolist() == [True] * 4 + [False] * 2 + [True] * 2


def test_heads_by_name():
    config = WAYS["reproject"]
    heads = all_heads(config)
    assert len(heads) == 2 * 3 + 2 * 4 + 2 * 4 == len(set(heads))
    assert [str(head) for head in all_heads(config, ["cross"])][:2] == ["cross layer 1 head 1", "cross layer 1 head 2"]
    require_heads(config, heads)
    with pytest.raises(ValueError, match=r"no encoder layer 1 head 4 .* 2 encoder layers of 3 heads"):
        require_heads(config, [Head("encoder", 0, 3)])


@ways
@torch.no_grad()
def test_with_all_its_readers_away_a_kv_head_is_read_by_nobody(way):
    """Against the model itself: values of one K/V head are changed, and only its readers' outputs change."""
    model, batch = random_model(way), random_batch()
    encoded = model.encode(batch.src_ids)
    _, own, cross = model.decoder(batch.tgt_in, encoded.memory)
    for kind, recordings in zip(ATTENTION_KINDS, (encoded.recordings, own, cross), strict=True):
        count, heads = num_kv_heads(model.config, kind), recordings[1].weights.shape[1]
        sets = [readers_of(model.config, kind, 1, number) for number in range(count)]
        assert sum(sets, ()) == tuple(head for head in all_heads(model.config, [kind]) if head.layer == 1)
        values = recordings[1].values
        assert values.shape[1] == count
        for number, readers in enumerate(sets):
            louder = values.clone()
            louder[:, number] += 1
            mixed = recordings[1].weights @ share_kv_heads(louder, heads)
            differs = (mixed - recordings[1].mixed).abs().amax((0, 2, 3)) > 1e-6
            assert differs.nonzero().flatten().tolist() == [head.number for head in readers]


def test_held_out_examples():
    task = get_task("reverse")
    batch, golds = held_out_batch(task, 5)
    assert batch.src_ids.shape[0] == len(golds) == 5
    again = held_out_batch(task, 5)
    assert torch.equal(batch.src_ids, again.batch.src_ids) and golds == again.golds
    with pytest.raises(ValueError, match=r"num_examples \(0\)"):
        held_out_batch(task, 0)
