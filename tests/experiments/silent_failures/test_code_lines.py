"""The lines of code that are shown run as they stand: the wrong one without a word, the right one as PyTorch has it."""

import math

import pytest
import torch
import torch.nn.functional as F
from random_numbers import randn, randomise
from torch import nn

from attention.experiments.silent_failures.batches import repeated_wrongly, tokens_read
from attention.functional import attention_weights

BATCH, HEADS, Q_LEN, KV_LEN, DIM = 2, 3, 5, 7, 11


def run(code: str, result: str, **names):
    """What the code leaves in the variable `result`."""
    scope = {"torch": torch, "F": F, "math": math, **names}
    exec(code, scope)
    return scope[result]


def both(failure, result: str, **names):
    return run(failure.wrong_code, result, **names), run(failure.right_code, result, **names)


def close(actual, expected):
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-10)


def test_one_head_is_stretched_by_one_line_and_refused_by_the_other(failures):
    failure = failures["broadcast_head"]
    q, k = randn(BATCH, HEADS, Q_LEN, DIM), randn(BATCH, HEADS, KV_LEN, DIM, seed=1)
    wrong, right = both(failure, "scores", q=q, k=k)
    close(right.unflatten(0, (BATCH, HEADS)), wrong)  # with enough heads there is no difference
    assert run(failure.wrong_code, "scores", q=q, k=k[:, :1]).shape == (BATCH, HEADS, Q_LEN, KV_LEN)
    with pytest.raises(RuntimeError, match=r"6, 11.*2, 11"):
        run(failure.right_code, "scores", q=q, k=k[:, :1])


def test_a_view_mixes_words(failures):
    memory = randn(BATCH, KV_LEN, 13)
    w_k = randomise(nn.Linear(13, HEADS * DIM))
    names = {"batch": BATCH, "src_len": KV_LEN, "heads": HEADS, "head_dim": DIM}
    wrong, right = both(failures["view_order"], "k", memory=memory, w_k=w_k, **names)
    assert wrong.shape == right.shape == (BATCH * HEADS, KV_LEN, DIM)
    projected, tokens = w_k(memory), tokens_read(BATCH, KV_LEN)
    for word in range(BATCH):
        for head in range(HEADS):
            features = slice(DIM * head, DIM * head + DIM)
            close(right[word * HEADS + head], projected[word, :, features])
            for slot in range(KV_LEN):
                token = int(tokens[word, slot])
                close(wrong[word * HEADS + head, slot], projected[token // KV_LEN, token % KV_LEN, features])


def test_repeat_gives_each_entry_another_word(failures):
    k = randn(5, KV_LEN, DIM)
    wrong, right = both(failures["repeat_order"], "k", k=k, num_heads=HEADS)
    assert wrong.shape == right.shape == (5 * HEADS, KV_LEN, DIM)
    for entry in range(5 * HEADS):
        assert torch.equal(right[entry], k[entry // HEADS])
        assert torch.equal(wrong[entry], k[entry % 5])
    assert torch.equal(repeated_wrongly(k, HEADS).flatten(0, 1), wrong)


def test_four_query_heads_on_two_kv_heads(failures):
    q = randn(1, 4, Q_LEN, DIM)
    k, v = randn(2, 1, 2, KV_LEN, DIM, seed=1)
    names = {"num_heads": 4, "num_kv_heads": 2}
    wrong_k, right_k = both(failures["tiled_kv"], "k", k=k, **names)
    wrong_v, right_v = both(failures["tiled_kv"], "k", k=v, **names)
    assert [int((k[0] == head).all((1, 2)).nonzero()[0]) for head in right_k[0]] == [0, 0, 1, 1]
    assert [int((k[0] == head).all((1, 2)).nonzero()[0]) for head in wrong_k[0]] == [0, 1, 0, 1]
    right = F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
    close(F.scaled_dot_product_attention(q, right_k, right_v), right)
    off = (F.scaled_dot_product_attention(q, wrong_k, wrong_v) - right).abs().amax((0, 2, 3))
    assert (off > 0.1).tolist() == [False, True, True, False]


def test_weights_fit_any_number_of_heads_unless_somebody_looks(failures):
    failure = failures["loaded_head_counts"]
    trained, model = (randomise(nn.MultiheadAttention(30, heads), seed=heads) for heads in (5, 3))
    saved = {"num_heads": 5, "weights": trained.state_dict()}
    run(failure.wrong_code, "model", model=model, saved=saved, num_heads=3)
    x = randn(KV_LEN, BATCH, 30)
    assert (model(x, x, x)[0] - trained(x, x, x)[0]).abs().max() > 0.1
    with pytest.raises(ValueError, match="weights of 5 heads cannot be used with 3"):
        run(failure.right_code, "model", model=model, saved=saved, num_heads=3)
    same = run(failure.right_code, "model", model=nn.MultiheadAttention(30, 5).double(), saved=saved, num_heads=5)
    close(same(x, x, x)[0], trained(x, x, x)[0])


def test_the_inverted_mask_of_three_tokens(failures):
    """Equal scores: right [1, 0, 0], [1/2, 1/2, 0], [1/3, 1/3, 1/3]; inverted [0, 1/2, 1/2], [0, 0, 1], nothing."""
    zeros, v = torch.zeros(1, 1, 3, 4, dtype=torch.float64), torch.eye(3, dtype=torch.float64)[None, None]
    wrong, right = both(failures["inverted_mask"], "y", q=zeros, k=zeros, v=v, n=3)  # V = 1: the output is the weights
    rows = lambda *values: torch.tensor(values, dtype=torch.float64)  # noqa: E731
    close(right[0, 0], rows([1, 0, 0], [1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3]))
    close(wrong[0, 0], rows([0, 1 / 2, 1 / 2], [0, 0, 1], [0, 0, 0]))


def test_scaled_and_unscaled(failures):
    q, k = randn(BATCH, HEADS, Q_LEN, DIM), randn(BATCH, HEADS, KV_LEN, DIM, seed=1)
    wrong, right = both(failures["unscaled_scores"], "weights", q=q, k=k)
    close(right, attention_weights(q, k))
    identity = torch.eye(KV_LEN, dtype=torch.float64)  # as V, it makes the output the weights
    close(right, F.scaled_dot_product_attention(q, k, identity.expand(BATCH, HEADS, -1, -1)))
    close(wrong, F.scaled_dot_product_attention(q, k, identity.expand(BATCH, HEADS, -1, -1), scale=1.0))


def test_the_average_is_the_mean_of_the_heads(failures):
    mha = randomise(nn.MultiheadAttention(30, 5, batch_first=True))
    wrong, right = both(failures["averaged_maps"], "weights", mha=mha, x=randn(BATCH, KV_LEN, 30))
    assert right.shape == (BATCH, 5, KV_LEN, KV_LEN)
    assert wrong.shape == (BATCH, KV_LEN, KV_LEN)
    close(wrong, right.mean(1))
