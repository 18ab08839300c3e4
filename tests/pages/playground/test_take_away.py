"""What is taken away from the playground is what it shows."""

import csv
import io
import runpy
import sys
from contextlib import redirect_stdout
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
import torch
from app_test import checked, open_page, settings_of, texts
from streamlit.testing.v1 import AppTest
from taken_away import files

from attention.shapes import trace_shapes
from attention.tasks import get_task
from attention.training.stored import load_weights, read_card
from pages.shared.models import record_of, word_view

SMALL = {"enc_heads": 2, "dec_heads": 4, "enc_dim": 5, "dec_dim": 3, "width": 16}


def view_of(app: AppTest):
    settings = settings_of(app)
    return word_view(record_of(settings), get_task(settings.task).read(settings.text))


def by_ending(made: dict[str, bytes]) -> dict[str, bytes]:
    return {name.rpartition(".")[2]: content for name, content in made.items()}


def run(folder: Path, made: dict[str, bytes]) -> tuple[str, dict]:
    """The script among these files, run beside them: what it prints, and its maps."""
    for name, content in made.items():
        (folder / name).write_bytes(content)
    (script,) = (str(folder / name) for name in made if name.endswith(".py"))
    with redirect_stdout(io.StringIO()) as said, patch.object(sys, "argv", [script]):
        names = runpy.run_path(script)
    return said.getvalue(), names["MAPS"]


def test_the_files_of_a_head_are_named_after_what_is_in_them():
    made = files(open_page(enc_heads=8, dec_heads=16, dec_dim=4), "large_head")
    assert set(made) == {
        *(f"knight-8x8-16x4-cross-layer2-head1.{ending}" for ending in ("html", "csv", "npz", "py")),
        "spelling-8x8-16x4.safetensors",
    }


def test_other_settings_have_other_names():
    broken = files(open_page(kv="direct", enc_heads=8, dec_heads=16, dec_dim=8, kind="encoder"), "large_head")
    assert "knight-8x8-16x8-direct-random-seed0-encoder-layer2-head1.csv" in broken
    cut = files(open_page(off="cross.2.3", seed=3, **SMALL, text="box"), "large_head")
    assert "box-2x5-4x3-random-seed3-without1-cross-layer2-head1.csv" in cut
    assert "spelling-2x5-4x3-random-seed3.safetensors" in cut


@pytest.mark.parametrize(
    "address",
    [
        {},
        {"kind": "decoder", "layer": 1, "head": 2},
        {"kind": "encoder", **SMALL, "text": "rhythm"},
        {"kv": "extra", "enc_heads": 8, "dec_heads": 16, "dec_dim": 8, "head": 12},
        {"task": "dates", "off": "cross.2.1.2.3-encoder.1.4"},
        {"off": "cross.2.1.5-decoder.1.2", "off_by": "mean"},
        {"dec_kv_heads": 2, "off": "decoder.2.kv.1"},
    ],
)
def test_script_and_weights_give_the_maps_of_the_page(tmp_path, address):
    app = open_page(**address)
    made, view, settings = files(app, "large_head"), view_of(app), settings_of(app)
    said, maps = run(tmp_path, made)
    assert said.splitlines()[0].partition("→")[2].strip() == get_task(settings.task).join_target(view.answer)
    for kind, attention in (("encoder", "attention"), ("decoder", "attention"), ("cross", "cross")):
        side = "encoder" if kind == "encoder" else "decoder"
        for number, layer in enumerate(view.layers[kind]):
            shown = maps[f"{side}.layers.{number}.{attention}"]
            np.testing.assert_allclose(shown, layer.weights, atol=1e-5)
    printed = [[float(cell) for cell in row.rsplit(maxsplit=shown.shape[-1])[1:]] for row in said.splitlines()[2:]]
    chosen = view.layers[settings.kind][settings.layer - 1].weights[settings.head - 1]
    np.testing.assert_allclose(np.array([row[-chosen.shape[1] :] for row in printed]), chosen, atol=1e-5)


def test_what_does_not_run_gives_a_script_that_stops_with_the_same_error(tmp_path):
    app = open_page(kv="direct", enc_heads=8, dec_heads=16, dec_dim=8, kind="encoder", text="box")
    made, view = files(app, "large_head"), view_of(app)
    lengths = (len(view.layers[kind][0].rows) for kind in ("encoder", "decoder"))
    with pytest.raises(RuntimeError) as stopped:
        run(tmp_path, made)
    assert str(stopped.value) == trace_shapes(settings_of(app).config, *lengths).failure.error
    assert "It stops at the same line" in texts(app)


@pytest.mark.parametrize("address", [{}, SMALL, {"off": "cross.2.3"}])
def test_the_weights_are_loaded_as_a_whole_model_by_the_library(tmp_path, address):
    app = open_page(**address)
    path = tmp_path / "model.safetensors"
    path.write_bytes(by_ending(files(app, "large_head"))["safetensors"])
    record = record_of(settings_of(app))
    model = load_weights(path, record.config)
    view = word_view(record.without_heads((), "zero"), tuple("knight"))
    maps = model(*(ids_of(view, app))).maps
    np.testing.assert_allclose(maps.cross[1][0].detach(), view.layers["cross"][1].weights, atol=1e-5)
    card = read_card(path)
    assert (card.scores is None) == (record.origin == "random") and card.config == record.config
    assert card.reached == (0 if record.origin == "random" else None)


def ids_of(view, app: AppTest):
    task = get_task(settings_of(app).task)
    answer = [1, *task.tgt_vocab.encode(view.answer)]
    shown = len(view.layers["cross"][0].rows)
    return torch.tensor([task.encode_source(view.source)]), torch.tensor([answer[:shown]])


def test_numbers_of_the_grid_are_all_heads_with_their_tokens_and_settings():
    app = open_page(text="box", kind="decoder")
    made, layer = by_ending(files(app, "heads")), view_of(app).layers["decoder"][1]
    read = np.load(io.BytesIO(made["npz"]), allow_pickle=False)
    np.testing.assert_array_equal(read["weights"][0], layer.weights)
    np.testing.assert_array_equal(read["allowed"][0], layer.allowed)
    assert (str(read["kind"]), read["layers"].tolist()) == ("decoder", [2])
    assert read["queries"].tolist() == list(layer.rows) and read["keys"].tolist() == list(layer.columns)
    assert "text=box" in str(read["settings"]) and "kind=decoder" in str(read["settings"])
    about, *rows = made["csv"].decode("utf-8-sig").splitlines()
    assert about.startswith("# ") and "text=box" in about
    cells = list(csv.DictReader(rows))
    assert len(cells) == layer.weights.size
    for cell in cells:
        head, query, key = (int(cell[name]) - 1 for name in ("head", "query_place", "key_place"))
        assert float(cell["weight"]) == pytest.approx(layer.weights[head, query, key], abs=1e-7)
        assert bool(int(cell["allowed"])) == layer.allowed[head, query, key]
        assert (cell["query"], cell["key"], cell["layer"]) == (layer.rows[query], layer.columns[key], "2")


def test_all_layers_are_taken_together():
    app = open_page(view="layers")
    read = np.load(io.BytesIO(by_ending(files(app, "heads"))["npz"]))
    shown = np.stack([layer.weights for layer in view_of(app).layers["cross"]])
    np.testing.assert_array_equal(read["weights"], shown)


def test_a_web_page_holds_all_it_needs():
    made = by_ending(files(open_page(), "large_head"))["html"].decode()
    assert 'lang="en"' in made and "class HeadGrid" in made and "Plotly" not in made and len(made) < 100_000


def test_a_large_model_is_not_offered_and_the_page_says_why():
    app = open_page(width=512, enc_layers=6, dec_layers=6, **{f"{side}_heads": 8 for side in ("enc", "dec")})
    assert {name.rpartition(".")[2] for name in files(app, "large_head")} == {"html", "csv", "npz"}
    assert "too large to be taken away; up to 3 million" in texts(app)


def test_the_code_is_the_attention_part_of_the_script():
    app = open_page(kv="grouped", enc_heads=8, dec_heads=16, dec_dim=8)
    assert not app.code
    app.session_state["boxes"] = {"code": True}
    (shown,) = checked(app.run()).code
    script = by_ending(files(app, "large_head"))["py"].decode()
    assert shown.value.strip() in script
    assert "softmax" in shown.value and "def keys_values" in shown.value and "read_safetensors" not in shown.value


@pytest.mark.sample(3)
@pytest.mark.parametrize("text", ["../../etc/passwd", "a/b\\c", "<img src=x>", "猫", "", "x" * 400, "-rf", "\x00\x01"])
def test_a_file_name_is_no_path_whatever_was_typed(text):
    for name in files(open_page(text=text), "large_head"):
        assert name.isprintable() and not set(name) & set('/\\<>:"|?*') and ".." not in name and len(name) < 140
        assert not name.startswith(("-", "."))


@pytest.mark.parametrize("view", ["heads", "lines", "layers"])
def test_the_grid_s_web_page_holds_our_own_component_and_little_else(view):
    made = by_ending(files(open_page(view=view), "heads"))["html"].decode()
    assert "class HeadGrid" in made and "Plotly" not in made and 'lang="en"' in made
    assert len(made) < 200_000
    assert "Click a head to enlarge it" not in made  # in a page of its own there is nothing to be enlarged
