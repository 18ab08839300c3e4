"""What a picture offers as files. Nothing here reads the session: what is made is made from what an offer holds."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch

from attention.ablation.silence import MEAN, mean_contributions
from attention.checkpoints import find
from attention.cross_attention import fits
from attention.export import reached_weights, torch_script
from attention.export.script import Script
from attention.export.tables import as_csv, as_npz, head_columns
from attention.figures import Chart
from attention.inspection import LayerView
from attention.inspection.heads import Head
from attention.shapes.costs import num_parameters
from attention.tasks import Tokens, get_task
from attention.training.stored import Card, packed
from pages.shared.models import LARGE, ModelRecord, held_out, model_of, scores_of
from pages.shared.take_away.web_page import chart_page
from pages.shared.ways import column_labels

LONGEST_TEXT = 40  # characters of a text in a file name
_MIME = {"csv": "text/csv", "html": "text/html", "py": "text/x-python"}


@dataclass(frozen=True)
class Offer:
    """A file that can be taken away.

    Attributes:
        part: of the menu: "picture", "numbers" or "model".
        kind: names its button.
        make: gives its contents, in any thread.
        name: of the file without its ending, where it is not that of the picture.
    """

    part: str
    kind: str
    ending: str
    make: Callable[[], bytes]
    name: str = ""

    @property
    def mime(self) -> str:
        return _MIME.get(self.ending, "application/octet-stream")


# ---- names: they say what is in a file ----


def picture_name(record: ModelRecord, text: str, *what: str) -> str:
    """ "knight-8x8-16x4-cross-layer2"."""
    return "-".join(filter(None, (_plain(text), *_sizes(record), _state(record), _off(record), *map(_plain, what))))


def model_name(record: ModelRecord) -> str:
    """ "spelling-8x8-16x4"; the heads that are away are still in it."""
    return "-".join(filter(None, (record.task, *_sizes(record), _state(record))))


def _plain(text: str) -> str:
    """What is a letter or a digit in any language, and dashes; no part of a path."""
    return re.sub(r"[^\w-]+", "_", text[:LONGEST_TEXT].replace("_", "-")).strip("_-")


def _sizes(record: ModelRecord) -> tuple[str, ...]:
    config = record.config
    heads = (f"{stack.num_heads}x{stack.head_dim}" for stack in (config.encoder, config.decoder))
    return *heads, "" if config.kv == "reproject" else config.kv, config.kv_variant or ""


def _state(record: ModelRecord) -> str:
    """What is not to be taken for a whole trained model of these sizes."""
    changed = "-twin" if record.twin else ""
    if record.is_random:
        return f"random-seed{record.seed}{changed}"
    return (f"step{record.step}" if record.is_half_trained else "") + changed


def _off(record: ModelRecord) -> str:
    return f"without{len(record.without)}" if record.without else ""


# ---- numbers ----


def chart_offers(chart: Chart, title: str, about: str, theme: str) -> list[Offer]:
    """A chart as a web page, and its numbers."""
    return [
        Offer("picture", "html", "html", lambda: chart_page(chart, title, about, theme)),
        Offer("numbers", "csv", "csv", lambda: as_csv(chart.numbers(), about)),
        Offer("numbers", "npz", "npz", lambda: as_npz(chart.numbers(), about)),
    ]


def head_offers(kind: str, layers: Mapping[int, LayerView], about: str) -> list[Offer]:
    """The maps of all heads of some layers, by their numbers, from 1."""
    first = next(iter(layers.values()))

    def arrays() -> dict:
        stacked = {
            name: np.stack([getattr(layer, name) for layer in layers.values()]) for name in ("weights", "allowed")
        }
        named = {"kind": np.array(kind), "layers": np.array(list(layers)), "queries": np.array(first.rows)}
        return stacked | named | {"keys": np.array(column_labels(first.columns))}

    return [
        Offer("numbers", "csv", "csv", lambda: as_csv(head_columns(arrays()), about)),
        Offer("numbers", "npz", "npz", lambda: as_npz(arrays(), about)),
    ]


# ---- the model ----


def is_too_large(record: ModelRecord) -> bool:
    """Whether its weights would be a file too large to be handed to everybody."""
    return num_parameters(record.config) > LARGE


def model_offers(record: ModelRecord, source: Tokens, given: Tokens, shown: Head, about: str) -> list[Offer]:
    """The weights, and a script that rebuilds the picture from them; none of a model that is too large.

    given: what the decoder is given where the model cannot run.  about: a line on the weights.
    """
    if is_too_large(record):
        return []
    return [
        Offer("model", "weights", "safetensors", lambda: weights_file(record), model_name(record)),
        Offer("model", "script", "py", lambda: script_of(record, source, given, shown, about).text.encode()),
    ]


def weights_file(record: ModelRecord) -> bytes:
    """The model without any heads taken away, or what there is of one that cannot run."""
    whole = record.without_heads((), record.off_by)
    weights = model_of(whole).state_dict() if fits(record.config) else reached_weights(record.config, record.seed)
    return packed(weights, _card(whole))


def _card(record: ModelRecord) -> Card:
    if record.origin == "shipped" and record.twin is None:
        return find(record.task, record.config)
    reached = None if record.is_trained else record.step
    return Card(model_name(record), record.training, scores_of(record), torch.__version__, reached=reached)


def script_of(record: ModelRecord, source: Tokens, given: Tokens, shown: Head, about: str) -> Script:
    """The script in plain PyTorch that rebuilds a picture."""
    means = None
    if record.without and record.off_by == MEAN:
        whole = model_of(record.without_heads((), record.off_by))
        means = mean_contributions(whole, held_out(record.task).batch)
    return torch_script(
        record.config,
        get_task(record.task),
        source,
        shown,
        f"{model_name(record)}.safetensors",
        about=about,
        given=given,
        without=record.without,
        means=means,
    )
