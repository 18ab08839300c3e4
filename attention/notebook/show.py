"""The head grid in a notebook, or as a page of its own: HTML that holds all it needs.

from attention import show

show(model, "knight")                              # a model of this package, with the task it was trained for
show(weights, rows=["n", "aɪ"], columns="night")   # any attention weights: (heads, q_len, kv_len)
"""

import base64
import html
import zlib
from collections.abc import Sequence
from pathlib import Path
from string import Template

import numpy as np
from torch import Tensor

from attention.config import ATTENTION_KINDS
from attention.figures.palette import DARK, LIGHT, Palette
from attention.inspection import inspect_word
from attention.messages import Message
from attention.model import EncoderDecoder
from attention.notebook.files import FOLDER, GRID_CSS, GRID_JS, joined
from attention.notebook.grid_data import Section, Tile, grid_message
from attention.tasks import Task, get_task

# The few words that the grid says by itself; pages say them in their own language.
WORDS = {
    "group": "Attention heads",
    "hint": "Point at a cell to see it in every head.",
    "keys_hint": "Arrow keys choose a head, Shift and arrow keys move the cell.",
    "lines_hint": "Point at a token, and only its lines stay.",
    "lines_keys_hint": "Arrow keys choose a head, Shift and arrow keys go from token to token.",
    "scale": "weight",
    "masked": "masked",
    "no_keys": "no keys",
    "away": "switched off",
}
AXES = {
    "encoder": ("query (encoder)", "key (encoder)"),
    "decoder": ("query (decoder)", "key (decoder)"),
    "cross": ("query (decoder)", "key (encoder)"),
    None: ("query", "key"),
}
FONT = "system-ui, sans-serif"
FIRST_HEIGHT = 420  # pixels of the frame, until what it holds is drawn


class Picture:
    """A head grid as HTML: a notebook shows it, `html` is a whole page, `save` writes it."""

    def __init__(self, page: str) -> None:
        self.html = page

    def save(self, path: str | Path) -> None:
        """Write the page; it asks nothing of the outside."""
        Path(path).write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        frame = f'style="width: 100%; height: {FIRST_HEIGHT}px; border: 0" title="{WORDS["group"]}"'
        return f'<iframe {frame} srcdoc="{html.escape(self.html)}"></iframe>'


def show(
    what: EncoderDecoder | np.ndarray | Tensor,
    text: str | None = None,
    *,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    task: str | Task = "spelling",
    kind: str = "cross",
    layer: int | None = None,
    allowed: np.ndarray | Tensor | None = None,
    lines: bool = False,
) -> Picture:
    """Draw attention heads, to be pointed at.

    Args:
        what: a model, or weights (heads, q_len, kv_len) between 0 and 1; (q_len, kv_len) is a single head, and
            (layers, heads, q_len, kv_len) are several layers, one below the other.
        text: for a model: what it reads.
        rows, columns: for weights: the tokens of queries and keys.
        task, kind, layer: for a model: the task it was made for, "encoder", "decoder" or "cross", and the layer from
            0 (None: the last).
        allowed: for weights: True where a query may attend, (q_len, kv_len) or one for each head.
        lines: join tokens by lines in place of maps.

    Raises:
        ValueError: what was given does not fit together, with both numbers; or there is no such kind or layer.
    """
    if isinstance(what, EncoderDecoder):
        return _show_model(what, text, task, kind, layer, lines)
    if rows is None or columns is None:
        raise ValueError("weights need rows=… and columns=…, the tokens of queries and keys")
    weights = _array(what)
    if not 2 <= weights.ndim <= 4:
        raise ValueError(f"weights need the shape (heads, q_len, kv_len), got {weights.shape}")
    layers = weights.reshape((1,) * (4 - weights.ndim) + weights.shape)
    if allowed is not None:
        allowed = _array(allowed)
        allowed = allowed.reshape(-1, *allowed.shape[-2:]) if allowed.ndim > 2 else allowed  # of all heads in order
    return _page(layers, rows, columns, None, allowed, lines)


def _show_model(
    model: EncoderDecoder, text: str | None, task: str | Task, kind: str, layer: int | None, lines: bool
) -> Picture:
    if text is None:
        raise ValueError("a model needs a text to read: show(model, 'knight')")
    if kind not in ATTENTION_KINDS:
        raise ValueError(f"kind is one of {', '.join(ATTENTION_KINDS)}, got {kind!r}")
    task = get_task(task) if isinstance(task, str) else task
    has, needs = (model.config.src_vocab_size, model.config.tgt_vocab_size), (len(task.src_vocab), len(task.tgt_vocab))
    if has != needs:
        raise ValueError(f"the model has vocabularies of {has} tokens, and {task.name} of {needs}; give its task=…")
    layers = inspect_word(model, task, task.read(text)).layers[kind]
    chosen = len(layers) - 1 if layer is None else layer
    if not 0 <= chosen < len(layers):
        raise ValueError(f"there is no layer {layer}; this model has {len(layers)}, counted from 0")
    view = layers[chosen]
    columns = [column.english if isinstance(column, Message) else column for column in view.columns]
    return _page(view.weights[None], view.rows, columns, kind, view.allowed, lines)


def _page(
    layers: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    kind: str | None,
    allowed: np.ndarray | None,
    lines: bool,
) -> Picture:
    sections = [
        Section(
            f"layer {index + 1}" if len(layers) > 1 else "",
            index,
            [Tile(head, f"head {head + 1}", (), weights) for head, weights in enumerate(heads)],
        )
        for index, heads in enumerate(layers)
    ]
    row_title, col_title = AXES[kind]
    axes = {"row_labels": rows, "col_labels": columns, "row_title": row_title, "col_title": col_title}
    return Picture(grid_page(grid_message(sections, **axes, allowed=allowed, words=WORDS, lines=lines), WORDS["group"]))


def grid_page(message: bytes, title: str, language: str = "en") -> str:
    """A page that draws what `grid_message` has made, and needs nothing else."""
    return Template((FOLDER / "page.html").read_text(encoding="utf-8")).substitute(
        title=html.escape(title),
        language=language,
        css=f"{_themes()}\n{joined((FOLDER / 'page.css', *GRID_CSS))}",
        js=joined(GRID_JS),
        data=base64.b64encode(zlib.compress(message, 9)).decode("ascii"),
    )


def _themes() -> str:
    """The colours that the style sheets ask for, by what the system, or the notebook, says."""
    light, dark = _variables(LIGHT, "light"), _variables(DARK, "dark")
    return (
        f":root, [data-theme=light] {{ {light} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root:not([data-theme=light]) {{ {dark} }} }}\n"
        f"[data-theme=dark] {{ {dark} }}"
    )


def _variables(colors: Palette, theme: str) -> str:
    named = {"text-color": colors.ink, "background-color": colors.page, "primary-color": colors.accent, "font": FONT}
    return f"color-scheme: {theme}; " + " ".join(f"--st-{name}: {value};" for name, value in named.items())


def _array(given: np.ndarray | Tensor) -> np.ndarray:
    return given.detach().cpu().numpy() if isinstance(given, Tensor) else np.asarray(given)
