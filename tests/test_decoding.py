"""Greedy decoding against the same model read with teacher forcing."""

import pytest
import torch
from random_numbers import randomise

from attention import EncoderDecoder, ModelConfig, StackConfig, greedy_decode

PAD, START, END = 0, 1, 2
SRC = [[3, 9, 4, 16, 2], [7, 2], [5, 5, 11, 2], [2], [13, 17, 3, 8, 10, 4, 2], [6, 12, 2]]


def make_model(seed=0, kv="reproject", **favoured):
    """Random weights; `favoured` adds to the logits of single tokens, so that rows end after a few tokens."""
    config = ModelConfig(
        encoder=StackConfig(d_model=11, num_heads=3, head_dim=5),
        decoder=StackConfig(d_model=7, num_heads=3, head_dim=5, num_layers=3),
        kv=kv,
        src_vocab_size=19,
        tgt_vocab_size=13,
        bias=True,
    )
    model = randomise(EncoderDecoder(config), seed)
    with torch.no_grad():
        for token, amount in favoured.items():
            model.decoder.to_logits.bias[{"pad": PAD, "start": START, "end": END}[token]] += amount
    return model


def batch(rows):
    return torch.tensor([row + [PAD] * (max(map(len, rows)) - len(row)) for row in rows])


@torch.no_grad()
def assert_is_its_own_argmax(model, src, answer, limit):
    """Each token is the likeliest after those before it, among those that may be said; and it stops when it should."""
    assert 1 <= len(answer) <= limit
    assert END not in answer[:-1] and (len(answer) == limit or answer[-1] == END)
    logits = model(torch.tensor([src]), torch.tensor([[START, *answer[:-1]]])).logits[0]
    allowed = [token for token in range(logits.shape[1]) if token not in (PAD, START)]
    assert answer == [max(allowed, key=row.__getitem__) for row in logits.tolist()]


@pytest.mark.parametrize("kv", ["reproject", "direct"])
@pytest.mark.parametrize("seed", range(5))
def test_greedy_decoding_is_the_argmax_of_the_teacher_forced_logits(seed, kv):
    model = make_model(seed, kv)
    for src in SRC:
        (answer,) = greedy_decode(model, torch.tensor([src]), max_len=9)
        assert_is_its_own_argmax(model, src, answer, 9)


@pytest.fixture(scope="module")
def uneven():
    """A model whose rows end at different times, one of them never, and what it answers row by row."""
    for seed in range(16, 100):  # 16 is such a seed; the search keeps the test alive if the drawing changes
        model = make_model(seed, end=1.2)
        answers = [greedy_decode(model, torch.tensor([src]), max_len=11)[0] for src in SRC]
        finished = {len(answer) for answer in answers if answer[-1] == END}
        if len(finished) >= 3 and any(END not in answer for answer in answers):
            return model, answers
    raise AssertionError("no seed gives rows that end at different times")


def test_rows_that_finish_at_different_times_equal_decoding_alone(uneven):
    model, alone = uneven
    together = greedy_decode(model, batch(SRC), max_len=11)
    assert together == alone
    for src, answer in zip(SRC, together, strict=True):
        assert_is_its_own_argmax(model, src, answer, 11)


def test_a_shorter_limit_cuts_the_same_answer(uneven):
    model, answers = uneven
    for limit in range(12):
        assert greedy_decode(model, batch(SRC), max_len=limit) == [answer[:limit] for answer in answers]


def test_padding_and_start_are_never_chosen_however_likely():
    model = make_model(pad=1000.0, start=2000.0)
    for answer in greedy_decode(model, batch(SRC), max_len=7):
        assert len(answer) == 7 or answer[-1] == END
        assert not {PAD, START} & set(answer)
    with torch.no_grad():
        assert (model(batch(SRC), torch.ones(len(SRC), 1, dtype=torch.long)).logits.argmax(-1) == START).all()


def test_an_end_at_once_is_an_answer():
    assert greedy_decode(make_model(end=1000.0), batch(SRC), max_len=7) == [[END]] * len(SRC)


def test_decoding_builds_no_graph_and_leaves_the_model_in_its_mode():
    model = make_model().train()
    greedy_decode(model, batch(SRC), max_len=3)
    assert model.training and all(parameter.grad is None for parameter in model.parameters())
    assert torch.is_grad_enabled()
