"""The script of plain PyTorch is run, and compared with what the library says of the same model."""

import io
import json
import re
import runpy
import subprocess
import sys
import tempfile
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from all_ways import WAYS, decoder
from few_examples import COSTLY
from hypothesis import given
from random_configs import any_configs
from random_numbers import randomise

from attention import EncoderDecoder, ModelConfig, trace_shapes
from attention.ablation.silence import mean_contributions, without_heads
from attention.config import ATTENTION_KINDS
from attention.cross_attention import fits
from attention.export import reached_weights, torch_script
from attention.export.script import PLACES
from attention.inspection import WordView, inspect_reached, inspect_word
from attention.inspection.batch import held_out_batch
from attention.inspection.heads import Head, all_heads, readers_of
from attention.tasks import get_task
from attention.training import TrainingSettings
from attention.training.stored import Card, packed

TASK = get_task("spelling")
SOURCE = TASK.read("knight")
STOPS = {
    "direct, more heads": {"kv": "direct", "num_heads": 4},
    "direct, one head": {"kv": "direct", "num_heads": 1},
    "direct, other size": {"kv": "direct", "head_dim": 2},
    "mix, other size": {"kv": "projection", "kv_variant": "mix", "head_dim": 2},
    "no groups": {"kv": "grouped", "num_heads": 5},
    "no pool": {"kv": "grouped", "num_heads": 2},
    "no drop": {"kv": "grouped", "kv_variant": "drop", "num_heads": 2},
    "too few for slots": {"kv": "extra", "num_heads": 2},
    "too few for states": {"kv": "extra", "kv_variant": "states", "num_heads": 2},
    "slots, other size": {"kv": "extra", "num_heads": 5, "head_dim": 2},
    "states, other size": {"kv": "extra", "kv_variant": "states", "num_heads": 5, "head_dim": 2},
}


def of_task(config: ModelConfig) -> ModelConfig:
    return replace(config, src_vocab_size=len(TASK.src_vocab), tgt_vocab_size=len(TASK.tgt_vocab))


def model_of(config: ModelConfig) -> EncoderDecoder:
    return randomise(EncoderDecoder(config), 0).float().eval()


def stopping(kv: str, kv_variant: str | None = None, **sizes) -> ModelConfig:
    return of_task(replace(WAYS["direct"], decoder=decoder(**sizes), kv=kv, kv_variant=kv_variant))


def written(folder: Path, config: ModelConfig, weights, shown: Head, **more) -> Path:
    """The script beside the weights that it reads."""
    card = Card("model", TrainingSettings.quick(TASK, config), None, "none", reached=0)
    (folder / "model.safetensors").write_bytes(packed(weights, card))
    script = folder / "script.py"
    script.write_text(torch_script(config, TASK, SOURCE, shown, "model.safetensors", **more).text, encoding="utf-8")
    return script


def printed(output: str) -> tuple[str, np.ndarray]:
    """The answer and the map, as the script has printed them."""
    answer, _, *rows = output.splitlines()
    return answer.partition("→")[2].strip(), np.array([[float(x) for x in row.split()[1:]] for row in rows])


def assert_same(output: str, maps: dict, view: WordView, shown: Head) -> None:
    answer, weights = printed(output)
    assert answer == TASK.join_target(view.answer)
    np.testing.assert_allclose(weights, view.layers[shown.kind][shown.layer].weights[shown.number], atol=1e-5)
    for kind in ATTENTION_KINDS:
        for number, layer in enumerate(view.layers[kind]):
            np.testing.assert_allclose(maps[PLACES[kind].format(number)], layer.weights, atol=1e-5)


def run_here(script: Path) -> tuple[str, dict]:
    with redirect_stdout(io.StringIO()) as said, patch.object(sys, "argv", [str(script)]):
        names = runpy.run_path(str(script))
    return said.getvalue(), names["MAPS"]


ALONE = '''
import importlib.metadata, json, re, runpy, sys, io, contextlib

def torchs(package, found):
    """The modules that come with a package, and with what it requires."""
    if package in found:
        return found
    found.add(package)
    for line in importlib.metadata.requires(package) or []:
        name = re.match(r"[A-Za-z0-9._-]+", line)[0]
        if "extra ==" not in line:
            try:
                torchs(name, found)
            except importlib.metadata.PackageNotFoundError:
                pass
    return found

packages, by_module = torchs("torch", set()), importlib.metadata.packages_distributions()
named = {package.replace("-", "_").lower() for package in packages}

class Refuse:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        owners = {owner.replace("-", "_").lower() for owner in by_module.get(top, [])}
        if top not in sys.stdlib_module_names and top not in named and not owners & named:
            raise ModuleNotFoundError(f"{name} is refused")

sys.meta_path.insert(0, Refuse())
for script in sys.argv[1:]:
    with contextlib.redirect_stdout(io.StringIO()) as said:
        sys.argv = [script]
        maps = runpy.run_path(script)["MAPS"]
    print(json.dumps([said.getvalue(), {name: weights.tolist() for name, weights in maps.items()}]))
assert not {"numpy", "safetensors", "attention"} & set(sys.modules), "imported all the same"
'''


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> dict:
    """Each K/V way's script, run where every import but PyTorch's and the standard library's is refused."""
    scripts = {}
    for number, (way, config) in enumerate(WAYS.items()):
        model = model_of(of_task(config))
        shown = all_heads(model.config)[number % len(all_heads(model.config))]
        script = written(tmp_path_factory.mktemp("alone"), model.config, model.state_dict(), shown)
        scripts[way] = script, model, shown
    command = [sys.executable, "-W", "ignore", "-c", ALONE, *(str(script) for script, _, _ in scripts.values())]
    done = subprocess.run(command, cwd="/", capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    outputs = map(json.loads, done.stdout.splitlines())
    return {way: (*rest, *output) for (way, (_, *rest)), output in zip(scripts.items(), outputs, strict=True)}


@pytest.mark.parametrize("way", WAYS)
def test_with_pytorch_alone_the_script_gives_the_same_answer_and_maps(alone, way):
    model, shown, output, maps = alone[way]
    maps = {name: np.array(weights) for name, weights in maps.items()}
    assert_same(output, maps, inspect_word(model, TASK, SOURCE), shown)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("by_mean", [False, True])
def test_heads_taken_away_are_away_in_the_script(tmp_path, way, by_mean):
    """A K/V head goes with all query heads that share it, and so do some heads of each kind."""
    whole = model_of(of_task(WAYS[way]))
    away = {*readers_of(whole.config, "cross", 1, 0), Head("encoder", 0, 2), Head("decoder", 1, 0)}
    means = mean_contributions(whole, held_out_batch(TASK, 5).batch) if by_mean else None
    shown = Head("cross", 1, 0)
    script = written(tmp_path, whole.config, whole.state_dict(), shown, without=away, means=means)
    view = inspect_word(without_heads(whole, away, means), TASK, SOURCE)
    assert_same(*run_here(script), view, shown)
    kept = inspect_word(whole, TASK, SOURCE).layers["cross"][1].weights
    assert kept.shape != (there := view.layers["cross"][1].weights).shape or not np.allclose(kept, there, atol=1e-3)


@pytest.mark.parametrize("name", STOPS)
@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_what_does_not_run_stops_at_the_same_line(tmp_path, capsys, monkeypatch, name, kind):
    config, known = stopping(**STOPS[name]), TASK.answers(SOURCE)[0]
    weights = reached_weights(config, seed=0)
    script = written(tmp_path, config, weights, Head(kind, 0, 0), given=known)
    monkeypatch.setattr(sys, "argv", [str(script)])
    with pytest.raises(RuntimeError) as stopped:
        runpy.run_path(str(script))
    assert str(stopped.value) == trace_shapes(config, len(SOURCE) + 1, len(known) + 1).failure.error
    reached = inspect_reached(config, 0, TASK, SOURCE).layers[kind]
    said = capsys.readouterr().out
    if reached:
        _, weights = printed(f"\n{said}")
        np.testing.assert_allclose(weights, reached[0].weights[0], atol=1e-5)
    else:
        assert not said


@COSTLY
@given(any_configs())
def test_any_configuration_runs_or_stops_as_it_does_here(config):
    config, known, shown = of_task(config), TASK.answers(SOURCE)[0], Head("cross", 0, 0)
    with tempfile.TemporaryDirectory() as folder:
        if fits(config):
            model = model_of(config)
            script = written(Path(folder), config, model.state_dict(), shown)
            assert_same(*run_here(script), inspect_word(model, TASK, SOURCE), shown)
        else:
            script = written(Path(folder), config, reached_weights(config, 0), shown, given=known)
            with pytest.raises(RuntimeError) as stopped:
                run_here(script)
            assert str(stopped.value) == trace_shapes(config, len(SOURCE) + 1, len(known) + 1).failure.error


@pytest.mark.parametrize("way", WAYS)
def test_it_is_at_most_150_lines_with_heads_away_everywhere_and_compiles(way):
    config = of_task(WAYS[way])
    heads = [head for head in all_heads(config) if not head.number]
    means = mean_contributions(model_of(config), held_out_batch(TASK, 2).batch)
    about = "trained: 71 % of held-out words right, after 2,700 steps of training, with a longer line than is usual"
    script = torch_script(
        config, TASK, SOURCE, Head("cross", 0, 0), "model.safetensors", about=about, without=heads, means=means
    )
    assert len(script.text.splitlines()) <= 150
    assert all(len(line) <= 120 for line in script.text.splitlines() if not re.match("AWAY|INSTEAD", line))
    assert script.attention in script.text
    compile(script.text, "script", "exec")


@pytest.mark.parametrize("text", ['a"b', "'''", '"""', "a\\nb", "\\", "{x}", "# no", "\u2028", "$(touch x)"])
def test_tokens_and_what_is_said_of_the_weights_stay_text(text):
    config, shown = of_task(WAYS["reproject"]), Head("encoder", 0, 0)
    script = torch_script(config, TASK, (*SOURCE, text), shown, text, about=f"{text}\nimport os; SOURCE = 1")
    names: dict = {}
    exec(compile(script.text.partition("# ---- attention")[0], "constants", "exec"), names)
    assert names["SOURCE"] == [*SOURCE, text] and names["FILE"] == text and "os" not in names


def test_weights_that_are_reached_are_those_of_a_model_that_runs():
    """Names decide the numbers: an encoder, and a decoder up to its cross-attention, have the same in any model."""
    config = stopping(kv="direct", num_heads=4)
    reached = reached_weights(config, seed=5)
    fitting = EncoderDecoder(replace(config, encoder=replace(config.encoder, num_heads=4, num_kv_heads=4)), seed=5)
    same = fitting.state_dict()
    compared = [name for name in reached if name.startswith("decoder") or ".ffn." in name]
    assert compared and all(reached[name].equal(same[name]) for name in compared)
