"""How many bytes a picture of attention needs, beside BertViz, on the same random weights.

    pip install -r benchmarks/requirements-payload.txt
    python -m benchmarks.payload

One kind of attention, 12 layers of 12 heads over 64 tokens: what the app sends for one layer and for all of them at a
glance, the page that `show` makes of them, and the pages that BertViz makes. Long inputs are ours alone.
"""

import numpy as np
import torch
from bertviz import model_view

from attention import show
from attention.notebook import Section, Tile, grid_message
from attention.notebook.packing import read_message
from attention.notebook.show import WORDS

LAYERS, HEADS, TOKENS = 12, 12, 64
LONG = ((16, 256), (16, 512))  # heads and tokens of one layer


def random_weights(*shape: int) -> np.ndarray:
    scores = np.exp(np.random.default_rng(0).standard_normal(shape, dtype=np.float32))
    return scores / scores.sum(-1, keepdims=True)


def tokens_of(length: int) -> list[str]:
    return [f"token{number}" for number in range(length)]


def sent(layers: np.ndarray, compact: bool) -> int:
    """Bytes that the app sends of (layers, heads, tokens, tokens); each weight arrives rounded to three decimals."""
    sections = [
        Section(f"layer {index + 1}", index, [Tile(number, f"head {number + 1}", (), head) for number, head in heads])
        for index, heads in enumerate(map(enumerate, layers))
    ]
    tokens = tokens_of(layers.shape[-1])
    axes = {"row_labels": tokens, "col_labels": tokens, "row_title": "query", "col_title": "key"}
    message = grid_message(sections, words=WORDS, compact=compact, **axes)
    arrived = read_message(message)[1]
    assert np.abs(arrived - layers.ravel()).max() <= 0.5001e-3
    return len(message)


def bertviz_page(layers: np.ndarray, include: list[int] | None) -> int:
    attention = [torch.tensor(heads)[None] for heads in layers]  # (1, heads, tokens, tokens) each
    page = model_view(attention, tokens_of(TOKENS), include_layers=include, html_action="return")
    return len(page.data.encode())


def main() -> None:
    layers = random_weights(LAYERS, HEADS, TOKENS, TOKENS)
    tokens = tokens_of(TOKENS)
    of_all = bertviz_page(layers, None)
    rows = [
        ("BertViz, all layers", of_all),
        ("BertViz, one layer", bertviz_page(layers, [0])),
        ("app, all layers", sent(layers, compact=True)),
        ("app, one layer", sent(layers[:1], compact=False)),
        ("notebook, all layers", len(show(layers, rows=tokens, columns=tokens).html)),
        ("notebook, one layer", len(show(layers[0], rows=tokens, columns=tokens).html)),
    ]
    print(f"{LAYERS} × {HEADS} heads, {TOKENS} tokens{'':16}{'bytes':>12}  of BertViz, all layers")
    for name, size in rows:
        print(f"{name:40}{size:12,}  1/{of_all / size:.0f}")
    for heads, length in LONG:
        weights, tokens = random_weights(heads, length, length), tokens_of(length)
        page = show(weights, rows=tokens, columns=tokens).html
        for place, size in (("app", sent(weights[None], compact=False)), ("notebook", len(page))):
            print(f"{f'{place}, {heads} heads, {length} tokens':40}{size:12,}")


if __name__ == "__main__":
    main()
