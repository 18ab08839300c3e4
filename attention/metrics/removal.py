"""What happens to the score when heads are taken away.

A head adds A·V·W_O to the hidden states. Taking it away means that it adds nothing: its slice of W_O is zero. W_O's
bias belongs to no head and stays. `without_heads` gives such a model; the generators below score many of them, and
run again only what lies above the layer that changed.

    order = by_loss(leave_one_out(model, batch, singles(config)))
    for removal in cumulative(model, batch, order): ...

Each yields after every step, so that progress can be shown. `run` does a whole plan at once; it and all it takes can be
pickled, so that it may go to any `concurrent.futures.Executor`, a few steps at a time.

A loss that stays the same without a head says that the head is *replaceable*, by the others, on these examples; not
that it does nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from attention.config import ModelConfig
from attention.metrics.chain import Chain, Score
from attention.metrics.heads import Head, HeadSet, all_heads, require_heads
from attention.model import EncoderDecoder
from attention.tasks import Batch


@dataclass(frozen=True)
class Removal:
    """One step: the heads that were taken away with it, and the score of the model without them.

    `kept` is the head that `keep_one` left.
    """

    heads: HeadSet
    score: Score
    kept: Head | None = None


def singles(config: ModelConfig, kinds: Iterable[str] | None = None) -> tuple[HeadSet, ...]:
    """Every head as a set of its own."""
    heads = all_heads(config) if kinds is None else all_heads(config, kinds)
    return tuple((head,) for head in heads)


def score(model: EncoderDecoder, batch: Batch) -> Score:
    """The score of a model as it is."""
    return Chain(model, batch).score


def leave_one_out(
    model: EncoderDecoder, batch: Batch, sets: Sequence[HeadSet], already: Iterable[Head] = ()
) -> Iterator[Removal]:
    """Take away one set of heads at a time, each from the whole model (less what is `already` gone).

    (Michel et al. 2019, section 3.2.)
    """
    chain = Chain(model, batch, already)
    require_heads(model.config, (head for heads in sets for head in heads))
    for heads in sets:
        yield Removal(heads, chain.score_without(heads))


def keep_one(
    model: EncoderDecoder, batch: Batch, kept: Sequence[HeadSet], already: Iterable[Head] = ()
) -> Iterator[Removal]:
    """Take away all heads of a layer and kind but one, for every head in `kept` (Michel et al. 2019, section 3.3)."""
    chain = Chain(model, batch, already)
    require_heads(model.config, (head for heads in kept for head in heads))
    for (head,) in kept:
        others = [other for other in all_heads(model.config, [head.kind]) if other.layer == head.layer]
        others = tuple(other for other in others if other != head)
        yield Removal(others, chain.score_without(others), kept=head)


def cumulative(
    model: EncoderDecoder, batch: Batch, order: Sequence[HeadSet], already: Iterable[Head] = ()
) -> Iterator[Removal]:
    """Take away one set after the other, in this order, without giving any back."""
    chain = Chain(model, batch, already)
    require_heads(model.config, (head for heads in order for head in heads))
    for heads in order:
        yield Removal(heads, chain.remove(heads))


def greedy(
    model: EncoderDecoder, batch: Batch, sets: Sequence[HeadSet], already: Iterable[Head] = ()
) -> Iterator[Removal]:
    """Take away, at each step, the set whose loss without it is least by then; the first of equal ones.

    Ranked anew at each step, so n sets take about n²/2 scores where `cumulative` takes n.
    """
    chain, left = Chain(model, batch, already), list(sets)
    require_heads(model.config, (head for heads in sets for head in heads))
    while left:
        best = min(left, key=lambda heads: chain.score_without(heads).loss)
        left.remove(best)
        yield Removal(best, chain.remove(best))


def by_loss(removals: Iterable[Removal]) -> tuple[HeadSet, ...]:
    """The sets of heads, the one that is missed least first; ties stay in the order they came in."""
    return tuple(removal.heads for removal in sorted(removals, key=lambda removal: removal.score.loss))


PLANS: dict[str, Callable[..., Iterator[Removal]]] = {
    "leave_one_out": leave_one_out,
    "keep_one": keep_one,
    "cumulative": cumulative,
    "greedy": greedy,
}


def run(
    plan: str, model: EncoderDecoder, batch: Batch, sets: Sequence[HeadSet], already: Iterable[Head] = ()
) -> tuple[Removal, ...]:
    """A whole plan, for an Executor: `executor.submit(run, "leave_one_out", model, batch, sets)`.

    The sets of `leave_one_out` and `keep_one` may be shared out over any number of jobs. Of `cumulative` a next job
    goes on where one ended, when it is given the heads that are `already` gone. The numbers are the same either way.

    Raises:
        ValueError: an unknown plan, or a head that the model does not have.
    """
    if plan not in PLANS:
        raise ValueError(f"plan ({plan!r}) must be one of {', '.join(PLANS)}")
    return tuple(PLANS[plan](model, batch, sets, already))
