"""How long it takes to compare all heads, and to take them away one by one, beside the plain way of doing it.

    python -m benchmarks.metrics [--repeats 5] [--threads 2]

    pairs     every measure of the table for every two heads of a layer and kind, in 6 + 6 layers of 16 heads with
              three kinds of attention, on 64 held-out words of the spelling task; widths 64 and 256
    loop      the same numbers pair by pair, each from its definition with NumPy and SciPy
    removal   leave-one-out over 96 heads spread over that model, and the cumulative curve after it, which run again
              only what lies above a change, beside a whole forward pass each time

Both ways have to give the same numbers, and the largest difference is printed. The weights are random: nothing here
depends on what they are.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import torch
from scipy.spatial.distance import cosine, jensenshannon

from attention import EncoderDecoder, ModelConfig, StackConfig
from attention.ablation.removal import by_loss, cumulative, leave_one_out, score, singles
from attention.ablation.silence import without_heads
from attention.inspection.batch import Collected, collect, held_out_batch
from attention.metrics.layer_heads import LayerHeads
from attention.metrics.measures import MEASURES, measure_all
from attention.tasks import get_task

LAYERS, HEADS, WORDS, WIDTHS = 6, 16, 64, (64, 256)


def build(width: int) -> EncoderDecoder:
    task, stack = get_task("spelling"), StackConfig(d_model=width, num_heads=HEADS, num_layers=LAYERS)
    sizes = {"src_vocab_size": len(task.src_vocab), "tgt_vocab_size": len(task.tgt_vocab)}
    return EncoderDecoder(ModelConfig(stack, stack, bias=True, **sizes)).eval()


def pair_by_pair(layer: LayerHeads) -> dict[str, np.ndarray]:
    """Every measure of the table for one layer, as one would write it down."""
    weights, maps = layer.weights.astype(np.float64), layer.projections
    counted = layer.allowed[0].sum(-1) > 1
    rows = weights[:, counted] / weights[:, counted].sum(-1, keepdims=True)
    contributions = layer.mixed.astype(np.float64) @ maps.w_o
    w_q = np.concatenate([maps.w_q, maps.b_q[:, None]], 1).astype(np.float64)
    patterns = w_q @ np.swapaxes(maps.w_k, 1, 2)

    def of_pairs(compare: Callable[[int, int], float]) -> np.ndarray:
        return np.array(
            [[compare(i, j) for j in range(i)] + [np.nan] * (layer.num_heads - i) for i in range(layer.num_heads)]
        )

    def cosine_of(x: np.ndarray) -> np.ndarray:
        return of_pairs(lambda i, j: 1 - cosine(x[i].ravel(), x[j].ravel()))

    def cka_of(x: np.ndarray) -> np.ndarray:
        x = x - x.mean(1, keepdims=True)
        size = [np.linalg.norm(head.T @ head) for head in x]
        return of_pairs(lambda i, j: np.linalg.norm(x[i].T @ x[j]) ** 2 / (size[i] * size[j]))

    return {
        "query_cosine": cosine_of(layer.queries.astype(np.float64)),
        "query_map_cosine": cosine_of(w_q),
        "pattern_cosine": cosine_of(patterns),
        "jensen_shannon": of_pairs(lambda i, j: np.mean(jensenshannon(rows[i], rows[j], base=2, axis=-1) ** 2)),
        "total_variation": of_pairs(lambda i, j: np.abs(rows[i] - rows[j]).sum(-1).mean() / 2),
        "output_cosine": cosine_of(layer.mixed.astype(np.float64)),
        "contribution_cosine": cosine_of(contributions),
        "query_cka": cka_of(layer.queries.astype(np.float64)),
        "contribution_cka": cka_of(contributions),
    }


def largest_difference(batched: Iterable[dict], looped: Iterable[dict]) -> float:
    below = np.tril_indices(HEADS, -1)
    return max(
        np.abs(one[name].values[below] - other[name][below]).max()
        for one, other in zip(batched, looped, strict=True)
        for name in MEASURES
    )


def seconds(work: Callable[[], object], repeats: int = 1) -> tuple["Spent", object]:
    """The median of several runs, and what the last one gave."""
    walls, processors = [], []
    for _ in range(repeats):
        wall, processor = time.perf_counter(), time.process_time()
        result = work()
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    return Spent(statistics.median(walls), statistics.median(processors)), result


class Spent(NamedTuple):
    """Seconds on the clock, and of all processors together, which a busy machine does not change much."""

    wall: float
    processor: float

    def __str__(self) -> str:
        return f"{self.wall:7.2f} s ({self.processor:.2f} s of processor)"


def measure_pairs(collected: Collected, repeats: int) -> None:
    measure_all(collected.encoder[0])  # the first call of a process loads libraries
    quick, batched = seconds(lambda: [measure_all(layer) for layer in collected], repeats)
    slow, looped = seconds(lambda: [pair_by_pair(layer) for layer in collected])
    print(f"  pairs    {quick}")
    print(f"  loop     {slow}, {slow.processor / quick.processor:.0f} × as much")
    print(f"  largest difference of any number: {largest_difference(batched, looped):.0e}")
    for name, measure in MEASURES.items():
        spent, _ = seconds(lambda measure=measure: [measure(layer) for layer in collected], repeats)
        print(f"    {name:20} {spent}")


def measure_removal(model: EncoderDecoder, batch) -> None:
    sets = singles(model.config)[::3]  # 96 of 288
    quick, removals = seconds(lambda: list(leave_one_out(model, batch, sets)))
    curve, _ = seconds(lambda: list(cumulative(model, batch, by_loss(removals))))

    def plainly() -> list[float]:
        return [score(without_heads(model, heads), batch).loss for heads in sets]

    slow, losses = seconds(plainly)
    apart = max(abs(removal.score.loss - loss) for removal, loss in zip(removals, losses, strict=True))
    print(f"  removal    {quick.wall:6.2f} s   leave-one-out over {len(sets)} heads; cumulative {curve.wall:.2f} s")
    ratio = slow.wall / quick.wall
    print(f"  plainly    {slow.wall:6.2f} s   a whole pass each, {ratio:.1f} × as long; largest difference {apart:.0e}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2, help="of PyTorch; those of NumPy are set by OMP_NUM_THREADS")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    batch = held_out_batch(get_task("spelling"), WORDS).batch
    for width in WIDTHS:
        model = build(width)
        spent, collected = seconds(lambda model=model: collect(model, batch), args.repeats)
        rows = collected.cross[0].weights.shape[1]
        print(f"width {width}: 3 × {LAYERS} layers of {HEADS} heads, {WORDS} words ({rows} decoder rows)")
        print(f"  collect  {spent}, one forward pass with maps")
        measure_pairs(collected, args.repeats)
        if width == WIDTHS[0]:
            measure_removal(model, batch)


if __name__ == "__main__":
    main()
