"""What every head of a model did with one input: the model answers by itself, and its maps follow that answer."""

from dataclasses import dataclass, replace

import numpy as np
import torch

from attention.config import END, ModelConfig
from attention.cross_attention import KV_WAYS
from attention.decoding import Anchor, Decoding, LayerRecord, decode_word
from attention.messages import Message
from attention.metrics import answer_diagonal, end_weight, entropy, mean_distance, query_cosine
from attention.metrics.alignment import alignment_score, diagonal_baseline
from attention.metrics.sizes import sizes_of
from attention.model import EncoderDecoder
from attention.tasks import Alignment, Task, Tokens


@dataclass(frozen=True)
class LayerView:
    """All heads of one layer and kind on one input, as arrays.

    Attributes:
        weights: (heads, q_len, kv_len) float32, rows sum to 1.
        allowed: (heads, q_len, kv_len), where a query may look at all.
        rows, columns: token labels of queries and keys; a `Message` for a column that is the decoder's own.
        num_source: how many columns, the first ones, are the source's; fewer than all where the decoder adds its own.
        entropy: (heads,) 0 = one key, 1 = uniform; NaN where no row has a choice.
        distance: (heads,) in tokens, from the own position, or in cross-attention from `answer_diagonal`, backwards
            where the task's answers go so; NaN for a head that reads learned slots, which have no place.
        alignment: (heads,) share of tokens whose strongest attention falls on what makes them; NaN without gold, and
            for a head that does not read the source.
        on_end: (heads,) share of the weight that is on the source's end token; NaN where it is not among the columns
            that a head reads.
        size: (heads,) mean length of what a head adds, A·V·W_O, as a share of the largest in the layer.
        similarity: (heads, heads) cosine of query vectors; NaN where undefined.
        queries: (heads, q_len, head_dim).
        keys: (kv_heads, kv_len, head_dim), those that the queries meet, after whatever adapts or adds any.
    """

    weights: np.ndarray
    allowed: np.ndarray
    rows: Tokens
    columns: tuple[str | Message, ...]
    num_source: int
    entropy: np.ndarray
    distance: np.ndarray
    alignment: np.ndarray
    on_end: np.ndarray
    size: np.ndarray
    similarity: np.ndarray
    queries: np.ndarray
    keys: np.ndarray


@dataclass(frozen=True)
class WordView:
    """One input through one model.

    Attributes:
        source: the tokens read, without the end token.
        answer: the tokens generated, without the end token.
        ended: whether the end token came before the limit of the task.
        layers: for each kind, a `LayerView` per layer that was reached.
        diagonal: the alignment score of the proportional diagonal on this input; NaN without gold.
    """

    source: Tokens
    answer: Tokens
    ended: bool
    layers: dict[str, tuple[LayerView, ...]]
    diagonal: float


def decode_source(
    model: EncoderDecoder,
    task: Task,
    source: Tokens,
    *,
    forced: tuple[int, ...] | None = None,
    anchor: Anchor | None = None,
) -> Decoding:
    """`decode_word` of what a task reads, up to the task's limit."""
    src_ids = torch.tensor([task.encode_source(source)])
    return decode_word(model, src_ids, task.max_tgt_len(len(source)), forced=forced, anchor=anchor)


def inspect_word(model: EncoderDecoder, task: Task, source: Tokens) -> WordView:
    """Let `model` answer `source` by itself (greedily), and look at all heads on that answer.

    Row t of a decoder map is the query that predicts token t of the answer, or the end token.
    """
    return view_of(decode_source(model, task, source), model.config, task, source)


def view_of(decoding: Decoding, config: ModelConfig, task: Task, source: Tokens) -> WordView:
    """What `inspect_word` gives, from the decoding of a model with this configuration; they share their arrays."""
    answer = task.tgt_vocab.decode(decoding.answer)
    gold = gold_of(decoding, task, source)
    return WordView(
        source=source,
        answer=answer,
        ended=decoding.ended,
        layers=_layers(config, decoding, task, source, gold),
        diagonal=diagonal_baseline(gold, len(source)) if gold is not None else float("nan"),
    )


def gold_of(decoding: Decoding, task: Task, source: Tokens) -> Alignment | None:
    """Which source tokens make each token of the answer; None where unknown, or where the answer did not end."""
    return task.gold_alignment(source, task.tgt_vocab.decode(decoding.answer)) if decoding.ended else None


def inspect_reached(config: ModelConfig, seed: int, task: Task, source: Tokens) -> WordView:
    """What runs in a model whose cross-attention cannot: the encoder, and the first decoder layer's self-attention.

    Those parts do not depend on how the decoder gets its keys and values, and a weight follows from the seed and its
    own name, so the textbook twin has the very same numbers in them. Nothing is ever predicted: the decoder is given
    the first known answer to `source` (its start token alone where none is known), and the rows are labelled with it.
    """
    model = EncoderDecoder(replace(config, kv="reproject", kv_variant=None), seed)
    known = task.answers(source)
    target = (*task.tgt_vocab.encode(known[0]), END) if known else (END,)
    layers = _layers(model.config, decode_source(model, task, source, forced=target), task, source, None)
    reached = {"encoder": layers["encoder"], "decoder": layers["decoder"][:1], "cross": ()}
    return WordView(source, known[0] if known else (), False, reached, float("nan"))


def _layers(
    config: ModelConfig, decoding: Decoding, task: Task, source: Tokens, gold: Alignment | None
) -> dict[str, tuple[LayerView, ...]]:
    source = task.src_vocab.decode(task.encode_source(source))  # with its end token
    target = task.tgt_vocab.decode(decoding.output)
    start = ("<s>", *target[:-1])  # what the decoder had read when it predicted each token of `target`
    own = KV_WAYS[config.kv].own_columns(config, start)
    own_has_place = KV_WAYS[config.kv].own_heads_that_grow(config) > 0
    kinds = {
        "encoder": (decoding.encoder, source, source, len(source)),
        "decoder": (decoding.own, target, start, len(start)),
        "cross": (decoding.cross, target, (*source, *own), len(source)),
    }
    return {
        kind: tuple(
            _layer_view(kind, record, rows, columns, num_source, own_has_place, task.backwards, gold)
            for record in records
        )
        for kind, (records, rows, columns, num_source) in kinds.items()
    }


def _layer_view(
    kind: str,
    record: LayerRecord,
    rows: Tokens,
    columns: tuple,
    num_source: int,
    own_has_place: bool,
    backwards: bool,
    gold: Alignment | None,
) -> LayerView:
    weights, allowed = record.weights, record.allowed
    heads, q_len, _ = weights.shape
    ended = rows[-1] == "</s>"
    expected = answer_diagonal(q_len, num_source, ended, backwards) if kind == "cross" else np.arange(q_len)
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
        on_end=end_weight(weights, allowed, np.full(q_len, -1 if kind == "decoder" else num_source - 1)),
        size=sizes_of(record.lengths),
        similarity=query_cosine(record.queries),
        queries=record.queries,
        keys=record.keys,
    )
