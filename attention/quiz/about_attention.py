"""Questions about scores, masks and attention weights, answered by the one function that computes them."""

from collections.abc import Callable
from random import Random

import torch

from attention.experiments.score_rank import score_rank
from attention.functional import attend, attention_scores, attention_weights, causal_mask
from attention.metrics import entropy
from attention.quiz.question import Question, a_decimal, a_number, in_order, offered, question

BROADER, NARROWER, SAME = "broader", "narrower", "same"


def _drawn(rng: Random, *sizes: int) -> torch.Tensor:
    """Normal numbers that belong to this question."""
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(rng.randrange(2**31)))


def _weights(rng: Random, heads: int, queries: int, keys: int, mask=None) -> torch.Tensor:
    return attention_weights(_drawn(rng, 1, heads, queries, 8), _drawn(rng, 1, heads, keys, 8), mask)


def sum_of_a_row(rng: Random) -> Question:
    heads, queries, keys = rng.choice((2, 4, 8)), rng.randint(3, 7), rng.randint(4, 9)
    hidden = rng.randint(1, keys - 2)
    mask = torch.arange(keys) < keys - hidden
    weights = _weights(rng, heads, queries, keys, mask.expand(queries, keys))
    right = round(float(weights[0, 0, 0].sum()), 4)
    wrong = ((keys - hidden) / keys, 1 / keys, keys - hidden, 1 / heads)
    values = {"heads": heads, "queries": queries, "keys": keys, "hidden": hidden}
    return question("sum_of_a_row", values, offered(rng, right, wrong, a_decimal), right=right)


def row_without_keys(rng: Random) -> Question:
    keys = rng.randint(3, 9)
    weights = _weights(rng, 2, 2, keys, torch.tensor([[True], [False]]).expand(2, keys))
    right = round(float(weights[0, 0, 1].sum()), 4)
    wrong = (1, 1 / keys, keys, 0.5)
    return question("row_without_keys", {"keys": keys}, offered(rng, right, wrong, a_decimal), right=right)


def first_causal_row(rng: Random) -> Question:
    length = rng.randint(4, 9)
    weights = _weights(rng, 2, length, length, causal_mask(length))
    right = round(float(weights[0, 0, 0, 0]), 4)
    wrong = (1 / length, 0, 0.5, 1 / (length - 1))
    return question("first_causal_row", {"length": length}, offered(rng, right, wrong, a_decimal), right=right)


def cells_of_a_causal_map(rng: Random) -> Question:
    length = rng.randint(4, 10)
    weights = _weights(rng, 1, length, length, causal_mask(length))
    right = int((weights > 0).sum())
    wrong = (length**2, length * (length - 1) // 2, length, length**2 // 2)
    return question("cells_of_a_causal_map", {"length": length}, offered(rng, right, wrong, a_number), right=right)


def equal_scores(rng: Random) -> Question:
    """Every key the same: what is left of the weight is shared out evenly."""
    keys, hidden = rng.randint(5, 10), rng.randint(1, 3)
    mask = (torch.arange(keys) < keys - hidden)[None]
    weights = attention_weights(_drawn(rng, 1, 1, 1, 8), torch.ones(1, 1, keys, 8), mask)
    right = float(weights[0, 0, 0, 0])
    wrong = (1 / keys, 1, hidden / keys, 1 / hidden if hidden > 1 else 0.5)
    return question(
        "equal_scores", {"keys": keys, "hidden": hidden}, offered(rng, right, wrong, a_decimal), right=right
    )


def score_of_ones(rng: Random) -> Question:
    size = rng.choice((4, 16, 64, 256))
    ones = torch.ones(1, 1, 1, size)
    right = float(attention_scores(ones, ones))
    wrong = (size, 1, size / 2, size * 2)
    return question("score_of_ones", {"size": size}, offered(rng, right, wrong, a_decimal), right=right)


def heads_without_scale(rng: Random) -> Question:
    """Larger random heads, their scores not divided by √head size."""
    return _larger_heads("heads_without_scale", rng, scaled=False)


def heads_with_scale(rng: Random) -> Question:
    """Larger random heads, their scores divided as usual."""
    return _larger_heads("heads_with_scale", rng, scaled=True)


def _larger_heads(kind: str, rng: Random, scaled: bool) -> Question:
    small, large, keys = rng.choice((4, 8)), rng.choice((64, 128)), rng.choice((8, 12, 16))
    broad = [_mean_entropy(rng, size, keys, scaled) for size in (small, large)]
    change = broad[1] - broad[0]
    right = SAME if abs(change) < 0.05 else BROADER if change > 0 else NARROWER
    found = {"of_small": round(broad[0], 2), "of_large": round(broad[1], 2)}
    values = {"small": small, "large": large, "keys": keys}
    return question(kind, values, in_order(right, (BROADER, NARROWER, SAME)), **found)


def _mean_entropy(rng: Random, size: int, keys: int, scaled: bool) -> float:
    """Of 400 random heads with four queries each."""
    q, k = _drawn(rng, 1, 400, 4, size), _drawn(rng, 1, 400, keys, size)
    weights = attention_weights(q, k) if scaled else (q @ k.transpose(-2, -1)).softmax(-1)
    everywhere = torch.ones(4, keys, dtype=torch.bool).numpy()
    return float(entropy(weights[0].numpy(), everywhere).mean())


def higher_scores(rng: Random) -> Question:
    """One number added to all scores of a row."""
    keys, more = rng.randint(3, 8), rng.randint(2, 9)
    scores = _drawn(rng, 1, keys).double()
    changed = float(((scores + more).softmax(-1) - scores.softmax(-1)).abs().max())
    right = "no" if changed < 1e-9 else "yes"
    return question("higher_scores", {"keys": keys, "more": more}, in_order(right, ("yes", "no")))


def doubled_scores(rng: Random) -> Question:
    """All scores of a row doubled: the strongest key gets more."""
    keys = rng.randint(3, 8)
    scores = _drawn(rng, 1, keys).double()
    peaks = [float((times * scores).softmax(-1).max()) for times in (1, 2)]
    right = "more" if peaks[1] > peaks[0] else "less" if peaks[1] < peaks[0] else "as_much"
    found = {"before": round(peaks[0], 2), "after": round(peaks[1], 2)}
    return question("doubled_scores", {"keys": keys}, in_order(right, ("more", "less", "as_much")), **found)


def other_values(rng: Random) -> Question:
    """Other numbers in place of V: what of the map and of the output changes."""
    return _other("values", rng)


def other_keys(rng: Random) -> Question:
    """The same in place of K."""
    return _other("keys", rng)


def _other(what: str, rng: Random) -> Question:
    heads = rng.choice((2, 4, 8))
    q, k, v, other = (_drawn(rng, 1, heads, 5, 8) for _ in range(4))
    before = attend(q, k, v)
    after = attend(q, other, v) if what == "keys" else attend(q, k, other)
    output, weights = (not torch.equal(one, another) for one, another in zip(before, after, strict=True))
    changed = {(True, True): "both", (True, False): "output_alone", (False, True): "weights_alone"}
    return question(f"other_{what}", {"heads": heads}, in_order(changed[output, weights], changed.values()))


def rank_of_scores(rng: Random) -> Question:
    size, tokens = rng.choice((4, 8, 16)), rng.choice((20, 30, 40))
    found = score_rank(size, tokens, seed=rng.randrange(1000))
    wrong = (tokens, size * 2, tokens // 2, size**2)
    values = {"size": size, "tokens": tokens}
    choices = offered(rng, found.of_scores, wrong, a_number)
    return question("rank_of_scores", values, choices, right=found.of_scores, after=found.of_weights)


ABOUT_ATTENTION: dict[str, Callable[[Random], Question]] = {
    make.__name__: make
    for make in (
        sum_of_a_row,
        row_without_keys,
        first_causal_row,
        cells_of_a_causal_map,
        equal_scores,
        score_of_ones,
        heads_without_scale,
        heads_with_scale,
        higher_scores,
        doubled_scores,
        other_values,
        other_keys,
        rank_of_scores,
    )
}
