"""What the library is given and cannot use: one sentence with both numbers, and never a broadcast without a word."""

import re

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from all_ways import WAYS, random_model
from hypothesis import given
from hypothesis import strategies as st
from random_numbers import randn, random_mask

from attention import EncoderDecoder, ModelConfig, StackConfig
from attention.decoding import decode_steps, decode_word
from attention.functional import attend, attention_scores, attention_weights, dropout, share_kv_heads, split_heads
from attention.metrics import end_weight, movement
from attention.tasks import Vocabulary
from attention.training.steps import TrainingSettings, advance, start

DEVICES = pytest.mark.parametrize("device", ["cpu", "meta"])
BOTH_PATHS = pytest.mark.parametrize("need_weights", [True, False])


def refused(function, *args, numbers=(), says="", **kwargs) -> str:
    """The sentence with which `function` refuses its arguments; it has to name these numbers."""
    with pytest.raises(ValueError) as caught:
        function(*args, **kwargs)
    sentence = str(caught.value)
    assert "\n" not in sentence and says in sentence
    assert {*map(int, re.findall(r"\d+", re.sub("(int|float)[0-9]+", "", sentence)))} >= {*numbers}, sentence
    return sentence


def qkv(q=(3, 4, 5, 7), k=(3, 4, 11, 7), v=(3, 4, 11, 13), device="cpu"):
    return (randn(*shape, seed=seed).to(device) for seed, shape in enumerate((q, k, v)))


@DEVICES
@BOTH_PATHS
@pytest.mark.parametrize(
    ("shapes", "says", "numbers"),
    [
        ({"q": (1, 4, 5, 7)}, "batch", (1, 3)),
        ({"k": (1, 4, 11, 7)}, "batch", (1, 3)),
        ({"v": (1, 4, 11, 13)}, "batch", (1, 3)),
        ({"q": (2, 4, 5, 7)}, "batch", (2, 3)),
        ({"k": (3, 1, 11, 7)}, "number of heads", (1, 4)),
        ({"v": (3, 2, 11, 13)}, "number of heads", (2, 4)),
        ({"k": (3, 3, 11, 7), "v": (3, 3, 11, 13)}, "multiple of K/V heads", (3, 4)),
        ({"k": (3, 0, 11, 7), "v": (3, 0, 11, 13)}, "multiple of K/V heads", (0, 4)),
        ({"k": (3, 4, 1, 7)}, "length", (1, 11)),
        ({"q": (3, 4, 5, 1)}, "head_dim", (1, 7)),
        ({"q": (3, 4, 5, 0), "k": (3, 4, 11, 0)}, "head_dim", (0, 1)),
        ({"q": (4, 5, 7)}, "queries", (4, 5, 7)),
        ({"v": (3, 4, 11)}, "values", (3, 4, 11)),
    ],
)
def test_what_would_broadcast_is_refused_with_both_numbers(shapes, says, numbers, need_weights, device):
    refused(attend, *qkv(**shapes, device=device), need_weights=need_weights, says=says, numbers=numbers)
    if says not in ("values", "number of heads", "length") and "v" not in shapes:
        q, k, _ = qkv(**shapes, device=device)
        for function in (attention_scores, attention_weights):
            refused(function, q, k, says=says, numbers=numbers)


@DEVICES
@BOTH_PATHS
@pytest.mark.parametrize(
    "shape",
    [(1,), (11,), (5, 1), (5, 10), (4, 11), (3, 5, 11), (2, 1, 1, 11), (3, 2, 5, 11), (1, 1, 1, 5), (1, 3, 1, 5, 11)],
)
def test_a_mask_that_does_not_fit_is_refused_with_both_shapes(shape, need_weights, device):
    q, k, v = qkv(device=device)
    mask = torch.ones(shape, dtype=torch.bool, device=device)
    numbers = (*shape, 3, 4, 5, 11)
    refused(attend, q, k, v, mask, need_weights=need_weights, says="mask", numbers=numbers)
    refused(attention_weights, q, k, mask, says="mask", numbers=numbers)


@DEVICES
@BOTH_PATHS
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.int64, torch.uint8])
def test_a_mask_that_is_not_boolean_is_refused_by_its_dtype(dtype, need_weights, device):
    """PyTorch adds a float mask to the scores: 0 hides nothing there and everything elsewhere."""
    q, k, v = qkv(device=device)
    mask = torch.zeros(5, 11, dtype=dtype, device=device)
    refused(attend, q, k, v, mask, need_weights=need_weights, says=str(dtype))
    refused(attention_weights, q, k, mask, says=str(dtype))


@given(
    batch=st.sampled_from([1, 2, 3]),
    kv_heads=st.sampled_from([1, 2, 3]),
    group=st.sampled_from([1, 2, 5]),
    lengths=st.tuples(st.integers(1, 5), st.integers(1, 7)),
    dims=st.tuples(st.sampled_from([1, 2, 7]), st.sampled_from([1, 3])),
    mask_axes=st.tuples(*[st.booleans()] * 3),
    need_weights=st.booleans(),
)
def test_what_fits_gives_what_pytorch_gives(batch, kv_heads, group, lengths, dims, mask_axes, need_weights):
    (q_len, kv_len), (head_dim, v_dim), heads = lengths, dims, kv_heads * group
    q, k, v = qkv(
        (batch, heads, q_len, head_dim), (batch, kv_heads, kv_len, head_dim), (batch, kv_heads, kv_len, v_dim)
    )
    axes = (size if whole else 1 for size, whole in zip((batch, heads, q_len), mask_axes, strict=True))
    mask = random_mask(*axes, kv_len)
    mask[..., 0] = True  # PyTorch has no rule for a row without keys
    found, weights = attend(q, k, v, mask, need_weights=need_weights)
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-10)
    if need_weights:
        assert torch.equal(attention_weights(q, k, mask), weights)
        assert torch.equal(attention_weights(q, share_kv_heads(k, heads), mask), weights)


@pytest.mark.parametrize("head_dim", [2, 8, 64, 128])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@BOTH_PATHS
def test_large_16_bit_products_do_not_overflow(dtype, head_dim, need_weights):
    """100 · 100 · 8 is above 65,504, the largest number of float16; the key of 100s beats that of 99s."""
    q = torch.full((1, 1, 1, head_dim), 100, dtype=dtype)
    k = torch.cat([q, torch.full_like(q, 99)], dim=2)
    v = torch.tensor([[[[1.0], [2.0]]]], dtype=dtype)
    output, weights = attend(q, k, v, need_weights=need_weights)
    assert output.dtype == dtype and output.tolist() == [[[[1.0]]]]
    if need_weights:
        assert weights.dtype == dtype and weights.tolist() == [[[[1.0, 0.0]]]]


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float16, 2e-3), (torch.bfloat16, 2e-2)])
def test_16_bit_weights_are_those_of_more_bits_rounded(dtype, tolerance):
    q, k = (x.to(dtype) for x in (randn(2, 3, 5, 7), randn(2, 3, 11, 7, seed=1)))
    expected = (q.double() @ k.double().mT / 7**0.5).softmax(-1)
    torch.testing.assert_close(attention_weights(q, k).double(), expected, rtol=tolerance, atol=0)


def test_smaller_slips_are_a_sentence_too():
    refused(split_heads, randn(2, 3, 10), 4, says="multiple", numbers=(10, 4))
    refused(split_heads, randn(2, 3, 10), 0, says="multiple", numbers=(10, 0))
    refused(dropout, randn(3), 1.0, torch.Generator(), says="below 1")
    refused(attend, *(x.long() for x in qkv()), says="torch.int64")
    q, k, v = qkv()
    refused(attend, q, k.numpy(), v, says="keys must be a tensor")
    for mask in ([[True] * 11] * 5, np.ones((5, 11), dtype=bool)):
        refused(attend, q, k, v, mask, says="the mask must be a tensor of torch.bool")


def model(kv="reproject", enc=(22, 2), dec=(26, 13)) -> EncoderDecoder:
    encoder, decoder = StackConfig(*enc, num_layers=1), StackConfig(*dec, num_layers=1)
    return EncoderDecoder(ModelConfig(encoder, decoder, kv=kv, src_vocab_size=29, tgt_vocab_size=31))


SOURCE, TARGET = torch.tensor([[3, 28, 5, 2]]), torch.tensor([[1, 30, 4]])


@DEVICES
@pytest.mark.parametrize("need_maps", [True, False])
@pytest.mark.parametrize(("sources", "targets"), [(1, 4), (4, 1), (2, 4)])
def test_other_numbers_of_sources_than_targets_are_refused(sources, targets, need_maps, device):
    ids = SOURCE.expand(sources, -1).to(device), TARGET.expand(targets, -1).to(device)
    refused(model().to(device), *ids, need_maps, says="batch", numbers=(sources, targets))


@pytest.mark.parametrize("way", WAYS)
def test_a_memory_of_another_batch_is_refused_whatever_the_way(way):
    made = random_model(way)
    src, tgt = torch.full((1, 5), 3), torch.full((4, 3), 1)
    refused(made.decode, tgt, made.encode(src), says="batch", numbers=(1, 4))


@DEVICES
@pytest.mark.parametrize("side", ["src_ids", "tgt_ids"])
@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda ids: ids[0], "of shape ("),
        (lambda ids: ids[None], "of shape (1, 1, "),
        (lambda ids: ids.float(), "torch.float32"),
        (lambda ids: ids > 0, "torch.bool"),
        (lambda ids: ids.tolist(), "list"),
    ],
)
def test_ids_of_another_kind_are_refused(side, change, says, device):
    ids = {"src_ids": SOURCE.to(device), "tgt_ids": TARGET.to(device)}
    if device == "meta" and says == "list":
        pytest.skip("a tensor without numbers makes no list")
    ids[side] = change(ids[side])
    assert refused(model().to(device), **ids, says=says).startswith(side)


def test_ids_outside_the_vocabulary_are_named_with_it():
    refused(model(), SOURCE + 1, TARGET, numbers=(29, 28))
    refused(model(), SOURCE, TARGET + 1, numbers=(31, 30))
    assert "-1" in refused(model(), SOURCE - 3, TARGET, numbers=(0, 28))


def test_ids_that_name_no_token_are_refused_when_they_are_read_back():
    vocabulary = Vocabulary(("a", "b"))
    refused(vocabulary.decode, [5], numbers=(5, 4))
    assert "-1" in refused(vocabulary.decode, [-1], numbers=(0, 4))
    refused(vocabulary.decode_answer, [3, 9], numbers=(9, 4))


def test_a_single_sequence_is_one_and_forced_tokens_are_one_row_each():
    refused(decode_word, model(), SOURCE.expand(2, -1), 3, says="batch", numbers=(2, 1))
    refused(decode_word, model(), SOURCE, 0, says="max_len", numbers=(0, 1))
    memory = model().encode(SOURCE.expand(4, -1)).memory
    refused(lambda: next(decode_steps(model(), memory, 1, forced=TARGET)), says="batch", numbers=(1, 4))


@pytest.mark.parametrize("seed", ["7", 7.0, True])
def test_a_seed_is_a_whole_number(seed):
    """Seeds are written into a text that is hashed: "7.0" would silently be another model than "7"."""
    refused(EncoderDecoder, model().config, seed, says=f"seed ({seed!r}) must be a whole number")
    for changed in ("seed", "num_steps", "batch_size"):
        numbers = {"num_steps": 4, "batch_size": 3, changed: seed}
        refused(TrainingSettings, "reverse", model().config, **numbers, says=f"{changed} ({seed!r}) must be a whole")


def test_a_model_is_made_from_a_configuration():
    refused(EncoderDecoder, None, says="config (None) must be a ModelConfig")
    refused(EncoderDecoder, model().config.to_dict(), says="must be a ModelConfig")


def test_measures_of_maps_take_maps():
    weights, allowed = np.full((2, 3, 4), 0.25), np.ones((3, 4), dtype=bool)
    refused(movement, weights[0], numbers=(3, 4))
    refused(end_weight, weights, allowed, np.array([3]), says="one column per row (3)", numbers=(1, 3))


def test_one_handed_over_head_still_serves_all():
    found = model("direct", enc=(22, 1, 2), dec=(26, 13, 2))(SOURCE, TARGET)
    assert found.maps.cross[0].shape == (1, 13, 3, 4)


@pytest.mark.parametrize("need_maps", [True, False])
@pytest.mark.parametrize(("source", "target"), [((1, 0), (1, 3)), ((1, 4), (1, 0)), ((0, 4), (0, 3)), ((1, 0), (1, 0))])
def test_nothing_at_all_is_no_fault(source, target, need_maps):
    """Without a source the decoder sees what it would see with all of the source hidden."""
    src, tgt = (torch.full(shape, 3) for shape in (source, target))
    logits = model()(src, tgt, need_maps).logits
    assert logits.shape == (*target, 31) and logits.isfinite().all()
    if not source[1]:
        torch.testing.assert_close(logits, model()(torch.zeros(1, 4, dtype=torch.int64), tgt, need_maps).logits)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_16_bit_model_runs_and_stays_in_16_bits(dtype):
    exact, made = model()(SOURCE, TARGET), model().to(dtype)(SOURCE, TARGET)
    assert made.logits.dtype == made.maps.cross[0].dtype == dtype
    torch.testing.assert_close(made.logits.float(), exact.logits, rtol=0, atol=0.05)


def test_ids_need_not_be_in_one_piece():
    src, tgt = torch.arange(3, 13).view(5, 2).T, torch.arange(3, 9).view(3, 2).T
    assert not src.is_contiguous()
    assert torch.equal(model()(src, tgt).logits, model()(src.contiguous(), tgt.contiguous()).logits)


@pytest.mark.parametrize("switch", [torch.no_grad, torch.inference_mode])
def test_a_training_goes_on_where_the_caller_wants_no_gradients(switch):
    settings = TrainingSettings("reverse", model().config, num_steps=4, batch_size=3)
    expected = advance(start(settings), 4)
    with switch():
        halfway = advance(start(settings), 2)
        assert not torch.is_grad_enabled()
        found = advance(halfway, 2)
    assert found.history == expected.history
    assert all(torch.equal(found.weights[name], expected.weights[name]) for name in expected.weights)
