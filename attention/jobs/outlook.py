"""How long one training takes among those that it takes turns with."""

from collections.abc import Collection, Sequence

from attention.jobs.progress import Training
from attention.jobs.time_left import Range, range_of, shared_seconds


def seconds_left(
    training: Training,
    turns: Sequence[Training],
    in_hand: Collection[Training],
    *,
    pace: float,
    chunk_seconds: float,
    num_workers: int,
) -> Range:
    """Seconds until its last step, from and to.

    Args:
        turns, in_hand: those that want a worker, in this order, and those that have one; one in neither would
            begin behind them all.
        pace: how much slower this machine is than expected.
    """
    own = training.seconds_of_work(pace)
    without_last = max(own - chunk_seconds, 0.0)  # its last chunk waits for none of those behind
    behind = _behind(training, turns, in_hand)
    others = [
        min(other.seconds_of_work(pace), without_last if other in behind else own)
        for other in (*in_hand, *turns)
        if other is not training
    ]
    turn = chunk_seconds * max(1.0, (1 + len(others)) / num_workers)
    return range_of(shared_seconds(own, others, num_workers), min(turn, own))


def _behind(training: Training, turns: Sequence[Training], in_hand: Collection[Training]) -> Sequence[Training]:
    """Those who have their next turn after its next one."""
    if training in in_hand:
        return turns
    return turns[turns.index(training) + 1 :] if training in turns else ()
