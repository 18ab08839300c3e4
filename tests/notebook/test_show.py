"""`show`: what it takes, and that the page it makes holds all it needs."""

import base64
import re
import subprocess
import sys
import zlib
from html import unescape
from pathlib import Path

import numpy as np
import pytest
import torch
from grid_sent import SHOWN, read_grid

from attention import EncoderDecoder, ModelConfig, StackConfig, show
from attention.checkpoints import load
from attention.inspection import inspect_word
from attention.notebook.show import WORDS
from attention.tasks import get_task
from pages.shared.settings import Settings
from pages.shared.texts import catalogue

ROWS, COLUMNS = ["<s>", "</script>", "猫"], ["a", "b"]


def sent(picture):
    """What the page's script unpacks."""
    packed = re.search(r'bytes\("([^"]*)"\)\]\)', picture.html)[1]
    return read_grid(zlib.decompress(base64.b64decode(packed)))


def test_a_model_with_its_text():
    config = Settings().config
    model, _ = load("spelling", config)
    view = inspect_word(model, get_task("spelling"), tuple("knight"))
    data = sent(show(model, "knight"))
    np.testing.assert_allclose(data["weights"], view.layers["cross"][-1].weights, rtol=0, atol=SHOWN)
    assert (data["rows"], data["cols"]) == (["n", "aɪ", "t", "</s>"], [*"knight", "</s>"])
    data = sent(show(model, "knight", kind="decoder", layer=0, lines=True))
    np.testing.assert_allclose(data["weights"], view.layers["decoder"][0].weights, rtol=0, atol=SHOWN)
    assert data["lines"] and data["allowed"].tolist() == np.tri(4, dtype=bool).ravel().tolist()


@pytest.mark.parametrize("shape", [(3, 2), (5, 3, 2), (2, 5, 3, 2)])
def test_arrays_of_one_head_of_one_layer_and_of_several(shape):
    weights = np.random.default_rng(0).random(shape)
    mask = weights > 0.3
    heads = int(np.prod(shape[:-2]))
    for given in (weights, torch.tensor(weights, requires_grad=True)):
        data = sent(show(given, rows=ROWS, columns=COLUMNS, allowed=mask))
        np.testing.assert_allclose(data["weights"], weights.reshape(heads, 3, 2), rtol=0, atol=SHOWN)
        assert data["allowed"].tolist() == mask.ravel().tolist()
    assert [len(section["tiles"]) for section in data["sections"]] == ([5, 5] if len(shape) == 4 else [heads])
    assert (data["rows"], data["cols"]) == (ROWS, COLUMNS)


def test_the_page_is_whole_and_small_and_asks_for_nothing(tmp_path):
    picture = show(np.eye(3)[:, :2], rows=ROWS, columns=COLUMNS)
    assert not re.search(r"https?://|@import|\bfetch\(|src=", picture.html)
    assert len(picture.html) < 60_000
    assert picture.html.count("</script>") == 1  # tokens travel packed
    picture.save(tmp_path / "heads.html")
    assert (tmp_path / "heads.html").read_text(encoding="utf-8") == picture.html
    assert unescape(re.search('srcdoc="([^"]*)"', picture._repr_html_())[1]) == picture.html


def test_its_words_are_those_of_the_pages_where_both_have_them():
    words = catalogue()["head_grid"]
    assert WORDS.keys() == words.keys()
    assert all(words[name].startswith(text) for name, text in WORDS.items())


def test_sixteen_heads_over_512_tokens_stay_below_6_mb():
    scores = np.random.default_rng(0).standard_normal((16, 512, 512), dtype=np.float32)
    weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    tokens = [str(number) for number in range(512)]
    assert len(show(weights, rows=tokens, columns=tokens).html) < 6e6


@pytest.mark.parametrize(
    ("weights", "options", "message"),
    [
        (np.eye(3), {}, "weights need rows=… and columns=…"),
        (np.ones(3), {"rows": ROWS, "columns": COLUMNS}, r"shape \(heads, q_len, kv_len\), got \(3,\)"),
        (np.eye(3), {"rows": ROWS, "columns": COLUMNS}, r"have shape \(3, 3\), but there are \(3, 2\)"),
    ],
)
def test_weights_that_do_not_fit_are_refused(weights, options, message):
    with pytest.raises(ValueError, match=message):
        show(weights, **options)


@pytest.mark.parametrize(
    ("tokens", "options", "message"),
    [
        (0, {"text": None}, "a model needs a text"),
        (0, {"kind": "self"}, "kind is one of encoder, decoder, cross, got 'self'"),
        (0, {"layer": 2}, "there is no layer 2; this model has 2"),
        (3, {}, r"vocabularies of \((\d+), (\d+)\) tokens, and spelling of \((?!\1)\d+, \2\)"),
    ],
)
def test_a_model_that_does_not_fit_is_refused(tokens, options, message):
    task = get_task("spelling")
    stack = StackConfig(d_model=8, num_heads=2)
    sizes = {"src_vocab_size": len(task.src_vocab) + tokens, "tgt_vocab_size": len(task.tgt_vocab)}
    with pytest.raises(ValueError, match=message):
        show(EncoderDecoder(ModelConfig(stack, stack, **sizes), seed=0), **{"text": "knight", **options})


ROOT = Path(__file__).parents[2]
INSTALLED = """
import sys; sys.path.insert(0, sys.argv[1])
import attention
from attention import show
from attention.checkpoints import load, shipped
from attention.experiments.comparison import stored_runs
from attention.tasks import TASKS, get_task
assert attention.__file__.startswith(sys.argv[1])
for name in TASKS:
    assert get_task(name).held_out(3)
(task, config), card = next((key, card) for key, card in shipped().items() if key[0] == "spelling")
model, _ = load(task, config)
assert "DecompressionStream" in show(model, "knight").html
"""


@pytest.mark.slow
def test_the_library_installs_as_a_package_with_its_data(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    tracked = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(tracked, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    for name in names:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes((ROOT / name).read_bytes())
    there = tmp_path / "there"
    quiet = ["--no-deps", "--no-build-isolation", "--quiet", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "pip", "install", *quiet, "--target", there, source], check=True)
    subprocess.run([sys.executable, "-c", INSTALLED, there], cwd=tmp_path, check=True)
    data = {name for name in names if name.startswith("attention/") and not name.endswith(".py")}
    assert data and all((there / name).is_file() for name in data)
    assert not (there / "pages").exists()
