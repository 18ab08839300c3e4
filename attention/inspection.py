"""What every head of a model did with one input: the model answers by itself, and its maps follow that answer."""

from dataclasses import dataclass, replace

import numpy as np
import torch

from attention.config import END, START, ModelConfig
from attention.cross_attention import KV_FEEDS
from attention.decoding import greedy_decode
from attention.metrics import entropy, locality, mean_distance, query_cosine
from attention.metrics.alignment import alignment_score, diagonal_baseline
from attention.metrics.heads import KINDS
from attention.model import EncoderDecoder, Output
from attention.tasks import Task, Tokens


@dataclass(frozen=True)
class LayerView:
    """All heads of one layer and kind on one input, as arrays.

    Attributes:
        weights: (heads, q_len, kv_len) float32, rows sum to 1.
        allowed: (heads, q_len, kv_len), where a query may look at all.
        rows, columns: token labels of queries and keys.
        num_source: how many columns, the first ones, are the source's; fewer than all where the decoder adds its own.
        entropy: (heads,) 0 = one key, 1 = uniform; NaN where no row has a choice.
        distance: (heads,) in tokens, from the own position, or from the `straight_way` in cross-attention; NaN for a
            head that reads learned slots, which have no place.
        alignment: (heads,) share of tokens whose strongest attention falls on what makes them; NaN without gold, and
            for a head that does not read the source.
        similarity: (heads, heads) cosine of query vectors; NaN where undefined.
    """

    weights: np.ndarray
    allowed: np.ndarray
    rows: Tokens
    columns: Tokens
    num_source: int
    entropy: np.ndarray
    distance: np.ndarray
    alignment: np.ndarray
    similarity: np.ndarray


@dataclass(frozen=True)
class WordView:
    """One input through one model.

    Attributes:
        source: the tokens read, without the end token.
        answer: the tokens said, without the end token.
        ended: whether the end token came before the limit of the task.
        layers: for each kind, a `LayerView` per layer that was reached.
        diagonal: the alignment score of the proportional diagonal on this input; NaN without gold.
    """

    source: Tokens
    answer: Tokens
    ended: bool
    layers: dict[str, tuple[LayerView, ...]]
    diagonal: float


def inspect_word(model: EncoderDecoder, task: Task, source: Tokens) -> WordView:
    """Let `model` answer `source` by itself (greedily), then look at all heads on that answer.

    Row t of a decoder map is the query that predicts token t of the answer, or the end token.
    """
    src_ids = torch.tensor([task.encode_source(source)])
    (said,) = greedy_decode(model, src_ids, task.max_tgt_len(len(source)))
    with torch.no_grad():
        out = model(src_ids, torch.tensor([[START, *said[:-1]]]))
    ended = said[-1] == END
    answer = task.tgt_vocab.decode(said[:-1] if ended else said)
    gold = task.gold_alignment(source, answer) if ended else None
    return WordView(
        source=source,
        answer=answer,
        ended=ended,
        layers=_layers(model.config, out, *_labels(task, src_ids, said), gold),
        diagonal=diagonal_baseline(gold, len(source)) if gold is not None else float("nan"),
    )


def inspect_reached(config: ModelConfig, seed: int, task: Task, source: Tokens) -> WordView:
    """What runs in a model whose cross-attention cannot: the encoder, and the first decoder layer's self-attention.

    Those parts do not depend on how the decoder is fed, and a weight follows from the seed and its own name, so the
    textbook twin has the very same numbers in them. Nothing is ever predicted: the decoder is given the first known
    answer to `source` (its start token alone where none is known), and the rows are labelled with it.
    """
    model = EncoderDecoder(replace(config, kv="reproject", kv_variant=None), seed)
    known = task.answers(source)
    target = [*task.tgt_vocab.encode(known[0]), END] if known else [END]
    src_ids = torch.tensor([task.encode_source(source)])
    with torch.no_grad():
        out = model(src_ids, torch.tensor([[START, *target[:-1]]]))
    layers = _layers(model.config, out, *_labels(task, src_ids, target), None)
    reached = {"encoder": layers["encoder"], "decoder": layers["decoder"][:1], "cross": ()}
    return WordView(source, known[0] if known else (), False, reached, float("nan"))


def _labels(task: Task, src_ids: torch.Tensor, target: list[int]) -> tuple[Tokens, Tokens]:
    """The tokens of the source, its end token included, and of the target."""
    return task.src_vocab.decode(src_ids[0].tolist()), task.tgt_vocab.decode(target)


def _layers(config: ModelConfig, out: Output, source: Tokens, target: Tokens, gold) -> dict[str, tuple[LayerView, ...]]:
    start = ("<s>", *target[:-1])  # what the decoder had read when it predicted each token of `target`
    own = KV_FEEDS[config.kv].own_columns(config, start)
    rows = {"encoder": source, "decoder": target, "cross": target}
    columns = {"encoder": source, "decoder": start, "cross": (*source, *own)}
    num_source = {"encoder": len(source), "decoder": len(start), "cross": len(source)}
    own_has_place = config.kv_variant == "states"

    def views(kind: str) -> tuple[LayerView, ...]:
        layers = zip(*(getattr(field, kind) for field in (out.maps, out.queries, out.masks)), strict=True)
        arrays = (tuple(tensor[0].numpy() for tensor in layer) for layer in layers)
        return tuple(
            _layer_view(kind, *layer, rows[kind], columns[kind], num_source[kind], own_has_place, gold)
            for layer in arrays
        )

    return {kind: views(kind) for kind in KINDS}


def _layer_view(
    kind: str,
    weights: np.ndarray,
    queries: np.ndarray,
    mask: np.ndarray,
    rows: Tokens,
    columns: Tokens,
    num_source: int,
    own_has_place: bool,
    gold,
) -> LayerView:
    heads, q_len, _ = weights.shape
    allowed = np.broadcast_to(mask, weights.shape)
    expected = straight_way(rows, num_source) if kind == "cross" else np.arange(q_len)
    distance = mean_distance(weights, allowed, expected=expected)
    scored = kind == "cross" and gold is not None
    alignment = alignment_score(weights[:, :, :num_source], gold) if scored else np.full(heads, np.nan)
    reads_own = ~allowed[:, :, :num_source].any(axis=(1, 2))  # (heads,)
    if reads_own.any():
        here = num_source + np.arange(q_len)  # a row's own place among the decoder's states; learned slots have none
        of_own = mean_distance(weights, allowed, expected=here) if own_has_place else np.full(heads, np.nan)
        distance = np.where(reads_own, of_own, distance)
    return LayerView(
        weights=weights,
        allowed=allowed,
        rows=rows,
        columns=columns,
        num_source=num_source,
        entropy=entropy(weights, allowed),
        distance=distance,
        alignment=alignment,
        similarity=query_cosine(queries),
    )


def straight_way(rows: Tokens, kv_len: int) -> np.ndarray:
    """`locality.straight_way` of rows with these labels, ended by the end token or not."""
    return locality.straight_way(len(rows), kv_len, ended=bool(rows) and rows[-1] == "</s>")
