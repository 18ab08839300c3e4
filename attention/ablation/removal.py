"""What happens to the score when heads are taken away.

A head's contribution to the hidden states is A·V·W_O. Taking the head away means that it contributes nothing: its slice
of W_O is zero; or, with `means`, that it contributes its mean in every row (`silence.py` says why). W_O's bias belongs
to no head and stays. `without_heads` gives such a model; the generators below score many of them, and run again only
what lies above the layer that changed.

    order = by_loss(leave_one_out(model, batch, singles(config)))
    for removal in cumulative(model, batch, order): ...

Each yields after every step, so that progress can be shown. `run_plan` does a whole one at once; it and all it takes
can be pickled, so that it may go to any `concurrent.futures.Executor`, a few steps at a time.

A loss that stays the same without a head says that the head is *replaceable*, by the others, on these examples; not
that it does nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from attention.ablation.partial_pass import PartialPass, Score
from attention.ablation.silence import Means
from attention.config import ModelConfig
from attention.inspection.heads import Head, HeadSet, all_heads, require_heads
from attention.model import EncoderDecoder
from attention.tasks import Batch


@dataclass(frozen=True)
class Removal:
    """One step: the heads that were taken away with it, and the score of the model without them."""

    heads: HeadSet
    score: Score


Plan = Callable[..., Iterator[Removal]]


def singles(config: ModelConfig) -> tuple[HeadSet, ...]:
    """Every head as a set of its own."""
    return tuple((head,) for head in all_heads(config))


def score(model: EncoderDecoder, batch: Batch) -> Score:
    """The score of a model as it is."""
    return PartialPass(model, batch).score


def leave_one_out(
    model: EncoderDecoder,
    batch: Batch,
    sets: Sequence[HeadSet],
    already: Iterable[Head] = (),
    means: Means | None = None,
) -> Iterator[Removal]:
    """Take away one set of heads at a time, each from the whole model (less what is `already` gone).

    (Michel et al. 2019, section 3.2.)
    """
    partial = PartialPass(model, batch, already, means)
    require_heads(model.config, (head for heads in sets for head in heads))
    for heads in sets:
        yield Removal(heads, partial.score_without(heads))


def cumulative(
    model: EncoderDecoder,
    batch: Batch,
    order: Sequence[HeadSet],
    already: Iterable[Head] = (),
    means: Means | None = None,
) -> Iterator[Removal]:
    """Take away one set after the other, in this order, without giving any back."""
    partial = PartialPass(model, batch, already, means)
    require_heads(model.config, (head for heads in order for head in heads))
    for heads in order:
        yield Removal(heads, partial.remove(heads))


def by_loss(removals: Iterable[Removal]) -> tuple[HeadSet, ...]:
    """The sets of heads, the one that is missed least first; ties stay in the order they came in."""
    return tuple(removal.heads for removal in sorted(removals, key=lambda removal: removal.score.loss))


def run_plan(
    plan: Plan,
    model: EncoderDecoder,
    batch: Batch,
    sets: Sequence[HeadSet],
    already: Iterable[Head] = (),
    means: Means | None = None,
) -> tuple[Removal, ...]:
    """A whole plan, for an Executor: `executor.submit(run_plan, leave_one_out, model, batch, sets)`.

    The sets of `leave_one_out` may be shared out over any number of jobs. Of `cumulative` a next job goes on where one
    ended, when it is given the heads that are `already` gone. The numbers are the same either way.
    """
    return tuple(plan(model, batch, sets, already, means))
