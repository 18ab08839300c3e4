"""The script that makes the models that ship."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from attention import ModelConfig, StackConfig
from attention.checkpoints import make
from attention.checkpoints.index import read_index
from attention.checkpoints.one_model import is_made
from attention.checkpoints.one_model import make as make_one
from attention.checkpoints.table import markdown_table
from attention.tasks import get_task
from attention.training import TrainingSettings
from attention.training.evaluation import Accuracy, Apart, Scores, evaluate
from attention.training.stored import Card, load_weights, read_card

ROOT = Path(__file__).parents[2]


def tiny(seed: int = 0) -> TrainingSettings:
    stacks = StackConfig(22, 2, num_layers=1), StackConfig(26, 13, num_layers=1)
    config = ModelConfig(*stacks, src_vocab_size=29, tgt_vocab_size=29)
    return TrainingSettings("reverse", config, num_steps=3, batch_size=7, seed=seed)


def command(*words: str) -> subprocess.CompletedProcess:
    words = [sys.executable, "-m", "attention.checkpoints.make", *words]
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False)


# Which models


def test_there_are_all_pairs_at_the_kept_total_width_and_what_is_compared_with_them():
    models = {
        (settings.task, *((side.num_heads, side.head_dim) for side in sides), settings.config.kv)
        for settings in make.recipes().values()
        for sides in [(settings.config.encoder, settings.config.decoder)]
    }
    assert len(models) == len(make.recipes()) == 60
    counts = (1, 2, 4, 8, 16, 32)
    expected = {("spelling", (enc, 64 // enc), (dec, 64 // dec), "reproject") for enc in counts for dec in counts}
    expected |= {("spelling", (8, 8), (dec, 8), "reproject") for dec in counts}
    expected |= {("spelling", (8, 8), (16, 8), kv) for kv in ("projection", "grouped", "extra")}
    expected |= {("spelling", (8, 8), (8, 8), "direct")}
    assert {model for model in models if model[0] == "spelling"} == expected
    for task in ("reverse", "dates", "pinyin"):
        pairs = {(enc, dec) for name, enc, dec, _ in models if name == task}
        assert pairs == {
            ((4, 16), (4, 16)), ((4, 16), (8, 8)), ((8, 8), (8, 8)), ((8, 8), (16, 4)), ((8, 8), (16, 8))
        }  # fmt: skip


def test_a_task_has_one_recipe_and_every_model_the_same_seed():
    recipes = {(settings.task, replace(settings, config=tiny().config)) for settings in make.recipes().values()}
    assert len(recipes) == 4
    assert {settings.seed for settings in make.recipes().values()} == {0}


# Making them


def test_making_a_model_trains_rounds_scores_and_saves(tmp_path, capsys, monkeypatch):
    task = get_task("reverse")
    examples = task.held_out(limit=40)
    monkeypatch.setattr(type(task), "held_out", lambda self, limit=None: examples)
    make_one("tiny", tiny(), tmp_path)
    card = read_card(tmp_path / "tiny.safetensors")
    assert card.scores == evaluate(load_weights(tmp_path / "tiny.safetensors", card.config), task, examples)
    assert card.settings == tiny() and card.apart is None
    said = capsys.readouterr().out
    assert "step 3, loss" in said and "minutes of training" in said


@pytest.mark.slow
def test_made_twice_a_model_is_equal_byte_by_byte_and_what_is_there_is_not_made_again(tmp_path, capsys):
    """Once in this process, and once in a worker beside another model."""
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    make_one("one", tiny(), here)
    wanted = {"one": tiny(), "other": tiny(seed=1)}
    assert make.make_all(wanted, there) == []
    one, other = ((there / f"{name}.safetensors").read_bytes() for name in wanted)
    assert one == (here / "one.safetensors").read_bytes() != other
    assert [entry.card.name for entry in read_index(there)] == ["one", "other"]

    (there / "other.safetensors").write_bytes(other[:-100])
    written = (there / "one.safetensors").stat().st_mtime_ns
    assert make.make_all(wanted, there) == []
    assert "1 of 2 models are there" in capsys.readouterr().out
    assert (there / "one.safetensors").stat().st_mtime_ns == written
    assert (there / "other.safetensors").read_bytes() == other


def test_a_file_of_other_settings_is_not_taken_for_the_model(tmp_path):
    make_one("tiny", tiny(), tmp_path)
    assert is_made("tiny", tiny(), tmp_path)
    assert not is_made("tiny", tiny(seed=1), tmp_path)
    assert not is_made("tiny", replace(tiny(), num_steps=4), tmp_path)
    assert not is_made("another", tiny(), tmp_path)


@pytest.mark.slow
def test_the_command_makes_what_it_is_told(tmp_path):
    made = command("reverse-8x8-8x8", "--steps", "1", "--to", str(tmp_path))
    assert made.returncode == 0, made.stderr
    (card,) = (entry.card for entry in read_index(tmp_path))
    assert card.settings == replace(make.recipes()["reverse-8x8-8x8"], num_steps=1)


@pytest.mark.parametrize(
    "words, said",
    [("reverse-7x7-7x7", "there is no model reverse-7x7-7x7"), ("--steps 1", "say with --to where they go")],
)
def test_the_command_refuses_what_there_is_not(monkeypatch, capsys, words, said):
    monkeypatch.setattr(sys, "argv", ["make", *words.split()])
    with pytest.raises(SystemExit) as ended:
        make.main()
    assert ended.value.code == 2 and said in capsys.readouterr().err


# The table in README.md


def test_the_table_has_a_row_for_each_model_in_order():
    config = replace(tiny().config, decoder=StackConfig(26, 3, 5), kv="extra")
    settings = replace(tiny(), config=config, num_steps=1_234)
    scores = Scores(0.99951, 0.4816, 40, ((0.25, float("nan")), (0.755, 0.5)), 0.125, 0.2, 17)
    told = Card("b", settings, scores, "2.0", Apart(Accuracy(0.9, 1.0, 4), Accuracy(0.8, 0.9999, 36)))
    plain = Card("a", tiny(), scores, "2.0")
    head, rule, *rows = markdown_table([plain, told]).splitlines()
    assert {line.count("|") for line in (head, rule, *rows)} == {11}
    assert rows == [
        "| reverse | 2 × 11 → 3 × 5 | extra | 1,234 | 48.2 % | 100.0 % | 99.9 % | 99.9 % | 0.76 | 0.12 |",
        "| reverse | 2 × 11 → 13 × 2 | reproject | 3 | 48.2 % | – | – | 99.9 % | 0.76 | 0.12 |",
    ]


def test_the_readme_has_the_table_that_the_command_prints(monkeypatch, capsys):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    begin = "<!-- python -m attention.checkpoints.make --table -->\n"
    assert text.count(begin) == 1
    table = text.split(begin)[1].split("<!-- end of the table -->")[0]
    monkeypatch.setattr(sys, "argv", ["make", "--table"])
    make.main()
    assert table == capsys.readouterr().out
