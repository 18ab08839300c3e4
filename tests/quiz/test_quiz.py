"""The quiz: for any seed one right answer, and the same that PyTorch itself, or a reckoning by hand, comes to."""

import math
from random import Random

import pytest
import torch
import torch.nn.functional as F
from few_examples import COSTLY
from hypothesis import given
from hypothesis import strategies as st

from attention.config import KV_VARIANTS
from attention.messages import Message
from attention.quiz import KINDS, NUM_QUESTIONS, make_question, make_quiz
from attention.quiz.question import Question, a_number, in_order, offered, question

SEEDS = range(8)


def values(asked: Message) -> dict:
    return dict(asked.values)


def answer(kind: str, seed: int) -> tuple[dict, dict]:
    """What the question names, and what its right choice says."""
    asked = make_question(kind, seed)
    return values(asked.asked), values(asked.choices[asked.right].said)


def code(kind: str, seed: int) -> tuple[dict, str]:
    """The same where choices are words."""
    asked = make_question(kind, seed)
    return values(asked.asked), asked.choices[asked.right].said.code


def test_there_are_at_least_thirty_kinds_and_ten_different_ones_in_a_quiz():
    assert len(KINDS) >= 30 and NUM_QUESTIONS == 10
    quiz = make_quiz(3)
    assert len(quiz) == 10 == len({each.kind for each in quiz})
    assert make_quiz(3) == quiz != make_quiz(4)
    with pytest.raises(ValueError, match=f"1 to {len(KINDS)}"):
        make_quiz(3, len(KINDS) + 1)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_one_right_choice_of_several(kind):
    for seed in SEEDS:
        made = make_question(kind, seed)
        assert made.kind == made.asked.code == made.why.code
        assert 2 <= len(made.choices) <= 5
        assert sum(choice.is_right for choice in made.choices) == 1 and made.choices[made.right].is_right
        assert len({choice.said for choice in made.choices}) == len(made.choices)
        assert make_question(kind, seed) == made


@COSTLY
@given(st.integers(0, 10**6))
def test_any_seed_makes_ten_questions(seed):
    quiz = make_quiz(seed)
    assert len({each.kind for each in quiz}) == 10


def test_the_global_generator_is_left_alone():
    before = torch.random.get_rng_state()
    for kind in KINDS:
        make_question(kind, 1)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_numbers_differ_from_seed_to_seed_and_the_right_answer_is_not_always_in_one_place():
    for kind in KINDS:
        assert len({make_question(kind, seed).asked for seed in range(12)}) > 1, kind
    assert len({make_question("keys_in_heads", seed).right for seed in range(12)}) > 1


def test_a_question_without_one_right_answer_is_refused():
    said = a_number(3)
    with pytest.raises(ValueError, match="0 right"):
        question("kind", {}, in_order("else", ("yes", "no")))
    assert isinstance(question("kind", {}, in_order("yes", ("yes", "no"))), Question)
    choices = offered(Random(0), 3, (3, 4, 4, 5, 6, 7), a_number)
    assert len(choices) == 4 and [choice.said for choice in choices].count(said) == 1


# ---- the same, by PyTorch itself or by hand ----


@pytest.mark.parametrize("seed", SEEDS)
def test_shapes_are_those_of_plain_pytorch(seed):
    for kind, heads_of in (("queries_in_heads", "target"), ("keys_in_heads", "source")):
        asked, said = answer(kind, seed)
        linear = torch.nn.Linear(1, asked["dec_heads"] * asked["dec_dim"])
        made = linear(torch.zeros(1, asked[heads_of], 1)).unflatten(-1, (asked["dec_heads"], -1)).transpose(1, 2)
        assert said["sizes"] == ", ".join(map(str, made.shape))
    asked, said = answer("shape_of_w_k", seed)
    layer = torch.nn.Linear(asked["enc_width"], asked["dec_heads"] * asked["dec_dim"])
    assert said["sizes"] == ", ".join(map(str, layer.weight.shape))
    asked, said = answer("numbers_in_w_k", seed)
    assert said["value"] == asked["enc_width"] * asked["dec_heads"] * asked["dec_dim"]


@pytest.mark.parametrize("seed", SEEDS)
def test_maps_have_the_shape_that_multihead_attention_gives(seed):
    asked, said = answer("shape_of_maps", seed)
    heads = asked["dec_heads"]
    layer = torch.nn.MultiheadAttention(heads * 4, heads, batch_first=True)
    queries, keys = torch.zeros(1, asked["target"], heads * 4), torch.zeros(1, asked["source"], heads * 4)
    _, maps = layer(queries, keys, keys, average_attn_weights=False)
    assert said["sizes"] == ", ".join(map(str, maps.shape))


@pytest.mark.parametrize("seed", SEEDS)
def test_what_pytorch_says_is_what_it_says_here(seed):
    asked, said = answer("pytorch_says", seed)
    with pytest.raises(RuntimeError) as refusal:
        torch.zeros(1, asked["asking"], 5, asked["dim"]) @ torch.zeros(1, asked["handed"], asked["dim"], 6)
    assert said["text"] == str(refusal.value)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_runs_by_plain_arithmetic(seed):
    asked, said = code("does_it_run", seed)
    handed, asking = asked["enc_heads"], asked["dec_heads"]
    one_size = asked["enc_dim"] == asked["dec_dim"]
    runs = {
        "reproject": True,
        "direct": one_size and handed in (1, asking),
        "projection": True,
        "grouped": one_size and 0 in (handed % asking, asking % handed),
        "extra": one_size and asking >= handed,
    }
    assert set(runs) == set(KV_VARIANTS)
    assert (said == "yes") == runs[asked["kv"]]
    asked, said = answer("decoder_that_fits", seed)
    assert (said["heads"], said["dim"]) == (asked["enc_heads"], asked["enc_dim"])
    for choice in make_question("decoder_that_shares", seed).choices:
        assert (values(choice.said)["heads"] % asked_heads(seed) == 0) == choice.is_right


def asked_heads(seed: int) -> int:
    return values(make_question("decoder_that_shares", seed).asked)["enc_heads"]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_one_way_is_the_one_by_plain_arithmetic(seed):
    asked, said = code("only_way", seed)
    handed, asking = asked["enc_heads"], asked["dec_heads"]
    assert said == ("grouped" if handed % asking == 0 else "extra")
    assert asking < handed or asking % handed
    asked, said = code("only_way_that_fails", seed)
    handed, asking = asked["enc_heads"], asked["dec_heads"]
    assert said == ("extra" if asking < handed else "grouped")


@pytest.mark.parametrize("seed", SEEDS)
def test_shared_heads_are_those_of_pytorch_s_grouped_attention(seed):
    """Values that are the head's own number come out of `scaled_dot_product_attention` for those who read it."""
    for kind in ("kv_head_of", "who_shares"):
        asked, said = answer(kind, seed)
        heads, kv_heads = asked["heads"], asked["kv_heads"]
        numbered = torch.arange(1.0, kv_heads + 1).view(1, kv_heads, 1, 1).expand(-1, -1, 3, 4)
        queries = torch.zeros(1, heads, 2, 4)
        read = F.scaled_dot_product_attention(queries, torch.zeros_like(numbered), numbered, enable_gqa=True)
        read = read[0, :, 0, 0].round().int().tolist()
        if kind == "kv_head_of":
            assert said["value"] == read[asked["head"] - 1]
        else:
            assert said["numbers"] == ", ".join(str(n + 1) for n in range(heads) if read[n] == asked["kv_head"])


@pytest.mark.parametrize("seed", SEEDS)
def test_heads_have_the_features_that_a_plain_reshape_gives(seed):
    asked, said = answer("features_of_head", seed)
    owned = torch.arange(asked["heads"] * asked["dim"]).reshape(asked["heads"], asked["dim"])[asked["head"] - 1]
    assert (said["first"], said["last"]) == (owned.min(), owned.max())
    asked, said = answer("pooled_from", seed)
    group = asked["handed"] // asked["asking"]
    pooled = torch.arange(1, asked["handed"] + 1).reshape(-1, group)[asked["head"] - 1]
    assert said["numbers"] == ", ".join(map(str, pooled.tolist()))


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_read_and_kept_is_what_a_count_by_hand_gives(seed):
    asked, said = answer("heads_that_are_read", seed)
    assert said["value"] == asked["asking"]
    asked, said = answer("numbers_of_memory_read", seed)
    assert said["value"] == asked["width"]
    asked, said = answer("heads_on_the_source", seed)
    assert said["value"] == asked["handed"]
    asked, said = answer("columns_with_slots", seed)
    assert said["value"] == asked["source"] + asked["slots"]
    asked, said = answer("kept_for_each_token", seed)
    each = asked["layers"] * asked["dec_heads"] if asked["kv"] == "reproject" else asked["enc_heads"]
    assert said["value"] == 2 * each * asked["dim"]
    asked, said = answer("cache_that_shrinks", seed)
    assert said["value"] * asked["kv_heads"] == asked["heads"]


@pytest.mark.parametrize("seed", SEEDS)
def test_weights_are_those_of_a_plain_softmax(seed):
    asked, said = answer("equal_scores", seed)
    scores = torch.zeros(asked["keys"])
    scores[: asked["hidden"]] = -math.inf
    assert said["value"] == round(float(scores.softmax(0)[-1]), 3)
    assert answer("sum_of_a_row", seed)[1]["value"] == 1
    assert answer("row_without_keys", seed)[1]["value"] == 0
    assert answer("first_causal_row", seed)[1]["value"] == 1
    asked, said = answer("cells_of_a_causal_map", seed)
    mask = torch.triu(torch.full((asked["length"], asked["length"]), -math.inf), 1)
    assert said["value"] == int((mask.softmax(-1) > 0).sum())
    asked, said = answer("score_of_ones", seed)
    assert said["value"] == math.sqrt(asked["size"])
    assert code("higher_scores", seed)[1] == "no" and code("doubled_scores", seed)[1] == "more"
    assert code("other_values", seed)[1] == "output_alone" and code("other_keys", seed)[1] == "both"
    assert code("heads_with_scale", seed)[1] == "same" and code("heads_without_scale", seed)[1] == "narrower"


@pytest.mark.parametrize("seed", SEEDS)
def test_weights_grow_as_those_of_multihead_attention(seed):
    asked, said = code("more_heads_same_width", seed)
    sizes = [
        sum(weight.numel() for weight in torch.nn.MultiheadAttention(asked["width"], heads).parameters())
        for heads in (asked["heads"], asked["more"])
    ]
    assert said == ("as_many" if sizes[0] == sizes[1] else "")
    assert code("more_heads_same_size", seed)[1] == "more"
    asked, said = code("weights_that_grow", seed)
    same_width = asked["heads"] * asked["dim"] == asked["more"] * asked["more_dim"]
    assert said == ("none" if same_width else {"reproject": "all_four", "grouped": "q_and_o"}[asked["kv"]])


@pytest.mark.parametrize("seed", SEEDS)
def test_loaded_weights_do_what_they_do_in_multihead_attention(seed):
    asked, said = code("loaded_elsewhere", seed)
    total, other_total = asked["heads"] * asked["dim"], asked["more"] * asked["more_dim"]
    if total != other_total:
        assert said == "refused"
        return
    one, other = (torch.nn.MultiheadAttention(total, asked[name], batch_first=True) for name in ("heads", "more"))
    other.load_state_dict(one.state_dict())
    x = torch.randn(1, 5, total)
    same = torch.allclose(one(x, x, x)[0], other(x, x, x)[0], atol=1e-6)
    assert said == ("loads_same" if same else "loads_other")
