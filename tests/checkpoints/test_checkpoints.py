"""The models that ship: their scores computed again, and everything that must not load."""

import math
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file

from attention import EncoderDecoder, ModelConfig, StackConfig, checkpoints
from attention.checkpoints import DIRECTORY, find, is_damaged, load, make, shipped, steps_of_shipped
from attention.checkpoints.index import write_index
from attention.tasks import TASKS, get_task
from attention.training.evaluation import Accuracy, Apart, Scores, evaluate, evaluate_apart
from attention.training.stored import Card, CheckpointError, read_card, save

CARDS = {card.name: card for card in shipped().values()}
SAMPLES = [name for name in CARDS if "8x8-16x8" in name]
# The scores of one model by default, of every sixth in .ci/run, of all before a release.
WHOLE = [
    pytest.param(name, marks=pytest.mark.slow if number % 6 == 0 else pytest.mark.exhaustive)
    for number, name in enumerate(CARDS)
    if name != "dates-8x8-8x8"
] + ["dates-8x8-8x8"]


def config(task: str, enc: tuple[int, int], dec: tuple[int, int], kv: str = "reproject") -> ModelConfig:
    return ModelConfig(
        encoder=StackConfig(64, *enc),
        decoder=StackConfig(64, *dec),
        kv=kv,
        src_vocab_size={"spelling": 29, "reverse": 29, "dates": 41, "pinyin": 3_624}[task],
        tgt_vocab_size={"spelling": 43, "reverse": 29, "dates": 14, "pinyin": 1_194}[task],
        bias=True,
    )


def recomputed(card: Card, limit: int | None) -> tuple[Scores, Apart | None]:
    model, _ = load(card.task, card.config)
    task = get_task(card.task)
    return evaluate_apart(model, task, task.held_out(limit))


def flat(scores: Scores) -> list[float]:
    heads = [score for layer in scores.alignment for score in layer]
    return [scores.token_accuracy, scores.sequence_accuracy, scores.diagonal, scores.same_index, *heads]


def flat_apart(apart: Apart | None) -> list[float]:
    parts = (apart.resembling, apart.rest) if apart else ()
    return [number for part in parts for number in (part.token_accuracy, part.sequence_accuracy, part.num_examples)]


# What ships


@pytest.mark.parametrize("task", ["spelling", "reverse", "dates", "pinyin"])
@pytest.mark.parametrize(
    ("enc", "dec"),
    [((4, 16), (4, 16)), ((4, 16), (8, 8)), ((8, 8), (8, 8)), ((8, 8), (16, 4)), ((8, 8), (16, 8))],
)
def test_the_page_finds_a_trained_model(task, enc, dec):
    card = find(task, config(task, enc, dec))
    model, same_card = load(task, config(task, enc, dec))
    assert card is same_card
    assert model.config == card.config == config(task, enc, dec)
    assert not model.training
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}


def test_dropout_does_not_matter_for_finding_a_model():
    assert find("reverse", replace(config("reverse", (4, 16), (4, 16)), dropout=0.1)) is not None


def test_other_models_do_not_ship():
    assert find("spelling", config("spelling", (5, 13), (7, 9))) is None
    assert load("spelling", config("spelling", (5, 13), (7, 9))) is None
    assert not is_damaged("spelling", config("spelling", (5, 13), (7, 9)))
    assert find("nothing", config("spelling", (4, 16), (4, 16))) is None
    wide = replace(config("spelling", (4, 16), (4, 16)), encoder=StackConfig(64, 4, 32))
    assert find("spelling", wide) is None


def test_each_load_is_a_model_of_its_own():
    one, other = (load("reverse", config("reverse", (4, 16), (4, 16)))[0] for _ in range(2))
    with torch.no_grad():
        one.decoder.to_logits.weight.zero_()
    assert other.decoder.to_logits.weight.any()


def test_files_are_small_and_complete():
    files = [path for path in DIRECTORY.iterdir() if path.is_file() and path.suffix != ".py"]
    assert sum(path.stat().st_size for path in files) < 36_000_000
    assert {path.name for path in files} == {"index.json", *(f"{name}.safetensors" for name in CARDS)}


def test_the_script_makes_exactly_what_ships():
    assert {name: card.settings for name, card in CARDS.items()} == make.recipes()


def test_a_model_is_named_after_its_heads():
    assert CARDS.keys() <= make.recipes().keys()
    for name, card in CARDS.items():
        sides = "-".join(f"{side.num_heads}x{side.head_dim}" for side in (card.config.encoder, card.config.decoder))
        assert name.removesuffix(f"-{card.config.kv}") == f"{card.task}-{sides}"


@pytest.mark.parametrize("task", TASKS)
def test_all_models_of_a_task_have_had_as_many_steps(task):
    assert {card.settings.num_steps for card in CARDS.values() if card.task == task} == {steps_of_shipped(task)}


def test_a_task_without_models_has_no_steps():
    assert steps_of_shipped("nothing") is None


@pytest.mark.parametrize("name", TASKS)
def test_scores_are_of_all_test_examples_and_apart_where_the_task_can_tell(name):
    task = get_task(name)
    examples = task.held_out()
    resemble = task.resemble_training(examples)
    for card in (card for card in CARDS.values() if card.task == name):
        assert card.scores.num_examples == len(examples)
        assert (card.apart is None) == (resemble is None)
        if resemble is not None:
            counts = card.apart.resembling.num_examples, card.apart.rest.num_examples
            assert counts == (sum(resemble), len(examples) - sum(resemble))


# Scores


@pytest.mark.parametrize("name", WHOLE)
def test_scores_are_those_computed_again(name):
    card = CARDS[name]
    scores, apart = recomputed(card, limit=None)
    assert flat(scores) == pytest.approx(flat(card.scores), abs=1e-3, nan_ok=True)
    assert flat_apart(apart) == pytest.approx(flat_apart(card.apart), abs=1e-3, nan_ok=True)


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", SAMPLES)
def test_scores_fit_a_sample(name):
    card = CARDS[name]
    again, _ = recomputed(card, limit=500)
    stored = card.scores.sequence_accuracy
    assert abs(again.sequence_accuracy - stored) <= 4 * (stored * (1 - stored) / 500) ** 0.5 + 0.002
    # about 3,000 tokens, of which those of one word are not independent
    for found, expected in zip(flat(again), flat(card.scores), strict=True):
        if math.isnan(expected):  # a head that does not read the source
            assert math.isnan(found) and card.config.kv == "extra"
            continue
        assert abs(found - expected) <= 8 * (max(expected * (1 - expected), 0.002) / 3_000) ** 0.5


@pytest.mark.parametrize("name", CARDS)
def test_models_are_good_and_some_head_beats_the_diagonal(name):
    scores, config = CARDS[name].scores, CARDS[name].config
    tokens, sequences = {
        "spelling": (0.91, 0.59),
        "reverse": (0.99, 0.99),
        "dates": (0.99, 0.99),
        "pinyin": (0.93, 0.83),
    }[CARDS[name].task]
    assert scores.token_accuracy >= tokens
    assert scores.sequence_accuracy >= sequences
    best = max(score for layer in scores.alignment for score in layer if not math.isnan(score))
    if CARDS[name].task == "pinyin":  # one syllable for each character: nothing beats the diagonal
        assert scores.diagonal == 1.0
        assert best > 0.9
    elif max(config.encoder.num_heads, config.decoder.num_heads) <= 8:  # many share what few can do
        assert best > scores.diagonal


def test_other_heads_would_load_silently_and_answer_nonsense():
    """The danger that the stored head counts are there for: every shape fits."""
    card = CARDS["reverse-8x8-8x8"]
    weights = load_file(DIRECTORY / f"{card.name}.safetensors")
    wrong = EncoderDecoder(config("reverse", (8, 8), (16, 4)))
    wrong.load_state_dict({name: tensor.float() for name, tensor in weights.items()})  # strict, and no error
    task = get_task("reverse")
    assert evaluate(wrong, task, task.held_out(limit=200)).sequence_accuracy < card.scores.sequence_accuracy - 0.1


# Files that do not fit


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Two models that ship, in a folder of their own where they may be damaged."""
    for name in ("spelling-8x8-8x8", "reverse-8x8-8x8"):
        (tmp_path / f"{name}.safetensors").write_bytes((DIRECTORY / f"{name}.safetensors").read_bytes())
    write_index(tmp_path)
    monkeypatch.setattr("attention.checkpoints.DIRECTORY", tmp_path)
    forget_the_index()
    yield tmp_path
    forget_the_index()


def forget_the_index():
    checkpoints._index.cache_clear()
    shipped.cache_clear()


@pytest.mark.parametrize("damage", ["cut", "empty", "absent", "one bit"])
def test_a_damaged_file_is_told_by_the_models_name_and_breaks_no_other(elsewhere, damage):
    asked, path = config("spelling", (8, 8), (8, 8)), elsewhere / "spelling-8x8-8x8.safetensors"
    assert not is_damaged("spelling", asked)
    whole = path.read_bytes()
    if damage == "absent":
        path.unlink()
    else:
        flipped = bytes([whole[-1] ^ 1])
        path.write_bytes({"cut": whole[:-100], "empty": b"", "one bit": whole[:-1] + flipped}[damage])
    assert is_damaged("spelling", asked)
    assert is_damaged("spelling", replace(asked, dropout=0.1))
    assert find("spelling", asked) is not None
    with pytest.raises(CheckpointError, match="model spelling, 8 × 8 encoder heads and 8 × 8 decoder heads"):
        load("spelling", asked)
    others = config("reverse", (8, 8), (8, 8))
    assert not is_damaged("reverse", others) and load("reverse", others) is not None
    path.write_bytes(whole)
    assert not is_damaged("spelling", asked)


def test_swapped_weights_are_noticed(elsewhere):
    """In the file of 8 heads of 8 there are 16 heads of 4: same shapes everywhere."""
    other = config("spelling", (8, 8), (16, 4))
    card = replace(CARDS["spelling-8x8-8x8"], settings=replace(CARDS["spelling-8x8-8x8"].settings, config=other))
    save(EncoderDecoder(other), card, elsewhere)
    with pytest.raises(CheckpointError, match="16 decoder heads of size 4; 8 decoder heads of size 8"):
        load("spelling", config("spelling", (8, 8), (8, 8)))
    assert is_damaged("spelling", config("spelling", (8, 8), (8, 8)))


def test_a_file_that_is_not_what_the_index_says_is_noticed(elsewhere):
    """Weights made anew with an index of before: its scores would be said of other weights."""
    asked = config("spelling", (8, 8), (8, 8))
    model, card = load("spelling", asked)
    save(model, replace(card, apart=Apart(Accuracy(0.5, 0.5, 2), Accuracy(0.5, 0.5, 2))), elsewhere)
    with pytest.raises(CheckpointError, match="not what the index says"):
        load("spelling", asked)
    write_index(elsewhere)
    forget_the_index()
    assert load("spelling", asked)[1].apart.rest.num_examples == 2
    assert read_card(elsewhere / "spelling-8x8-8x8.safetensors").apart.rest.num_examples == 2
