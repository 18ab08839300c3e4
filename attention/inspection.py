"""What every head of a model did with one input: the model answers by itself, and its maps follow that answer."""

from dataclasses import dataclass, replace

import numpy as np
import torch

from attention.config import END, START, ModelConfig
from attention.decoding import greedy_decode
from attention.metrics import entropy, mean_distance, proportional_diagonal, query_cosine
from attention.metrics.alignment import alignment_score, diagonal_baseline
from attention.model import EncoderDecoder, Output
from attention.tasks import Task, Tokens

KINDS = ("encoder", "decoder", "cross")


@dataclass(frozen=True)
class LayerView:
    """All heads of one layer and kind on one input, as arrays.

    Attributes:
        weights: (heads, q_len, kv_len) float32, rows sum to 1.
        allowed: (q_len, kv_len), where a query may look at all.
        rows, columns: token labels of queries and keys.
        entropy: (heads,) 0 = one key, 1 = uniform; NaN where no row has a choice.
        distance: (heads,) in tokens, from the own position, or from the `straight_way` in cross-attention.
        alignment: (heads,) share of tokens whose strongest attention falls on what makes them; NaN without gold.
        similarity: (heads, heads) cosine of query vectors; NaN where undefined.
    """

    weights: np.ndarray
    allowed: np.ndarray
    rows: Tokens
    columns: Tokens
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
        layers=_layers(out, task.src_vocab.decode(src_ids[0].tolist()), task.tgt_vocab.decode(said), gold),
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
    layers = _layers(out, task.src_vocab.decode(src_ids[0].tolist()), task.tgt_vocab.decode(target), None)
    reached = {"encoder": layers["encoder"], "decoder": layers["decoder"][:1], "cross": ()}
    return WordView(source, known[0] if known else (), False, reached, float("nan"))


def _layers(out: Output, source: Tokens, target: Tokens, gold) -> dict[str, tuple[LayerView, ...]]:
    start = ("<s>", *target[:-1])  # what the decoder had read when it predicted each token of `target`
    rows = {"encoder": source, "decoder": target, "cross": target}
    columns = {"encoder": source, "decoder": start, "cross": source}
    return {
        kind: tuple(
            _layer_view(kind, maps[0].numpy(), queries[0].numpy(), rows[kind], columns[kind], gold)
            for maps, queries in zip(getattr(out.maps, kind), getattr(out.queries, kind), strict=True)
        )
        for kind in KINDS
    }


def _layer_view(kind: str, weights: np.ndarray, queries: np.ndarray, rows: Tokens, columns: Tokens, gold) -> LayerView:
    heads, q_len, kv_len = weights.shape
    allowed = np.ones((q_len, kv_len), dtype=bool)
    if kind == "decoder":
        allowed = np.tril(allowed)
    expected = straight_way(rows, kv_len) if kind == "cross" else np.arange(q_len)
    scored = kind == "cross" and gold is not None
    return LayerView(
        weights=weights,
        allowed=allowed,
        rows=rows,
        columns=columns,
        entropy=entropy(weights, allowed),
        distance=mean_distance(weights, allowed, expected=expected),
        alignment=alignment_score(weights, gold) if scored else np.full(heads, np.nan),
        similarity=query_cosine(queries),
    )


def straight_way(rows: Tokens, kv_len: int) -> np.ndarray:
    """Where each row of a cross-attention map would look if the answer followed the source evenly: (q_len,) positions.

    The tokens said go along the source's own tokens, from the first to the last, as in `diagonal_baseline`; the end
    token of the answer belongs to the end token of the source, its last column.
    """
    ended = bool(rows) and rows[-1] == "</s>"
    way = proportional_diagonal(len(rows) - ended, kv_len - 1)
    return np.append(way, kv_len - 1) if ended else way
